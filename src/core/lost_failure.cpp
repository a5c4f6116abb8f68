// SPDX-License-Identifier: MIT
//
// The handler of lost failures.
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <handoff/core/lost_failure.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

// By one call, so that the lines of several threads stay lines.
void say(const char* what) noexcept {
  const auto part = [](const char* text) noexcept {
    return iovec{.iov_base = const_cast<char*>(text), .iov_len = std::strlen(text)};
  };
  const std::array<iovec, 3> line{part("handoff: "), part(what), part("\n")};
  [[maybe_unused]] const auto written = ::writev(STDERR_FILENO, line.data(), line.size());
}

constinit sync::atomic<LostFailureHandler> failure_handler{nullptr};

}  // namespace

LostFailureHandler set_lost_failure_handler(LostFailureHandler handler) noexcept {
  // order: release pairs with the acquire in lost_failure(): what the handler needs is visible.
  return failure_handler.exchange(handler, sync::order::release);
}

void lost_failure(const char* what) noexcept {
  // order: acquire pairs with the exchange in set_lost_failure_handler().
  const LostFailureHandler handler = failure_handler.load(sync::order::acquire);
  (handler != nullptr ? handler : &say)(what);
}

}}  // namespace handoff::HANDOFF_ABI
