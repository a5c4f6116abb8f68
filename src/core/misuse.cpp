// SPDX-License-Identifier: MIT
//
// The misuse handler, and programs in which nothing is thrown.
#include <exception>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/internal/atomic.hpp>

#include "../sync/internal/joined.hpp"
#include "../sync/internal/seen_sanitizer.hpp"
#include "internal/failure_text.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

constinit sync::atomic<MisuseHandler> handler_now{nullptr};
constinit sync::atomic<bool> throws_nothing{false};

}  // namespace

MisuseHandler set_misuse_handler(MisuseHandler handler) noexcept {
  sync::tell_given(&handler_now);
  // order: release pairs with the acquire in misuse(): what the handler needs is visible to it.
  return handler_now.exchange(handler, sync::order::release);
}

void misuse(const char* what) {
  // order: acquire pairs with the exchange in set_misuse_handler().
  const MisuseHandler handler = handler_now.load(sync::order::acquire);
  sync::tell_taken(&handler_now);
  if (handler != nullptr) handler(what);
  // terminate: without exceptions there is no other way not to return into the misuse.
  if (detail::nothing_is_thrown()) std::terminate();
  throw Misuse(what);
}

namespace detail {

bool nothing_is_thrown() noexcept {
  // order: relaxed, set before main() begins, or by the thread that loads such a unit.
  return throws_nothing.load(sync::order::relaxed);
}

bool throw_nothing() noexcept {
  throws_nothing.store(true, sync::order::relaxed);  // order: relaxed, see above
  return true;
}

std::exception_ptr caught_failure() noexcept {
  if (nothing_is_thrown()) {
    keep_failure_text([](const char* text) {
      misuse(sync::joined({"an exception came to code that is compiled without them: ", text})
                 .c_str());
    });
  }
  return std::current_exception();
}

}  // namespace detail

}}  // namespace handoff::HANDOFF_ABI
