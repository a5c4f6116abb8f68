// SPDX-License-Identifier: MIT
//
// Stands between the callers of operator new and the real one (linker option --wrap).
#include "support/allocations.hpp"

#include <atomic>
#include <cstddef>
#include <new>

namespace handoff::test {
namespace {

std::atomic<int> count{0};
std::atomic<int> until_failure{-1};

void pass() {
  count.fetch_add(1);
  if (until_failure >= 0 && until_failure.fetch_sub(1) == 0) throw std::bad_alloc();
}

}  // namespace

int allocations() noexcept { return count; }
void fail_allocation_after(int k) noexcept { until_failure = k; }

}  // namespace handoff::test

// The names are the mangled ones of operator new(size_t) and operator new(size_t, align_val_t).
extern "C" void* __real__Znwm(std::size_t);
extern "C" void* __wrap__Znwm(std::size_t bytes) {
  handoff::test::pass();
  return __real__Znwm(bytes);
}
extern "C" void* __real__ZnwmSt11align_val_t(std::size_t, std::align_val_t);
extern "C" void* __wrap__ZnwmSt11align_val_t(std::size_t bytes, std::align_val_t alignment) {
  handoff::test::pass();
  return __real__ZnwmSt11align_val_t(bytes, alignment);
}
