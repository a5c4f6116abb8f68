// SPDX-License-Identifier: MIT
//
// Blocks from one region, and lists of those that were given back; the operators new and delete.
#include "memory.hpp"

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "baton.hpp"

extern "C" void* __real_mmap(void*, std::size_t, int, int, int, off_t);

namespace handoff::counts {
namespace {

struct Block {  // the line before what its user has
  std::size_t bytes;
  Block* next;  // of those that were given back
};

constexpr std::uintptr_t kRegion = 0x2000'0000'0000;
constexpr std::size_t kRegionBytes = std::size_t{1} << 36;
constexpr std::size_t kLists = 1 << 16;  // by lines; the last one has all that are larger

std::uintptr_t unused = 0;
std::array<Block*, kLists> lists;

std::uintptr_t payload(const Block* block) noexcept {
  return reinterpret_cast<std::uintptr_t>(block) + line_bytes;
}

Block* take_again(std::size_t bytes, std::size_t alignment) noexcept {
  Block** link = &lists[bytes / line_bytes < kLists ? bytes / line_bytes : kLists - 1];
  for (; *link != nullptr; link = &(*link)->next) {
    Block* const block = *link;
    if (block->bytes != bytes || payload(block) % alignment != 0) continue;
    *link = block->next;
    return block;
  }
  return nullptr;
}

Block* take_new(std::size_t bytes, std::size_t alignment) noexcept {
  if (unused == 0) {
    void* const at = reinterpret_cast<void*>(kRegion);
    if (__real_mmap(at, kRegionBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != at) {
      std::abort();
    }
    unused = kRegion;
  }
  const std::uintptr_t at = (unused + line_bytes + alignment - 1) & ~(alignment - 1);
  if (at + bytes > kRegion + kRegionBytes) return nullptr;
  unused = at + bytes;
  Block* const block = reinterpret_cast<Block*>(at - line_bytes);
  block->bytes = bytes;
  return block;
}

void* get(std::size_t bytes, std::size_t alignment) noexcept {
  count(Event::allocations);
  count(Event::bytes, bytes);
  return get_block(bytes, alignment);
}

void* get_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const block = get(bytes, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

void* get_block(std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t whole = (bytes + line_bytes - 1 + (bytes == 0)) & ~(line_bytes - 1);
  if (alignment < line_bytes) alignment = line_bytes;
  Block* block = take_again(whole, alignment);
  if (block == nullptr) block = take_new(whole, alignment);
  return block == nullptr ? nullptr : reinterpret_cast<void*>(payload(block));
}

void give_block_back(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* const block =
      reinterpret_cast<Block*>(reinterpret_cast<std::uintptr_t>(memory) - line_bytes);
  const std::size_t lines = block->bytes / line_bytes;
  Block*& list = lists[lines < kLists ? lines : kLists - 1];
  block->next = list;
  list = block;
}

}  // namespace handoff::counts

using handoff::counts::get;
using handoff::counts::get_or_throw;
using handoff::counts::give_block_back;

constexpr std::size_t kUsual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

void* operator new(std::size_t bytes) { return get_or_throw(bytes, kUsual); }
void* operator new[](std::size_t bytes) { return get_or_throw(bytes, kUsual); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return get(bytes, kUsual); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return get(bytes, kUsual);
}
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
void operator delete(void* at) noexcept { give_block_back(at); }
void operator delete[](void* at) noexcept { give_block_back(at); }
void operator delete(void* at, std::size_t) noexcept { give_block_back(at); }
void operator delete[](void* at, std::size_t) noexcept { give_block_back(at); }
void operator delete(void* at, std::align_val_t) noexcept { give_block_back(at); }
void operator delete[](void* at, std::align_val_t) noexcept { give_block_back(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { give_block_back(at); }
void operator delete[](void* at, std::size_t, std::align_val_t) noexcept { give_block_back(at); }
