// SPDX-License-Identifier: MIT
//
// What may not be done with an atomic of sync/: anything without a written order.

#include <string>

#include <handoff/sync/internal/atomic.hpp>

namespace hs = handoff::sync;

int main() {
  hs::atomic<int> count{0};
  count.store(count.load(hs::order::relaxed), hs::order::relaxed);

  // wrong: operator\+\+|cannot increment
  // ++count;
  // wrong: cannot convert|no viable conversion
  // int value = count;
  // wrong: no matching|too few arguments
  // count.load();
  // wrong: deleted
  // hs::atomic<int> copy = count;
  // wrong: is_trivially_copyable|trivially
  // hs::atomic<std::string> text{""};
}
