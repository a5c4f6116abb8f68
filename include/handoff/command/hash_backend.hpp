// SPDX-License-Identifier: MIT
//
// A backend that comes to one number for all commands that it gets, in their order: for checks.
//
//   handoff::CommandBucket<std::uint64_t, Gpu, handoff::HashBackend> bucket;
//   handoff::HashBackend hash;
//   bucket.dispatch(hash);
//   if (hash.value() != expected) complain();
//
// A command whose bytes are all its value is taken as such, with its auxiliary memory. One that has
// padding or floating-point numbers says itself what counts:
//   void operator()(handoff::HashBackend& hash) const { hash.add(x).add(y); }
// Concurrency: of one thread. Blocks, allocates, throws: never.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <handoff/command/command_aux.hpp>
#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class HashBackend {
 public:
  // The hash of all commands so far. The same commands in another order come to another value.
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

  // A number, an enumerator or a pointer.
  template <class T>
    requires std::is_scalar_v<T>
  HashBackend& add(T value) noexcept {
    static_assert(sizeof(T) <= sizeof(std::uint64_t), "HashBackend: it takes at most 8 bytes");
    if constexpr (std::is_same_v<T, float>) {
      mix(std::bit_cast<std::uint32_t>(value));
    } else if constexpr (std::is_same_v<T, double>) {
      mix(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::is_pointer_v<T>) {
      mix(reinterpret_cast<std::uintptr_t>(value));
    } else {
      mix(static_cast<std::uint64_t>(value));
    }
    return *this;
  }

  // Bytes.
  HashBackend& add(std::span<const std::byte> bytes) noexcept {
    for (const std::byte byte : bytes) mix(static_cast<std::uint64_t>(byte));
    mix(bytes.size());
    return *this;
  }

  // What a bucket calls.
  template <class C>
    requires std::has_unique_object_representations_v<C>
  void operator()(const C& command, AuxBytes aux) noexcept {
    add(std::as_bytes(std::span(&command, 1)));
    if (!aux.empty()) add(aux);
  }

 private:
  void mix(std::uint64_t word) noexcept {
    value_ = std::rotl((value_ ^ word) * 0x9e3779b97f4a7c15U, 29);
  }

  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}}  // namespace handoff::HANDOFF_ABI
