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

  // wrong: holds values
  // handoff::SpscRing<int&> references(4);
  // wrong: whose destructors do not throw
  // handoff::SpscRing<ThrowingEnd> endings(4);
  // wrong: must move without throwing
  // handoff::MpmcRing<ThrowingMove> throwing(4);
  // wrong: could get lost here
  // handoff::MpmcRing<ThrowingAssignment> lossy(4);
  // ThrowingAssignment out;
  // if (lossy.try_pop(out) != handoff::Status::ok) return 1;
  // wrong: deleted
  // handoff::MpmcRing<int> copy = shared;
  // wrong: must move without throwing
  // handoff::SegmentQueue<ThrowingMove> throwing_segments;
  // wrong: (could not|no viable) conver
  // handoff::SegmentQueue<int> bounded(64);
  // wrong: deque
  // handoff::StealDeque<std::string> strings;
  // wrong: says whether the call did what it should
  // shared.try_push(2);
}
