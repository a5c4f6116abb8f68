// SPDX-License-Identifier: MIT
//
// The auxiliary memory of a command: bytes behind it, of a size that only its recorder knew.
//
//   struct Copy {
//     int buffer;
//     void operator()(Gpu& gpu) const { gpu.upload(buffer, handoff::aux_of(*this)); }
//   };
//   Copy& copy = recorder.add<Copy>(key, matrices.size_bytes());
//   std::memcpy(handoff::aux_of(copy).data(), matrices.data(), matrices.size_bytes());
//
// For: commands where a bucket has them. Not for: a copy of one, which has no memory behind it; a
// base of one.
// Concurrency: as the command. Blocks, allocates, throws: never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <handoff/command/detail/command_packet.hpp>
#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What a backend is given of it.
using AuxBytes = std::span<const std::byte>;

// Empty if the command has none. It begins at a multiple of 16 bytes.
template <class C>
[[nodiscard]] std::span<std::byte> aux_of(C& command) noexcept {
  auto* const end = reinterpret_cast<std::byte*>(&command) + sizeof(C);
  return {detail::aux_begin(end), detail::packet_of(command).aux_bytes()};
}
template <class C>
[[nodiscard]] AuxBytes aux_of(const C& command) noexcept {
  return handoff::aux_of(const_cast<C&>(command));
}

}}  // namespace handoff::HANDOFF_ABI
