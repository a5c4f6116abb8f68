// SPDX-License-Identifier: MIT
//
// What instrumented code calls (tests/support/tsan_calls.hpp), and the operators new and delete of
// a program that explores.
//
// Compiled only where what is explored is instrumented (CMakeLists.txt). Outside a scenario's own
// code all of this does what it would do without.
#include <cstdlib>
#include <new>

#include <tests/support/tsan_calls.hpp>

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
void before_load(const volatile void*, std::size_t, int) { pass_foreign_atomic(); }
void before_store(const volatile void*, std::size_t, int) { pass_foreign_atomic(); }
void before_modify(const volatile void*, std::size_t, int) { pass_foreign_atomic(); }

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

#define HANDOFF_READ(at, bytes) see_read(at, bytes, HANDOFF_HERE)
#define HANDOFF_WRITE(at, bytes) see_write(at, bytes, HANDOFF_HERE)

extern "C" {

HANDOFF_TSAN_CALLS

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

void __tsan_atomic_thread_fence(int) { pass_foreign_atomic(); }

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
