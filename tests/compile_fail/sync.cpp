// SPDX-License-Identifier: MIT
//
// What may not be done with an atomic of sync/: anything without a written order.

#include <string>

#include <handoff/sync/detail/atomic.hpp>

namespace hs = handoff::sync;

int main() {
  hs::atomic<int> count{0};
  count.store(count.load(hs::order::relaxed), hs::order::relaxed);

#if defined(WRONG_operator)  // expect: operator\+\+|cannot increment
  ++count;
#endif
#if defined(WRONG_conversion)  // expect: cannot convert|no viable conversion
  int value = count;
#endif
#if defined(WRONG_no_order)  // expect: no matching|too few arguments
  count.load();
#endif
#if defined(WRONG_copy)  // expect: deleted
  hs::atomic<int> copy = count;
#endif
#if defined(WRONG_content)  // expect: is_trivially_copyable|trivially
  hs::atomic<std::string> text{""};
#endif
}
