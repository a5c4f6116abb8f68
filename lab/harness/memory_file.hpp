// SPDX-License-Identifier: MIT
// Memory with a descriptor, which a contender inherits: the input it reads, the answer it writes.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

class MemoryFile {
 public:
  // `bytes` zeros (one, where none are asked for: an empty file cannot be mapped).
  MemoryFile(const char* name, std::size_t bytes);
  ~MemoryFile();
  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

  // From here on nobody can write it, this process included: one contender cannot damage what
  // another one reads.
  void seal();

 private:
  int descriptor_ = -1;
  std::span<std::byte> bytes_;
};

}  // namespace handoff::lab
