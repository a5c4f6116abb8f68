// SPDX-License-Identifier: MIT
#include <handoff/memory/internal/thread_id.hpp>
#include <handoff/sync/internal/relaxed.hpp>
#include <handoff/sync/internal/thread_object.hpp>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {
HANDOFF_THREAD_SLOT_PLACE(std::uint64_t, handoff::detail::LoneThread);
}}}  // namespace handoff::HANDOFF_ABI::sync

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

namespace {

constinit sync::relaxed<std::uint64_t> numbers;

struct Here;
bool& is_over() noexcept { return sync::thread_slot<bool, Here>::get(); }

}  // namespace

std::array<LoneThread::Living, LoneThread::kMost> LoneThread::living_{};

bool LoneThread::enroll() noexcept {
  if (number() != 0) return true;
  if (is_over()) return false;
  const std::uint64_t first = (numbers.add(1) + 1) * kMost;
  // equivalent(bound): which free place is taken is said to nobody
  for (std::size_t place = 0; place < kMost; ++place) {
    std::uint64_t nobody = 0;
    // order: acquire pairs with the release below, so that it is handed on.
    if (living_[place].number.compare_exchange_strong(nobody, first + place, sync::order::acquire,
                                                      sync::order::relaxed)) {
      sync::tell_taken(&living_[place]);
      // equivalent(swap): the thread's own number, for which nobody asks in between
      number() = first + place;
      (void)sync::thread_object<LoneThread, Here>::get();  // for its end
      return true;
    }
  }
  return false;
}

LoneThread::~LoneThread() {
  sync::tell_given(&living_[place()]);
  // order: release pairs with the acquires in ended() and enroll().
  living_[number() % kMost].number.store(0, sync::order::release);
  number() = 0;  // equivalent(swap): both of this thread alone
  is_over() = true;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
