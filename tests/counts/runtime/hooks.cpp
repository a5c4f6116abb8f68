// SPDX-License-Identifier: MIT
//
// What instrumented code calls: the interface between the compiler and ThreadSanitizer's runtime,
// of which this program links none.
#include <cstring>

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
void load(const volatile void* at, std::size_t bytes, int order) {
  count_poll(load_event(order));
  see(at, bytes, false);
}
void store(const volatile void* at, std::size_t bytes, int order) {
  count(store_event(order));
  see(at, bytes, true);
}
void modify(const volatile void* at, std::size_t bytes, int order) {
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

#define HANDOFF_FETCH(bits, T, name)                                           \
  T __tsan_atomic##bits##_fetch_##name(volatile T* at, T operand, int order) { \
    modify(at, sizeof(T), order);                                              \
    return __atomic_fetch_##name(at, operand, __ATOMIC_SEQ_CST);               \
  }

#define HANDOFF_ATOMIC(bits, T)                                                                  \
  T __tsan_atomic##bits##_load(const volatile T* at, int order) {                                \
    load(at, sizeof(T), order);                                                                  \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                \
  }                                                                                              \
  void __tsan_atomic##bits##_store(volatile T* at, T value, int order) {                         \
    store(at, sizeof(T), order);                                                                 \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                               \
  }                                                                                              \
  T __tsan_atomic##bits##_exchange(volatile T* at, T value, int order) {                         \
    modify(at, sizeof(T), order);                                                                \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                     \
  }                                                                                              \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* at, T expected, T desired, int order, \
                                               int) {                                            \
    modify(at, sizeof(T), order);                                                                \
    __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST,                 \
                                __ATOMIC_SEQ_CST);                                               \
    return expected;                                                                             \
  }                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* at, T* expected, T desired,      \
                                                    int order, int) {                            \
    modify(at, sizeof(T), order);                                                                \
    return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,           \
                                       __ATOMIC_SEQ_CST);                                        \
  }                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* at, T* expected, T desired,        \
                                                  int order, int) {                              \
    modify(at, sizeof(T), order);                                                                \
    return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,           \
                                       __ATOMIC_SEQ_CST);                                        \
  }                                                                                              \
  HANDOFF_FETCH(bits, T, add)                                                                    \
  HANDOFF_FETCH(bits, T, sub)                                                                    \
  HANDOFF_FETCH(bits, T, and)                                                                    \
  HANDOFF_FETCH(bits, T, or)                                                                     \
  HANDOFF_FETCH(bits, T, xor)                                                                    \
  HANDOFF_FETCH(bits, T, nand)

extern "C" {

void __tsan_init() {}

HANDOFF_PLAIN(1)
HANDOFF_PLAIN(2)
HANDOFF_PLAIN(4)
HANDOFF_PLAIN(8)
HANDOFF_PLAIN(16)

void __tsan_vptr_update(void** at, void* value) {
  if (*at != value) see(at, sizeof value, true);
}
void __tsan_vptr_read(void** at) { see(at, sizeof *at, false); }

void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  see(from, bytes, false);
  see(to, bytes, true);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  see(from, bytes, false);
  see(to, bytes, true);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  see(to, bytes, true);
  return std::memset(to, value, bytes);
}

HANDOFF_ATOMIC(8, unsigned char)
HANDOFF_ATOMIC(16, unsigned short)
HANDOFF_ATOMIC(32, unsigned)
HANDOFF_ATOMIC(64, unsigned long)

void __tsan_atomic_thread_fence(int order) { count(fence_event(order)); }
// It keeps the compiler from reordering and costs nothing.
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"
