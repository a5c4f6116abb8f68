// SPDX-License-Identifier: MIT
//
// What can be asked of one parallel algorithm, as its last argument.
//
//   handoff::sort(team, names, {}, {}, {.until = 10ms});
//   handoff::stable_sort(team, orders, {}, &Order::price, {.scratch = &resource});
#pragma once

#include <concepts>
#include <cstddef>
#include <new>

#include <handoff/config.hpp>
#include <handoff/core/until.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
template <class R>
concept ScratchSource = requires(R& resource, void* memory, std::size_t bytes) {
  { resource.allocate(bytes, bytes) } -> std::same_as<void*>;
  resource.deallocate(memory, bytes, bytes);
};

template <ScratchSource R>
void* take_scratch(void* from, std::size_t bytes, std::size_t alignment) {
  return static_cast<R*>(from)->allocate(bytes, alignment);
}
template <ScratchSource R>
void give_scratch(void* to, void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  static_cast<R*>(to)->deallocate(memory, bytes, alignment);
}
}  // namespace detail

// Where an algorithm takes memory from that it gives back before it returns: operator new, or the
// address of a std::pmr::memory_resource, or of anything else with the same two functions. Only the
// calling thread asks it. It outlives the call.
class ScratchMemory {
 public:
  constexpr ScratchMemory() noexcept = default;
  // Takes from it.
  template <detail::ScratchSource Resource>
  constexpr ScratchMemory(Resource* resource) noexcept  // NOLINT(google-explicit-constructor)
      : resource_(resource),
        allocate_(&detail::take_scratch<Resource>),
        deallocate_(&detail::give_scratch<Resource>) {}

  // At least `bytes`, aligned as said (bytes, a power of two). Throws what the resource throws.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) const {
    if (resource_ != nullptr) return allocate_(resource_, bytes, alignment);
    return ::operator new(bytes, std::align_val_t{alignment});
  }
  // Gives back what allocate() gave for the same numbers.
  void deallocate(void* memory, std::size_t bytes, std::size_t alignment) const noexcept {
    if (resource_ != nullptr) return deallocate_(resource_, memory, bytes, alignment);
    ::operator delete(memory, std::align_val_t{alignment});
  }

 private:
  void* resource_ = nullptr;
  void* (*allocate_)(void* from, std::size_t bytes, std::size_t alignment) = nullptr;
  void (*deallocate_)(void* to, void* memory, std::size_t bytes,
                      std::size_t alignment) noexcept = nullptr;
};

struct AlgorithmOptions {
  // For the algorithms whose head comment says that they need some.
  ScratchMemory scratch = {};

  // Parts that have not begun by then do not begin, and the call throws NotRun. What it leaves
  // behind is what it leaves behind an exception: each algorithm says.
  Until until = {};
};

}}  // namespace handoff::HANDOFF_ABI
