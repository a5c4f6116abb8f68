// SPDX-License-Identifier: MIT
//
// A recording as bytes: what capture() writes and load() reads. Not for users.
//
// It begins with the size of a key and the types of commands: their sizes, alignments and names as
// the compiler spells them. Each command has a head, its bytes and its auxiliary memory. It ends
// with their number and a checksum. All of it is looked through before anything is taken from it,
// and no length in it is believed. Numbers are those of the machine; one of the other byte order
// refuses it.
// Concurrency: of one thread. Allocates: the image. Throws: std::runtime_error with one line for an
// image that is none, std::system_error for calls that fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <handoff/command/detail/command_packet.hpp>
#include <handoff/command/detail/command_type.hpp>
#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using CommandImage = std::vector<std::byte>;

// How a command comes into a bucket.
enum class CommandKind : std::uint32_t { add, append, state };

class CommandImageWriter {
 public:
  explicit CommandImageWriter(std::size_t key_bytes) : key_bytes_(key_bytes) {}

  // In their order.
  void put(CommandKind kind, std::uint64_t key, const CommandPacket& packet);
  CommandImage finish() const;

 private:
  std::uint32_t index_of(const CommandType& type);

  const std::size_t key_bytes_;
  std::vector<const CommandType*> types_;
  std::uint64_t count_ = 0;
  CommandImage body_;
};

struct ParsedCommand {
  CommandKind kind{};
  std::size_t type = 0;  // among those that were given
  std::uint64_t key = 0;
  std::span<const std::byte> bytes;
  std::span<const std::byte> aux;
};

class CommandParser {
 public:
  // Refuses what is no image of such commands.
  CommandParser(std::span<const std::byte> image, std::size_t key_bytes,
                std::span<const CommandType* const> types);

  std::size_t size() const noexcept { return count_; }
  // False at the end.
  bool next(ParsedCommand& command);
  // To the first one again.
  void rewind() noexcept { rest_ = body_; }

  // What reading an image asks for: the next bytes, and a refusal.
  std::span<const std::byte> take(std::size_t bytes);
  [[noreturn]] static void refuse(std::string_view why);

 private:
  void read_types(std::size_t count);

  const std::span<const CommandType* const> given_;
  const std::size_t key_bytes_;
  std::span<const std::byte> rest_;
  std::span<const std::byte> body_;
  std::vector<std::uint32_t> types_;  // of the image: which of the given ones
  std::uint64_t count_ = 0;
};

// Written beside its place and moved there.
void write_image(const char* path, std::span<const std::byte> image);
CommandImage read_image(const char* path);

}}}  // namespace handoff::HANDOFF_ABI::detail
