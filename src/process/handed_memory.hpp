// SPDX-License-Identifier: MIT
//
// Shared memory that a worker gets while it works: its master has it, and it asks for it the first
// time that a span needs it.
//
// All workers of a team have one end of one socket. A worker that asks makes a pair of its own and
// sends one end of it with the key; the answer comes there. So no answer can reach another worker,
// and of a worker that dies in between nothing is left.
//
//   HM-1  Memory that was handed over stays mapped while a block is worked at: what is unused is
//         forgotten between runs only.
//   HM-2  The run, or the job, orders what the master wrote before what a worker reads: so memory
//         need not be published to be handed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>

#include "../sync/internal/descriptor.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// ---- All memory of this process (shared_memory.cpp)

// A descriptor of the memory with this key, and whether it is mapped for writing; 0, or the errno.
int descriptor_of_memory(std::uint64_t key, Descriptor& copy, bool& writable) noexcept;

// How many handles of memory there have been so far.
std::uint64_t memories_so_far() noexcept;

// Whether a word in these bytes is an address in memory whose handle came later than that.
bool points_into_later_memory(const void* bytes, std::size_t size, std::uint64_t so_far) noexcept;

// Where memory comes from that this process has not: 0, or the errno.
using MemorySource = int (*)(std::uint64_t key, Descriptor& file, bool& writable) noexcept;
void get_memory_from(MemorySource source) noexcept;

// Between runs: unmaps what came from there and was not used in the last runs.
void forget_unused_memory() noexcept;

// ---- A worker

// From now on spans ask by this descriptor, which stays open.
void ask_for_memory_by(int descriptor) noexcept;

// ---- The master

class MemoryAsks {
 public:
  // 0, or the errno.
  int open() noexcept;
  // The end that workers have; above the standard descriptors.
  [[nodiscard]] int workers_end() const noexcept { return theirs_.get(); }
  // Readable when a worker asks.
  [[nodiscard]] int own_end() const noexcept { return own_.get(); }
  // Answers those that have asked. If a worker has shut the socket down it is closed: then memory
  // that comes later is missed.
  void answer() noexcept;

 private:
  Descriptor own_;
  Descriptor theirs_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
