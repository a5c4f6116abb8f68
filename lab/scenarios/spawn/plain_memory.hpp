// SPDX-License-Identifier: MIT
// Shared memory by the bare calls, whatever its descriptor is of.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/spawn/mapping.hpp"

namespace handoff::lab::spawn {

// Gives new memory its size and its first word. Throws std::runtime_error.
inline void fill(int file) {
  if (file < 0 || ftruncate(file, kMemoryBytes) != 0 ||
      pwrite(file, &kFirstWord, sizeof kFirstWord, 0) != sizeof kFirstWord) {
    throw std::runtime_error("no shared memory");
  }
}

// Asks for its size, maps all of it and lets go of the mapping. Throws std::runtime_error.
inline std::uint64_t first_word_of(int file) {
  struct stat status{};
  if (fstat(file, &status) != 0) throw std::runtime_error("it has no size");
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (place == MAP_FAILED) throw std::runtime_error("it cannot be mapped");
  std::uint64_t word = 0;
  std::memcpy(&word, place, sizeof word);
  munmap(place, bytes);
  return word;
}

}  // namespace handoff::lab::spawn
