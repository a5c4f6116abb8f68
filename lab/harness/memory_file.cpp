// SPDX-License-Identifier: MIT
#include "harness/memory_file.hpp"

namespace handoff::lab {
namespace {

[[noreturn]] void fail(const char* doing) {
  throw std::system_error(errno, std::generic_category(), doing);
}

std::span<std::byte> map(int descriptor, std::size_t bytes, int protection, int sharing) {
  void* memory = mmap(nullptr, bytes, protection, sharing, descriptor, 0);
  if (memory == MAP_FAILED) fail("mapping memory for a problem");
  return {static_cast<std::byte*>(memory), bytes};
}

}  // namespace

MemoryFile::MemoryFile(const char* name, std::size_t bytes)
    : descriptor_(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (descriptor_ < 0) fail("making memory for a problem");
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) fail("sizing memory for a problem");
  bytes_ = map(descriptor_, size, PROT_READ | PROT_WRITE, MAP_SHARED);
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), bytes_(std::exchange(other.bytes_, {})) {}

MemoryFile::~MemoryFile() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
  if (descriptor_ >= 0) close(descriptor_);
}

void MemoryFile::seal() {
  const std::size_t size = bytes_.size();
  munmap(bytes_.data(), size);  // the kernel refuses the seal while a writable mapping exists
  bytes_ = {};
  if (fcntl(descriptor_, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    fail("sealing a problem's input");
  }
  bytes_ = map(descriptor_, size, PROT_READ, MAP_PRIVATE);
}

}  // namespace handoff::lab
