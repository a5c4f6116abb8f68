// SPDX-License-Identifier: MIT
//
// Memory for direct IO from the system. From 2 MiB on it begins at a huge page and the kernel is
// asked to back it by huge pages; a page of 2 MiB is pinned in one step where 512 small ones take
// 512 (docs/adr/0021-files.md).
#include <handoff/file/file_buffer.hpp>

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

void* map(std::size_t bytes) noexcept {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// `bytes`, whole huge pages, at the beginning of one.
void* map_huge(std::size_t bytes) noexcept {
  if (bytes + kHugePage < bytes) return nullptr;
  auto* const wide = static_cast<std::byte*>(map(bytes + kHugePage));
  if (wide == nullptr) return nullptr;
  const std::size_t before = (0 - reinterpret_cast<std::uintptr_t>(wide)) & (kHugePage - 1);
  if (before != 0) ::munmap(wide, before);
  ::munmap(wide + before + bytes, kHugePage - before);
  // Where it refuses, the pages are small.
  ::madvise(wide + before, bytes, MADV_HUGEPAGE);
  return wide + before;
}

}  // namespace

FileBuffer::FileBuffer(std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t page = bytes < kHugePage ? kPage : kHugePage;
  const std::size_t whole = (bytes + page - 1) & ~(page - 1);
  if (whole < bytes) throw std::bad_alloc();
  void* const memory = page == kPage ? map(whole) : map_huge(whole);
  if (memory == nullptr) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(memory);
  size_ = bytes;
  capacity_ = whole;
}

FileBuffer::~FileBuffer() {
  if (data_ != nullptr) ::munmap(data_, capacity_);
}

}}  // namespace handoff::HANDOFF_ABI
