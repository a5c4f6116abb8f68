// SPDX-License-Identifier: MIT
// This library's shared memory in `attach`: made, and looked at.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include <handoff/process/shared_memory.hpp>

#include "scenarios/spawn/mapping.hpp"

namespace handoff::lab::spawn {

// Without a name if that is empty.
inline SharedMemory made(const std::string& name) {
  SharedMemory memory =
      SharedMemory::create({.name = name, .bytes = kMemoryBytes, .layout = kFirstWord});
  std::memcpy(memory.bytes().data(), &kFirstWord, sizeof kFirstWord);
  memory.publish();
  return memory;
}

inline std::uint64_t first_word_of(const SharedMemory& memory) {
  std::uint64_t word = 0;
  std::memcpy(&word, memory.bytes().data(), sizeof word);
  return word;
}

}  // namespace handoff::lab::spawn
