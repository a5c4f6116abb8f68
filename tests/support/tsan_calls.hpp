// SPDX-License-Identifier: MIT
//
// What instrumented code calls, as far as the explorer and the counts answer alike: the interface
// between the compilers and ThreadSanitizer's runtime, of which they link none. HANDOFF_TSAN_CALLS
// stands in extern "C", and uses
//
//   before_load(at, bytes, order)      of an atomic, and so before_store() and before_modify()
//   HANDOFF_READ(at, bytes)            of plain data, and so HANDOFF_WRITE()
#pragma once

#include <cstddef>
#include <cstring>

#define HANDOFF_FETCH(bits, T, name)                                           \
  T __tsan_atomic##bits##_fetch_##name(volatile T* at, T operand, int order) { \
    before_modify(at, sizeof(T), order);                                       \
    return __atomic_fetch_##name(at, operand, __ATOMIC_SEQ_CST);               \
  }

#define HANDOFF_ATOMIC(bits, T)                                                                  \
  T __tsan_atomic##bits##_load(const volatile T* at, int order) {                                \
    before_load(at, sizeof(T), order);                                                           \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                \
  }                                                                                              \
  void __tsan_atomic##bits##_store(volatile T* at, T value, int order) {                         \
    before_store(at, sizeof(T), order);                                                          \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                               \
  }                                                                                              \
  T __tsan_atomic##bits##_exchange(volatile T* at, T value, int order) {                         \
    before_modify(at, sizeof(T), order);                                                         \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                     \
  }                                                                                              \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* at, T expected, T desired, int order, \
                                               int) {                                            \
    before_modify(at, sizeof(T), order);                                                         \
    __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST,                 \
                                __ATOMIC_SEQ_CST);                                               \
    return expected;                                                                             \
  }                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* at, T* expected, T desired,      \
                                                    int order, int) {                            \
    before_modify(at, sizeof(T), order);                                                         \
    return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,           \
                                       __ATOMIC_SEQ_CST);                                        \
  }                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* at, T* expected, T desired,        \
                                                  int order, int) {                              \
    before_modify(at, sizeof(T), order);                                                         \
    return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,           \
                                       __ATOMIC_SEQ_CST);                                        \
  }                                                                                              \
  HANDOFF_FETCH(bits, T, add)                                                                    \
  HANDOFF_FETCH(bits, T, sub)                                                                    \
  HANDOFF_FETCH(bits, T, and)                                                                    \
  HANDOFF_FETCH(bits, T, or)                                                                     \
  HANDOFF_FETCH(bits, T, xor)                                                                    \
  HANDOFF_FETCH(bits, T, nand)

#define HANDOFF_TSAN_CALLS                                              \
  void __tsan_init() {}                                                 \
  /* A destructor of a base stores the same pointer again. */           \
  void __tsan_vptr_update(void** at, void* value) {                     \
    if (*at != value) HANDOFF_WRITE(at, sizeof value);                  \
  }                                                                     \
  void __tsan_vptr_read(void** at) { HANDOFF_READ(at, sizeof *at); }    \
  void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {  \
    HANDOFF_READ(from, bytes);                                          \
    HANDOFF_WRITE(to, bytes);                                           \
    return std::memcpy(to, from, bytes);                                \
  }                                                                     \
  void* __tsan_memmove(void* to, const void* from, std::size_t bytes) { \
    HANDOFF_READ(from, bytes);                                          \
    HANDOFF_WRITE(to, bytes);                                           \
    return std::memmove(to, from, bytes);                               \
  }                                                                     \
  void* __tsan_memset(void* to, int value, std::size_t bytes) {         \
    HANDOFF_WRITE(to, bytes);                                           \
    return std::memset(to, value, bytes);                               \
  }                                                                     \
  HANDOFF_ATOMIC(8, unsigned char)                                      \
  HANDOFF_ATOMIC(16, unsigned short)                                    \
  HANDOFF_ATOMIC(32, unsigned)                                          \
  HANDOFF_ATOMIC(64, unsigned long)                                     \
  /* It keeps the compiler from reordering and costs nothing. */        \
  void __tsan_atomic_signal_fence(int) {}
