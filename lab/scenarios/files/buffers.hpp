// SPDX-License-Identifier: MIT
// Memory that is read into and written from: on large pages where there are some, which is what
// direct IO is fast with.
#pragma once

#include <cstddef>
#include <new>
#include <span>

#include <sys/mman.h>

#include "scenarios/files/workload.hpp"

namespace handoff::lab::files {

class Buffers {
 public:
  Buffers(std::size_t count, std::size_t block) : block_(block), count_(count) {
    constexpr std::size_t large = std::size_t{2} << 20;
    bytes_ = (count * block + large - 1) / large * large;
    mapped_ = bytes_ + large;
    void* const all =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    all_ = static_cast<std::byte*>(all);
    const auto address = reinterpret_cast<std::size_t>(all_);
    first_ = all_ + (large - address % large) % large;
    madvise(first_, bytes_, MADV_HUGEPAGE);
    fill({first_, bytes_}, reinterpret_cast<std::size_t>(this));
  }
  ~Buffers() { munmap(all_, mapped_); }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t block() const { return block_; }
  [[nodiscard]] std::span<std::byte> operator[](std::size_t number) const {
    return {first_ + number * block_, block_};
  }

 private:
  std::size_t block_;
  std::size_t count_;
  std::size_t bytes_ = 0;
  std::size_t mapped_ = 0;
  std::byte* all_ = nullptr;
  std::byte* first_ = nullptr;
};

}  // namespace handoff::lab::files
