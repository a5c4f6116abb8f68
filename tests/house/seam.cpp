// SPDX-License-Identifier: MIT
//
// The hot functions of the rings, each alone in a function of the object file. seam_test.py
// compiles this twice, with the seam and with std::atomic in its place, and compares.
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/mpsc_ring.hpp>
#include <handoff/queue/spsc_ring.hpp>

using Item = unsigned long;
template <class Ring>
struct Hot {
  static bool push(Ring& ring, Item item) {
    return ring.try_push(static_cast<Item&&>(item)) == handoff::Status::ok;
  }
  static bool pop(Ring& ring, Item& out) { return ring.try_pop(out) == handoff::Status::ok; }
};

using Spsc = handoff::SpscRing<Item>;
using Mpsc = handoff::MpscRing<Item>;
using Mpmc = handoff::MpmcRing<Item>;

extern "C" {
bool spsc_push(Spsc& ring, Item item) { return Hot<Spsc>::push(ring, item); }
bool spsc_pop(Spsc& ring, Item& out) { return Hot<Spsc>::pop(ring, out); }
bool mpsc_push(Mpsc& ring, Item item) { return Hot<Mpsc>::push(ring, item); }
bool mpsc_pop(Mpsc& ring, Item& out) { return Hot<Mpsc>::pop(ring, out); }
bool mpmc_push(Mpmc& ring, Item item) { return Hot<Mpmc>::push(ring, item); }
bool mpmc_pop(Mpmc& ring, Item& out) { return Hot<Mpmc>::pop(ring, out); }

// Sizes as the length of a symbol.
extern const char spsc_size[sizeof(Spsc)];
extern const char mpsc_size[sizeof(Mpsc)];
extern const char mpmc_size[sizeof(Mpmc)];
const char spsc_size[sizeof(Spsc)] = {1};
const char mpsc_size[sizeof(Mpsc)] = {1};
const char mpmc_size[sizeof(Mpmc)] = {1};
}
