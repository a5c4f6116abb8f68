// SPDX-License-Identifier: MIT
#include "scenarios/files/workload.hpp"

namespace handoff::lab::files {
namespace {

constexpr std::size_t kLanes = 8;
using Words = std::array<std::uint64_t, (kTail - sizeof(SectorHead)) / sizeof(std::uint64_t)>;

Words words_of(std::uint64_t seed) {
  Words words;
  for (std::uint64_t& word : words) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    word = seed ^ seed >> 29;
  }
  return words;
}

// Sums and sums of sums: what changes, and what changes places.
std::uint64_t sum_of(const Words& words) {
  std::array<std::uint64_t, kLanes> sums{};
  std::array<std::uint64_t, kLanes> over{};
  std::size_t at = 0;
  for (; at + kLanes <= words.size(); at += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sums[lane] += words[at + lane];
      over[lane] += sums[lane];
    }
  }
  std::uint64_t all = 0;
  for (; at < words.size(); ++at) all = mix(all + words[at]);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    all = mix(all ^ sums[lane]) + over[lane];
  }
  return mix(all);
}

Words words_in(std::span<const std::byte> sector) {
  Words words;
  std::memcpy(words.data(), &sector[sizeof(SectorHead)], sizeof words);
  return words;
}

}  // namespace

void fill(std::span<std::byte> sectors, std::uint64_t seed) {
  for (std::size_t at = 0; at < sectors.size(); at += kSector) {
    SectorHead head{};
    head.seed = mix(seed + at + 1);
    const Words words = words_of(head.seed);
    head.rest = sum_of(words);
    std::memcpy(&sectors[at], &head, sizeof head);
    std::memcpy(&sectors[at + sizeof head], words.data(), sizeof words);
  }
}

Found look_at(std::span<const std::byte> sector, std::uint64_t file, std::uint64_t offset,
              std::uint64_t generation) {
  if (sector.size() != kSector) return {Fault::length, offset + sector.size()};
  SectorHead head;
  std::memcpy(&head, sector.data(), sizeof head);
  std::uint64_t tail = 0;
  std::memcpy(&tail, &sector[kTail], sizeof tail);
  if (head.check != check_of(head)) {
    // Of the two checksums the one that the head does not make is wrong, or the head is.
    return {Fault::place, offset};
  }
  if (head.file != file || head.offset != offset) return {Fault::place, offset};
  if (generation != kAnyGeneration && head.generation != generation) {
    return {Fault::generation, offset};
  }
  if (head.check != tail) return {Fault::torn, offset + kTail};
  const Words there = words_in(sector);
  if (sum_of(there) == head.rest) return {};
  const Words wanted = words_of(head.seed);
  const auto* const a = reinterpret_cast<const unsigned char*>(there.data());
  const auto* const b = reinterpret_cast<const unsigned char*>(wanted.data());
  std::size_t at = 0;
  while (at < sizeof there && a[at] == b[at]) ++at;
  return {Fault::bytes, offset + sizeof head + at};
}

}  // namespace handoff::lab::files
