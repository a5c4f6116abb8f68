// SPDX-License-Identifier: MIT
//
// Which book of waits the process has.
#include <handoff/core/detail/wait_book.hpp>
#include <handoff/sync/detail/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constinit sync::atomic<WaitBook*> book_kept{nullptr};

}  // namespace

void WaitBook::keep(WaitBook& book) noexcept {
  // order: relaxed, the book is there from the start; a thread that asks for it heard of it from a
  // host that watches, or by the bit kWatched.
  book_kept.store(&book, sync::order::relaxed);
}

WaitBook& WaitBook::kept() noexcept {
  return *book_kept.load(sync::order::relaxed);  // order: relaxed, see keep()
}

}}}  // namespace handoff::HANDOFF_ABI::detail
