// SPDX-License-Identifier: MIT
//
// A checksum of bytes that are written to a file and read back: FNV-1a over words of 8 bytes, with
// a turn after each so that high bits reach low ones.
//
//   ByteHash hash;
//   hash.add(head).add(body);      // in the same pieces when it is read
//
// For: damage by accident; one flipped bit is always seen, two may cancel each other.
// Not for: damage on purpose, hash tables, machines of another byte order.
// Source: G. Fowler, L. C. Noll, P. Vo, "FNV Non-Cryptographic Hash Algorithm".
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class ByteHash {
 public:
  ByteHash& add(std::span<const std::byte> bytes) noexcept {
    constexpr std::uint64_t prime = 0x100000001b3U;
    while (bytes.size() >= sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), sizeof word);
      value_ = std::rotl((value_ ^ word) * prime, 29);
      bytes = bytes.subspan(sizeof word);
    }
    for (const std::byte byte : bytes) {
      value_ = (value_ ^ static_cast<std::uint64_t>(byte)) * prime;
    }
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
