// SPDX-License-Identifier: MIT
//
// Asking for the book of a structure, which must be at rest: no call of any thread is under way.
//
//   EXPECT_EQ(test::fault_in(queue), "");          // in a test
//   test::Audited<SegmentQueue<int>> queue;        // asked by itself at the end of the scope
//
// Books<S>::fault(s) returns the first thing that is wrong, in words, and "" if nothing is. The
// books are in the other files of this folder. They may allocate: no allocation is to fail then.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include <handoff/core/internal/books.hpp>
#include <handoff/queue/internal/ring_positions.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/relaxed.hpp>

namespace handoff::test {

// What an atomic has come to.
template <class Atomic>
auto now(const Atomic& atomic) noexcept {
  return atomic.load(sync::order::seq_cst);  // order: seq_cst, at rest; no partner
}
template <class T>
T now(const sync::relaxed<T>& word) noexcept {
  return word.get();
}
inline std::uint64_t now(const detail::RingPosition& position) noexcept { return position.own(); }

template <class Structure>
std::string fault_in(Structure& structure) {
  return detail::Books<std::remove_const_t<Structure>>::fault(structure);
}

// Says it as the program at hand does: a failed test, or a failed execution of the explorer. One
// definition each, in tests/support/main.cpp and explore/scenario.cpp.
void tell_of_fault(const std::string& fault);

template <class Structure>
void audit(Structure& structure) {
  if (const std::string fault = fault_in(structure); !fault.empty()) tell_of_fault(fault);
}

// The structure, and an audit before its end.
template <class Structure>
class Audited : public Structure {
 public:
  using Structure::Structure;
  ~Audited() noexcept(false) { audit<Structure>(*this); }
};

}  // namespace handoff::test
