// SPDX-License-Identifier: MIT
//
// How a command lies in the memory of its recorder, and how it is referred to. Not for users.
//
//   [ aux bytes (4) | hint (4) ]  only of packets that are marked: those with auxiliary memory, and
//                                 those that were appended
//   type    a pointer
//   next    the reference of the packet that was appended to this one; the highest bit: marked
//   command at the next place that it may lie at: 12 bytes behind the start, for most
//   aux     at the next multiple of 16
//
// A reference is 31 bits: the number of a segment, and how many words of 8 bytes the packet lies
// behind its beginning. A chain is a list by `next`. Its second packet and those behind know in
// `hint` a packet nearer to its end, so that appending does not walk the whole chain each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct CommandType;

using CommandRef = std::uint32_t;  // 0: none

inline constexpr std::size_t kPacketWord = 8;  // what packets are aligned to, at least
inline constexpr unsigned kRefOffsetBits = 13;
inline constexpr unsigned kRefSegmentBits = 18;
inline constexpr CommandRef kRefOffset = (CommandRef{1} << kRefOffsetBits) - 1;
inline constexpr std::size_t kSegmentsMost = std::size_t{1} << kRefSegmentBits;
// The size of a segment; what needs more has one of its own.
inline constexpr std::size_t kSegmentBytes = kPacketWord << kRefOffsetBits;
inline constexpr std::size_t kAuxAlignment = 16;
inline constexpr std::size_t kAuxMost = 0xffffffffU - 64;

constexpr std::size_t aligned_up(std::size_t value, std::size_t alignment) noexcept {
  return (value + alignment - 1) & ~(alignment - 1);
}
inline std::byte* aligned_up(std::byte* at, std::size_t alignment) noexcept {
  return at + ((0 - reinterpret_cast<std::uintptr_t>(at)) & (alignment - 1));
}

inline constexpr std::size_t kPacketNext = sizeof(const CommandType*);
inline constexpr std::size_t kPacketHead = kPacketNext + sizeof(CommandRef);
inline constexpr std::size_t kPacketPrefix = 8;

// Where the command is in its packet, what the packet is aligned to, and its bytes without aux.
template <class C>
inline constexpr std::size_t kCommandOffset = aligned_up(kPacketHead, alignof(C));
template <class C>
inline constexpr std::size_t kPacketAlignment = alignof(C) > kPacketWord ? alignof(C) : kPacketWord;
template <class C>
inline constexpr std::size_t kPacketBytes = aligned_up(kCommandOffset<C> + sizeof(C), kPacketWord);

// Where the auxiliary memory begins of a command that ends there.
inline std::byte* aux_begin(std::byte* end) noexcept { return aligned_up(end, kAuxAlignment); }

class CommandPacket {
 public:
  static constexpr CommandRef kMarked = CommandRef{1} << 31;
  using TypePointer = const CommandType*;

  explicit CommandPacket(std::byte* start) noexcept : start_(start) {}

  // Begins a packet here, without a prefix; or with one.
  static CommandPacket make(std::byte* start, const CommandType& type) noexcept {
    ::new (start) TypePointer(&type);
    ::new (start + kPacketNext) CommandRef(0);
    return CommandPacket(start);
  }
  static CommandPacket make_marked(std::byte* start, const CommandType& type,
                                   std::uint32_t aux_bytes) noexcept {
    ::new (start - kPacketPrefix) std::uint32_t(aux_bytes);
    ::new (start - kPacketPrefix + sizeof(std::uint32_t)) CommandRef(0);
    ::new (start) TypePointer(&type);
    ::new (start + kPacketNext) CommandRef(kMarked);
    return CommandPacket(start);
  }

  std::byte* start() const noexcept { return start_; }
  const CommandType& type() const noexcept {
    return **std::launder(reinterpret_cast<TypePointer*>(start_));
  }

  CommandRef next() const noexcept { return word(kPacketNext) & ~kMarked; }
  void set_next(CommandRef next) const noexcept {
    word(kPacketNext) = (word(kPacketNext) & kMarked) | next;
  }

  bool marked() const noexcept { return (word(kPacketNext) & kMarked) != 0; }
  std::size_t aux_bytes() const noexcept {
    return marked() ? *std::launder(reinterpret_cast<std::uint32_t*>(start_ - kPacketPrefix)) : 0;
  }
  // The hint of a packet that was appended.
  CommandRef& hint() const noexcept {
    return *std::launder(reinterpret_cast<CommandRef*>(start_ - sizeof(CommandRef)));
  }

 private:
  CommandRef& word(std::size_t offset) const noexcept {
    return *std::launder(reinterpret_cast<CommandRef*>(start_ + offset));
  }

  std::byte* start_;
};

// The packet in which a command lies.
template <class C>
CommandPacket packet_of(C& command) noexcept {
  return CommandPacket(reinterpret_cast<std::byte*>(&command) - kCommandOffset<C>);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
