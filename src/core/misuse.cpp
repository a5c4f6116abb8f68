// SPDX-License-Identifier: MIT
//
// The misuse handler.
#include <exception>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

constinit sync::atomic<MisuseHandler> handler_now{nullptr};

}  // namespace

MisuseHandler set_misuse_handler(MisuseHandler handler) noexcept {
  // order: release pairs with the acquire in misuse(): what the handler needs is visible to it.
  return handler_now.exchange(handler, sync::order::release);
}

void misuse(const char* what) {
  // order: acquire pairs with the exchange in set_misuse_handler().
  if (const MisuseHandler handler = handler_now.load(sync::order::acquire)) handler(what);
#if defined(__cpp_exceptions)
  throw Misuse(what);
#else
  // terminate: without exceptions there is no other way not to return into the misuse.
  std::terminate();
#endif
}

}}  // namespace handoff::HANDOFF_ABI
