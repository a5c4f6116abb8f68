// SPDX-License-Identifier: MIT
//
// What instrumented code calls: the interface between the compilers and ThreadSanitizer's runtime,
// of which the explorer links none, and the operators new and delete of a program that explores.
//
// Compiled only where what is explored is instrumented (CMakeLists.txt). Outside a scenario's own
// code all of this does what it would do without.
#include <cstdlib>
#include <cstring>
#include <new>

#include "engine.hpp"
#include "sight.hpp"

namespace {

using namespace handoff;
using explore::sight;

inline void see_read(const void* at, std::size_t bytes, const void* code) {
  if (sight.on()) sight.see<false>(at, bytes, code);
}
inline void see_write(const void* at, std::size_t bytes, const void* code) {
  if (sight.on()) sight.see<true>(at, bytes, code);
}
// Of at most eight bytes that lie in one granule.
template <bool kWrite>
inline void see_aligned(const void* at, unsigned bytes, const void* code) {
  if (sight.on()) sight.see_bytes<kWrite>(reinterpret_cast<std::uintptr_t>(at), bytes, code);
}

bool allocation_fails() {
  const explore::Unseen unseen;
  return explore::Engine::instance().allocation_fails();
}

void* get(std::size_t bytes, std::size_t alignment) noexcept {
  if (sight.on()) {
    if (allocation_fails()) return nullptr;
    if (void* const memory = sight.allocate(bytes, alignment)) return memory;
  }
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return std::malloc(bytes == 0 ? 1 : bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
}

void* get_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = get(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void give_back(void* memory, const void* code) noexcept {
  if (memory == nullptr) return;
  if (!sight.owns(memory)) return std::free(memory);
  const explore::Unseen unseen;
  if (sight.deallocate(memory, code)) return;
  explore::Engine::instance().fail(explore::Fault::double_free,
                                   "memory is given back that is not in use");
}

// Atomics that are not the library's, such as the guard of a static variable or the count of a
// shared_ptr: they work as they are, and order more than they would.
void pass_foreign_atomic() {
  if (!sight.on()) return;
  const explore::Unseen unseen;
  explore::Engine::instance().foreign_atomic();
}

}  // namespace

#define HANDOFF_HERE __builtin_return_address(0)
#define HANDOFF_ALIGNED(bytes)                                                                \
  void __tsan_read##bytes(void* at) { see_aligned<false>(at, bytes, HANDOFF_HERE); }          \
  void __tsan_write##bytes(void* at) { see_aligned<true>(at, bytes, HANDOFF_HERE); }          \
  void __tsan_read_write##bytes(void* at) { see_aligned<true>(at, bytes, HANDOFF_HERE); }     \
  void __tsan_volatile_read##bytes(void* at) { see_aligned<false>(at, bytes, HANDOFF_HERE); } \
  void __tsan_volatile_write##bytes(void* at) { see_aligned<true>(at, bytes, HANDOFF_HERE); }

#define HANDOFF_UNALIGNED(bytes)                                                       \
  void __tsan_unaligned_read##bytes(void* at) { see_read(at, bytes, HANDOFF_HERE); }   \
  void __tsan_unaligned_write##bytes(void* at) { see_write(at, bytes, HANDOFF_HERE); } \
  void __tsan_unaligned_read_write##bytes(void* at) { see_write(at, bytes, HANDOFF_HERE); }

#define HANDOFF_FETCH(bits, T, name)                                     \
  T __tsan_atomic##bits##_fetch_##name(volatile T* at, T operand, int) { \
    pass_foreign_atomic();                                               \
    return __atomic_fetch_##name(at, operand, __ATOMIC_SEQ_CST);         \
  }

#define HANDOFF_ATOMIC(bits, T)                                                                   \
  T __tsan_atomic##bits##_load(const volatile T* at, int) {                                       \
    pass_foreign_atomic();                                                                        \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                               \
  void __tsan_atomic##bits##_store(volatile T* at, T value, int) {                                \
    pass_foreign_atomic();                                                                        \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                \
  }                                                                                               \
  T __tsan_atomic##bits##_exchange(volatile T* at, T value, int) {                                \
    pass_foreign_atomic();                                                                        \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                      \
  }                                                                                               \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* at, T expected, T desired, int, int) { \
    pass_foreign_atomic();                                                                        \
    __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST,                  \
                                __ATOMIC_SEQ_CST);                                                \
    return expected;                                                                              \
  }                                                                                               \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* at, T* expected, T desired, int,  \
                                                    int) {                                        \
    pass_foreign_atomic();                                                                        \
    return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,            \
                                       __ATOMIC_SEQ_CST);                                         \
  }                                                                                               \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* at, T* expected, T desired, int,    \
                                                  int) {                                          \
    pass_foreign_atomic();                                                                        \
    return __atomic_compare_exchange_n(at, expected, desired, false, __ATOMIC_SEQ_CST,            \
                                       __ATOMIC_SEQ_CST);                                         \
  }                                                                                               \
  HANDOFF_FETCH(bits, T, add)                                                                     \
  HANDOFF_FETCH(bits, T, sub)                                                                     \
  HANDOFF_FETCH(bits, T, and)                                                                     \
  HANDOFF_FETCH(bits, T, or)                                                                      \
  HANDOFF_FETCH(bits, T, xor)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

HANDOFF_ALIGNED(1)
HANDOFF_ALIGNED(2)
HANDOFF_ALIGNED(4)
HANDOFF_ALIGNED(8)
HANDOFF_UNALIGNED(2)
HANDOFF_UNALIGNED(4)
HANDOFF_UNALIGNED(8)
HANDOFF_UNALIGNED(16)

void __tsan_read16(void* at) { see_read(at, 16, HANDOFF_HERE); }
void __tsan_write16(void* at) { see_write(at, 16, HANDOFF_HERE); }
void __tsan_read_write16(void* at) { see_write(at, 16, HANDOFF_HERE); }
void __tsan_volatile_read16(void* at) { see_read(at, 16, HANDOFF_HERE); }
void __tsan_volatile_write16(void* at) { see_write(at, 16, HANDOFF_HERE); }

void __tsan_read_range(void* at, std::size_t bytes) { see_read(at, bytes, HANDOFF_HERE); }
void __tsan_write_range(void* at, std::size_t bytes) { see_write(at, bytes, HANDOFF_HERE); }

// A destructor of a base stores the same pointer again where it is not overridden.
void __tsan_vptr_update(void** at, void* value) {
  if (*at != value) see_write(at, sizeof value, HANDOFF_HERE);
}
void __tsan_vptr_read(void** at) { see_read(at, sizeof *at, HANDOFF_HERE); }

void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  see_read(from, bytes, HANDOFF_HERE);
  see_write(to, bytes, HANDOFF_HERE);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  see_read(from, bytes, HANDOFF_HERE);
  see_write(to, bytes, HANDOFF_HERE);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  see_write(to, bytes, HANDOFF_HERE);
  return std::memset(to, value, bytes);
}

HANDOFF_ATOMIC(8, unsigned char)
HANDOFF_ATOMIC(16, unsigned short)
HANDOFF_ATOMIC(32, unsigned)
HANDOFF_ATOMIC(64, unsigned long)

void __tsan_atomic_thread_fence(int) { pass_foreign_atomic(); }
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"

void* operator new(std::size_t bytes) { return get_or_throw(bytes, 16); }
void* operator new[](std::size_t bytes) { return get_or_throw(bytes, 16); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return get(bytes, 16); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return get(bytes, 16); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return get_or_throw(bytes, std::size_t(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return get_or_throw(bytes, std::size_t(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return get(bytes, std::size_t(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment,
                     const std::nothrow_t&) noexcept {
  return get(bytes, std::size_t(alignment));
}
void operator delete(void* at) noexcept { give_back(at, HANDOFF_HERE); }
void operator delete[](void* at) noexcept { give_back(at, HANDOFF_HERE); }
void operator delete(void* at, std::size_t) noexcept { give_back(at, HANDOFF_HERE); }
void operator delete[](void* at, std::size_t) noexcept { give_back(at, HANDOFF_HERE); }
void operator delete(void* at, std::align_val_t) noexcept { give_back(at, HANDOFF_HERE); }
void operator delete[](void* at, std::align_val_t) noexcept { give_back(at, HANDOFF_HERE); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
  give_back(at, HANDOFF_HERE);
}
void operator delete[](void* at, std::size_t, std::align_val_t) noexcept {
  give_back(at, HANDOFF_HERE);
}
