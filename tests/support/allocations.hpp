// SPDX-License-Identifier: MIT
//
// Counts what the code under test allocates, and makes the k-th allocation fail.
//
// Link the test with handoff_test_allocations: the linker then leads every operator new of the
// test and of the library here, beneath which a sanitizer's own still stands.
#pragma once

namespace handoff::test {

// Calls of operator new so far.
int allocations() noexcept;

// The allocation after the next `k` throws std::bad_alloc, once; negative: none does.
void fail_allocation_after(int k) noexcept;

}  // namespace handoff::test
