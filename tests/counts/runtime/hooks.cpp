// SPDX-License-Identifier: MIT
//
// What instrumented code calls (support/tsan_calls.hpp).
#include "support/tsan_calls.hpp"

#include "baton.hpp"

namespace {

using namespace handoff::counts;

inline std::uintptr_t address(const volatile void* at) {
  return reinterpret_cast<std::uintptr_t>(at);
}
inline void see(const volatile void* at, std::size_t bytes, bool writes) {
  count_lines(address(at), bytes, writes);
}

Event load_event(int order) {
  if (order == __ATOMIC_RELAXED) return Event::load_relaxed;
  return order == __ATOMIC_SEQ_CST ? Event::load_seq_cst : Event::load_acquire;
}
Event store_event(int order) {
  if (order == __ATOMIC_RELAXED) return Event::store_relaxed;
  return order == __ATOMIC_SEQ_CST ? Event::store_seq_cst : Event::store_release;
}
Event rmw_event(int order) {
  switch (order) {
    case __ATOMIC_RELAXED: return Event::rmw_relaxed;
    case __ATOMIC_RELEASE: return Event::rmw_release;
    case __ATOMIC_ACQ_REL: return Event::rmw_acq_rel;
    case __ATOMIC_SEQ_CST: return Event::rmw_seq_cst;
    default: return Event::rmw_acquire;
  }
}
Event fence_event(int order) {
  switch (order) {
    case __ATOMIC_RELEASE: return Event::fence_release;
    case __ATOMIC_ACQ_REL: return Event::fence_acq_rel;
    case __ATOMIC_SEQ_CST: return Event::fence_seq_cst;
    default: return Event::fence_acquire;
  }
}

// Counted first: the turn may go to another thread, and the access happens in the next one.
void before_load(const volatile void* at, std::size_t bytes, int order) {
  count_poll(load_event(order));
  see(at, bytes, false);
}
void before_store(const volatile void* at, std::size_t bytes, int order) {
  count(store_event(order));
  see(at, bytes, true);
}
void before_modify(const volatile void* at, std::size_t bytes, int order) {
  count(rmw_event(order));
  see(at, bytes, true);
}

}  // namespace

#define HANDOFF_PLAIN(bytes)                                             \
  void __tsan_read##bytes(void* at) { see(at, bytes, false); }           \
  void __tsan_write##bytes(void* at) { see(at, bytes, true); }           \
  void __tsan_read_write##bytes(void* at) { see(at, bytes, true); }      \
  void __tsan_unaligned_read##bytes(void* at) { see(at, bytes, false); } \
  void __tsan_unaligned_write##bytes(void* at) { see(at, bytes, true); } \
  void __tsan_unaligned_read_write##bytes(void* at) { see(at, bytes, true); }

#define HANDOFF_READ(at, bytes) see(at, bytes, false)
#define HANDOFF_WRITE(at, bytes) see(at, bytes, true)

extern "C" {

HANDOFF_TSAN_CALLS

HANDOFF_PLAIN(1)
HANDOFF_PLAIN(2)
HANDOFF_PLAIN(4)
HANDOFF_PLAIN(8)
HANDOFF_PLAIN(16)

void __tsan_atomic_thread_fence(int order) { count(fence_event(order)); }

}  // extern "C"
