// SPDX-License-Identifier: MIT
// What files of this scenario hold. Each sector of 4 KiB says which file it belongs to, where in it
// and of which generation it is, with checksums of that and of the rest. So whatever was read or
// written tells whether it is the right thing at the right place, old, new, or a mixture.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::files {

inline constexpr std::size_t kSector = 4096;
inline constexpr std::size_t kLongestPath = 4096;  // of the input's folders, each with its zero

struct SectorHead {
  std::uint64_t file;
  std::uint64_t offset;
  std::uint64_t generation;
  std::uint64_t seed;  // what the rest is made of
  std::uint64_t rest;  // checksum of it
  std::uint64_t check;  // of all these; the sector's last 8 bytes repeat it
};

inline constexpr std::size_t kTail = kSector - sizeof(std::uint64_t);

inline std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  return value;
}
inline std::uint64_t check_of(const SectorHead& head) {
  std::uint64_t sum = mix(head.file + 1);
  for (const std::uint64_t part : {head.offset, head.generation, head.seed, head.rest}) {
    sum = mix(sum * 0x9e3779b97f4a7c15ULL + part + 1);
  }
  return sum;
}

// Fills whole sectors with bytes that look random; stamp() makes them belong somewhere.
void fill(std::span<std::byte> sectors, std::uint64_t seed);

// What is to be written, right before it is. This is timed with all contenders: one cache line at
// each end of a sector.
inline void stamp(std::span<std::byte> sectors, std::uint64_t file, std::uint64_t offset,
                  std::uint64_t generation) {
  for (std::size_t at = 0; at < sectors.size(); at += kSector) {
    SectorHead head;
    std::memcpy(&head, &sectors[at], sizeof head);
    head.file = file;
    head.offset = offset + at;
    head.generation = generation;
    head.check = check_of(head);
    std::memcpy(&sectors[at], &head, sizeof head);
    std::memcpy(&sectors[at + kTail], &head.check, sizeof head.check);
  }
}

// What is wrong with a sector; the place is that of the first wrong byte, as far as it is known.
enum class Fault : std::uint64_t {
  none,
  place,  // it belongs elsewhere, or is none
  generation,  // it is of another time
  torn,  // its ends are of different times
  bytes,  // a byte differs
  length,  // the file is shorter or longer
  missing,  // there is no such file
  attributes,  // of a copy: another kind, mode, time, link or length than the source's
};

// Whether the ends of each sector are right: timed with all contenders that read.
inline bool looks_right(std::span<const std::byte> sectors, std::uint64_t file,
                        std::uint64_t offset) {
  bool right = sectors.size() % kSector == 0;
  for (std::size_t at = 0; at + kSector <= sectors.size(); at += kSector) {
    SectorHead head;
    std::memcpy(&head, &sectors[at], sizeof head);
    std::uint64_t tail = 0;
    std::memcpy(&tail, &sectors[at + kTail], sizeof tail);
    right = right && head.file == file && head.offset == offset + at &&
            head.check == check_of(head) && head.check == tail;
  }
  return right;
}

struct Found {
  Fault fault = Fault::none;
  std::uint64_t offset = 0;
};
inline constexpr std::uint64_t kAnyGeneration = ~std::uint64_t{0};
// All bytes of one sector.
Found look_at(std::span<const std::byte> sector, std::uint64_t file, std::uint64_t offset,
              std::uint64_t generation);

// What a contender answers: of all operations since its launch.
struct Answer {
  std::uint64_t operations;
  std::uint64_t sectors;  // looked at
  std::uint64_t faults;
  Fault first;
  std::uint64_t file;
  std::uint64_t offset;
  std::uint64_t wanted;  // of a length: what it should be
};

// Memory that is read into and written from: on large pages where there are some, which is what
// direct IO is fast with.
class Buffers : Pinned {
 public:
  Buffers(std::size_t count, std::size_t block) : block_(block), count_(count) {
    constexpr std::size_t large = std::size_t{2} << 20;
    bytes_ = (count * block + large - 1) / large * large;
    mapped_ = bytes_ + large;
    void* const all =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    all_ = static_cast<std::byte*>(all);
    const auto address = reinterpret_cast<std::size_t>(all_);
    first_ = all_ + (large - address % large) % large;
    madvise(first_, bytes_, MADV_HUGEPAGE);
    fill({first_, bytes_}, reinterpret_cast<std::size_t>(this));
  }
  ~Buffers() { munmap(all_, mapped_); }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t block() const { return block_; }
  [[nodiscard]] std::span<std::byte> operator[](std::size_t number) const {
    return {first_ + number * block_, block_};
  }

 private:
  std::size_t block_;
  std::size_t count_;
  std::size_t bytes_ = 0;
  std::size_t mapped_ = 0;
  std::byte* all_ = nullptr;
  std::byte* first_ = nullptr;
};

}  // namespace handoff::lab::files
