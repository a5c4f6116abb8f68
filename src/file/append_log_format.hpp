// SPDX-License-Identifier: MIT
//
// What is in the files of an AppendLog (docs/design/append_log.md): a segment is a header and then
// batches; a batch is a head and then records. All stand at multiples of 8 bytes, in the byte order
// of the machine, which the header says. Zeros are no item: they are room.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <handoff/config.hpp>
#include <handoff/core/internal/byte_hash.hpp>
#include <optional>
#include <span>
#include <string_view>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

inline constexpr std::uint64_t kAppendLogItem = 8;  // items begin at multiples of it

template <class T>
std::span<const std::byte> raw_bytes(const T& value) noexcept {
  return std::as_bytes(std::span(&value, 1));
}
// `bytes` has a T's at least.
template <class T>
T from_raw(std::span<const std::byte> bytes) noexcept {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

struct SegmentHeader {
  static constexpr std::array<char, 8> kMagic{'h', 'a', 'n', 'd', 'o', 'f', 'f', 'A'};
  static constexpr std::uint32_t kByteOrder = 0x01020304;
  static constexpr std::uint32_t kVersion = 1;

  std::array<char, 8> magic = kMagic;
  std::uint32_t byte_order = kByteOrder;
  std::uint32_t version = kVersion;
  std::uint64_t log = 0;  // a random number, the same in all segments of a log
  std::uint64_t first = 0;  // sequence number of its first record, as in its name
  std::array<std::uint64_t, 3> reserved{};
  std::uint64_t check = 0;

  [[nodiscard]] std::uint64_t right_check() const noexcept {
    return ByteHash().add(raw_bytes(*this).first(sizeof *this - sizeof check)).value();
  }
};
static_assert(sizeof(SegmentHeader) == 64);

// Before the records that were written at once.
struct BatchHead {
  static constexpr std::uint64_t kMark = std::uint64_t{1} << 62;

  std::uint64_t mark = 0;  // kMark and the number of records; none when the log was closed
  std::uint64_t check = 0;
  std::uint64_t first = 0;  // sequence number of its first record
  std::uint64_t durable = 0;  // of the last record that was durable when this was written: the
                              // proof that what is missing before it is damage

  [[nodiscard]] std::uint64_t right_check(std::uint64_t log, std::uint64_t offset) const noexcept {
    const std::array<std::uint64_t, 5> words{log, offset, mark, first, durable};
    return ByteHash().add(raw_bytes(words)).value();
  }
};
static_assert(sizeof(BatchHead) == 32);

struct RecordHead {
  static constexpr std::uint64_t kMark = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // bytes of a record

  std::uint64_t mark = 0;  // kMark and the length
  std::uint64_t check = 0;

  // The sequence number is in here only: a record passes nowhere but in its place.
  [[nodiscard]] std::uint64_t right_check(std::uint64_t log, std::uint64_t sequence,
                                          std::uint64_t hash) const noexcept {
    const std::array<std::uint64_t, 4> words{log, sequence, mark, hash};
    return ByteHash().add(raw_bytes(words)).value();
  }
};
static_assert(sizeof(RecordHead) == 16);

inline constexpr std::uint64_t kMarks = BatchHead::kMark | RecordHead::kMark;

constexpr std::uint64_t padded(std::uint64_t bytes) noexcept {
  return (bytes + kAppendLogItem - 1) & ~(kAppendLogItem - 1);
}

// "00000000000000ff.log", with a zero behind it.
using SegmentName = std::array<char, 21>;

inline SegmentName segment_name(std::uint64_t first) noexcept {
  constexpr std::string_view digits = "0123456789abcdef";
  SegmentName name{};
  for (std::size_t i = 16; i-- > 0; first >>= 4) name[i] = digits[first & 15];
  constexpr std::string_view end = ".log";
  end.copy(name.data() + 16, end.size());
  return name;
}

// The number in such a name.
inline std::optional<std::uint64_t> segment_first(std::string_view name) noexcept {
  std::uint64_t first = 0;
  if (name.size() != sizeof(SegmentName) - 1) return std::nullopt;
  const auto read = std::from_chars(name.data(), name.data() + 16, first, 16);
  if (read.ec != std::errc() || segment_name(first).data() != name) return std::nullopt;
  return first;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
