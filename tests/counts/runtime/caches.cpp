// SPDX-License-Identifier: MIT
//
// A table from lines to the caches that have them.
#include "caches.hpp"

#include <cstdio>
#include <cstdlib>

namespace handoff::counts {
namespace {

// In MESI: one holder has it modified or exclusive, several have it shared.
struct Line {
  std::uintptr_t number;  // its address / 64; 0: none
  std::uint64_t holders;  // a bit for each cache
};

constexpr std::size_t kPlaces = std::size_t{1} << 20;
Line lines[kPlaces];
std::size_t used = 0;

Line& find(std::uintptr_t number) noexcept {
  for (std::size_t at = number * 0x9E3779B97F4A7C15U >> 44;; ++at) {
    Line& line = lines[at % kPlaces];
    if (line.number == number) return line;
    if (line.number != 0) continue;
    if (++used > kPlaces / 2) {
      std::fprintf(stderr, "a case touches more memory than the model of caches has room for\n");
      std::abort();
    }
    line.number = number;
    return line;
  }
}

bool moves(Line& line, std::uint64_t own, bool writes) noexcept {
  const bool others = (line.holders & ~own) != 0;
  const bool has = (line.holders & own) != 0;
  if (writes) {
    line.holders = own;
    return others;
  }
  if (has) return false;
  line.holders |= own;
  return others;
}

}  // namespace

unsigned move_lines(unsigned cache, std::uintptr_t at, std::size_t bytes, bool writes) noexcept {
  if (bytes == 0) return 0;
  const std::uint64_t own = std::uint64_t{1} << cache;
  unsigned moved = 0;
  for (std::uintptr_t n = at / line_bytes; n <= (at + bytes - 1) / line_bytes; ++n) {
    moved += moves(find(n), own, writes) ? 1 : 0;
  }
  return moved;
}

}  // namespace handoff::counts
