// SPDX-License-Identifier: MIT
//
// Memory that files can be read into and written from past the page cache, in huge pages where the
// system has them.
//
//   handoff::FileBuffer buffer(std::size_t{80} << 20);
//   fill(buffer.span());
//   files.write("a.bin", buffer.span(), {.durable = true, .direct = true}).get().check();
//
// For: direct requests (their memory must begin at a block), and large ones that come again. Not
//   for: small pieces; each buffer has whole pages of its own.
// Its bytes are zero at first. The memory is rounded up to whole pages (of 2 MiB from 2 MiB on), so
// a direct request may also use what is behind size(): see capacity().
// Concurrency: a value; movable. Blocks: no. Allocates: from the system, in the constructor; a page
//   is had when it is first touched.
// Exceptions: std::bad_alloc when the system refuses.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class FileBuffer {
 public:
  FileBuffer() noexcept = default;  // of no bytes
  // Holds zeroes, at an address that direct requests take. Throws std::bad_alloc.
  explicit FileBuffer(std::size_t bytes);
  FileBuffer(FileBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  FileBuffer& operator=(FileBuffer other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  FileBuffer(const FileBuffer&) = delete;
  ~FileBuffer();

  // Its memory.
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  // In bytes, as it was asked for.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // All of it.
  [[nodiscard]] std::span<std::byte> span() const noexcept { return {data_, size_}; }
  // How many bytes there are in its pages.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}}  // namespace handoff::HANDOFF_ABI
