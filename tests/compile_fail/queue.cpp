// SPDX-License-Identifier: MIT
//
// What may not be put into a ring, and what may not be overlooked.

#include <memory>
#include <string>

#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/segment_queue.hpp>
#include <handoff/queue/spsc_ring.hpp>
#include <handoff/queue/steal_deque.hpp>

struct ThrowingMove {
  ThrowingMove() = default;
  ThrowingMove(ThrowingMove&&) noexcept(false) {}
};

struct ThrowingAssignment {
  ThrowingAssignment() = default;
  ThrowingAssignment(ThrowingAssignment&&) noexcept = default;
  ThrowingAssignment& operator=(ThrowingAssignment&&) noexcept(false) { return *this; }
};

struct ThrowingEnd {
  ThrowingEnd() = default;
  ThrowingEnd(ThrowingEnd&&) noexcept {}
  ~ThrowingEnd() noexcept(false) {}
};

int main() {
  handoff::SpscRing<std::unique_ptr<int>> ring(4);
  handoff::MpmcRing<int> shared(4);
  if (ring.try_push(nullptr) != shared.try_push(1)) return 1;

#if defined(WRONG_reference)  // expect: holds values
  handoff::SpscRing<int&> references(4);
#endif
#if defined(WRONG_throwing_destructor)  // expect: whose destructors do not throw
  handoff::SpscRing<ThrowingEnd> endings(4);
#endif
#if defined(WRONG_throwing_move)  // expect: must move without throwing
  handoff::MpmcRing<ThrowingMove> throwing(4);
#endif
#if defined(WRONG_throwing_assignment)  // expect: could get lost here
  handoff::MpmcRing<ThrowingAssignment> lossy(4);
  ThrowingAssignment out;
  if (lossy.try_pop(out) != handoff::Status::ok) return 1;
#endif
#if defined(WRONG_copy)  // expect: deleted
  handoff::MpmcRing<int> copy = shared;
#endif
#if defined(WRONG_throwing_move_in_segments)  // expect: must move without throwing
  handoff::SegmentQueue<ThrowingMove> throwing_segments;
#endif
#if defined(WRONG_bound_of_what_has_none)  // expect: no matching
  handoff::SegmentQueue<int> bounded(64);
#endif
#if defined(WRONG_large_items_to_steal)  // expect: deque
  handoff::StealDeque<std::string> strings;
#endif
#if defined(WRONG_refusal_nobody_looks_at)  // expect: says whether the call did what it should
  shared.try_push(2);
#endif
}
