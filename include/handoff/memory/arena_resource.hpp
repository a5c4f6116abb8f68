// SPDX-License-Identifier: MIT
//
// An arena as a std::pmr::memory_resource, for containers.
//
//   handoff::LinearArena arena;
//   handoff::ArenaResource resource(arena);
//   std::pmr::vector<int> numbers(&resource);
//
// For: LinearArena, ThreadArenas and Frame. Deallocated memory can be used again only after the
// arena's reset; by then the container must be destroyed, or never be touched again.
// Concurrency, allocation, exceptions: as the arena. With a Frame, memory comes from the calling
// thread's arena of the current frame.
#pragma once

#include <cstddef>
#include <memory_resource>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class Arena>
class ArenaResource final : public std::pmr::memory_resource {
 public:
  // Takes its memory from an arena that outlives it.
  explicit ArenaResource(Arena& arena) noexcept : arena_(arena) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return arena_.allocate(bytes, alignment);
  }
  void do_deallocate(void* /*piece*/, std::size_t /*bytes*/, std::size_t /*alignment*/) override {}
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  Arena& arena_;
};

}}  // namespace handoff::HANDOFF_ABI
