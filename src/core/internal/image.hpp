// SPDX-License-Identifier: MIT
//
// What images of recorded values share: the files that a bus records and replays, the bytes that a
// bucket captures and loads. One begins with a head and goes on with types: their sizes, alignments
// and names as the compiler spells them. Numbers are those of the machine; one of the other byte
// order refuses the image.
//
// No length in an image is believed. A reader has take(bytes), which gives the next bytes in one
// piece or refuses, and refuse(why), which throws.
#pragma once

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <handoff/config.hpp>
#include <handoff/core/internal/type_name.hpp>
#include <span>
#include <string>
#include <string_view>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct ImageHead {
  std::array<char, 8> magic;
  std::uint32_t byte_order = 0x01020304;
  std::uint32_t version = 1;
};

constexpr std::size_t kImageNameMost = 4096;

// The name of a type, as long as an image may have it. `text` is the compiler's.
inline std::string_view image_name(std::string_view text) noexcept {
  return name_in(text).substr(0, kImageNameMost);
}

template <class T>
std::span<const std::byte> image_bytes(const T& value) noexcept {
  return std::as_bytes(std::span(&value, 1));
}
inline std::span<const std::byte> image_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <class T, class Reader>
T take_value(Reader& from) {
  const std::span<const std::byte> piece = from.take(sizeof(T));
  T value;
  std::memcpy(&value, piece.data(), sizeof(T));
  return value;
}

// `is_none`: what is said of an image with other magic.
template <class Reader>
void take_head(Reader& from, const ImageHead& mine, const char* is_none) {
  const auto head = take_value<ImageHead>(from);
  if (head.magic != mine.magic) from.refuse(is_none);
  if (head.byte_order != mine.byte_order) {
    from.refuse("was recorded on a machine of the other byte order");
  }
  if (head.version != mine.version) {
    from.refuse("has version " + std::to_string(head.version) + " of the format, this is " +
                std::to_string(mine.version));
  }
}

template <class Reader>
std::string take_name(Reader& from, std::uint64_t bytes) {
  if (bytes > kImageNameMost) from.refuse("is damaged: a type's name is too long");
  const auto raw = from.take(static_cast<std::size_t>(bytes));
  return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

// How many bytes there were, up to so many; 0: no more. -1 and errno.
inline ::ssize_t read_some(int file, std::span<std::byte> into) noexcept {
  for (;;) {
    const ::ssize_t got = ::read(file, into.data(), into.size());
    if (got >= 0 || errno != EINTR) return got;
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
