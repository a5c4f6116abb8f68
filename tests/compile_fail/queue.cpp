// SPDX-License-Identifier: MIT
//
// What may not be put into a ring, and what may not be overlooked.

#include <memory>

#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/spsc_ring.hpp>

struct ThrowingMove {
  ThrowingMove() = default;
  ThrowingMove(ThrowingMove&&) noexcept(false) {}
};

int main() {
  handoff::SpscRing<std::unique_ptr<int>> ring(4);
  handoff::MpmcRing<int> shared(4);
  if (ring.try_push(nullptr) != shared.try_push(1)) return 1;

#if defined(WRONG_reference)  // expect: holds values
  handoff::SpscRing<int&> references(4);
#endif
#if defined(WRONG_throwing_move)  // expect: must move without throwing
  handoff::MpmcRing<ThrowingMove> throwing(4);
#endif
#if defined(WRONG_copy)  // expect: deleted
  handoff::MpmcRing<int> copy = shared;
#endif
#if defined(WRONG_refusal_nobody_looks_at)  // expect: nodiscard
  shared.try_push(2);
#endif
}
