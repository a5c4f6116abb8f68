// SPDX-License-Identifier: MIT
// What the algorithms of `algorithms` are given, and how their answers are checked. Coordinator and
// contenders make the same items, each from its place; no contender sees the right answer.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::algorithms {

using Int = std::int32_t;

// 64 bytes, of which the key counts.
struct Record {
  std::uint64_t key;
  std::uint64_t place;  // where it was, by which stable is told from unstable
  std::array<std::uint64_t, 6> rest;
};

// What contenders compare by that take no projection.
struct ByKey {
  bool operator()(const Record& a, const Record& b) const { return a.key < b.key; }
};
template <class T>
using Below = std::conditional_t<std::is_same_v<T, Record>, ByKey, std::less<T>>;

constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// The order in which the items of an array are, the first of which is item `first` of all: item i
// of the array is that of rank(i). No two arrays have the same random items.
struct Ranks {
  enum class Order : std::uint8_t { random, sorted, reversed, equal, organ_pipe };

  Ranks(std::string_view name, std::size_t items)
      : order(name == "random"     ? Order::random
              : name == "sorted"   ? Order::sorted
              : name == "reversed" ? Order::reversed
              : name == "equal"    ? Order::equal
                                   : Order::organ_pipe),
        count(items) {}

  [[nodiscard]] std::uint64_t operator()(std::size_t i) const {
    switch (order) {
      case Order::random: return mix(first + i + 1);
      case Order::sorted: return i;
      case Order::reversed: return count - 1 - i;
      case Order::equal: return 7;
      default: return i < count - i ? i : count - 1 - i;
    }
  }

  Order order;
  std::size_t count;
  std::size_t first = 0;
};

inline void make(Int& item, const Ranks& ranks, std::size_t i) {
  item = static_cast<Int>(ranks(i));
}

// 20 characters, which no std::string holds in itself. In place: its memory is used again.
inline void make(std::string& item, const Ranks& ranks, std::size_t i) {
  item.assign("item0000000000000000");
  std::size_t at = item.size();
  for (std::uint64_t rank = ranks(i); rank != 0; rank >>= 4) {
    item[--at] = "0123456789abcdef"[rank & 15];
  }
}

// Of random keys there are as many as items, so that some come twice and some never.
inline void make(Record& item, const Ranks& ranks, std::size_t i) {
  const std::uint64_t rank = ranks(i);
  item.key = ranks.order == Ranks::Order::random ? rank % ranks.count : rank;
  item.place = i;
  item.rest.fill(i);
}

// What an item adds to a sum by which a permutation is told from anything else.
inline std::uint64_t digest(Int item) { return mix(static_cast<std::uint32_t>(item) + 1); }
inline std::uint64_t digest(const std::string& item) { return std::hash<std::string_view>()(item); }
inline std::uint64_t digest(const Record& item) {
  std::uint64_t sum = mix(item.key + 1) ^ mix(item.place);
  for (const std::uint64_t word : item.rest) sum += mix(word);
  return sum;
}
// The same for a number that has its place.
inline std::uint64_t digest(Int item, std::size_t place) {
  return mix(static_cast<std::uint32_t>(item) + (static_cast<std::uint64_t>(place) << 32));
}

// Numbers for what moves nothing: no sum of all of them overflows, the wanted one is the last, and
// what is merged ascends in both halves.
inline constexpr Int kWanted = 64;

inline Int number_for(std::string_view algorithm, std::size_t count, std::size_t place) {
  const std::uint64_t random = mix(place + 1);
  if (algorithm == "merge") {
    const std::size_t half = count / 2;
    return static_cast<Int>(2 * (place < half ? place : place - half) + random % 2);
  }
  if (algorithm == "find_if" && place + 1 == count) return kWanted;
  return static_cast<Int>(random % kWanted);
}

inline constexpr auto is_wanted = [](Int item) { return item == kWanted; };
inline constexpr auto is_small = [](Int item) { return item < 16; };
inline constexpr auto transformed = [](Int item) { return item * 3 + 1; };

inline bool is_sort(std::string_view algorithm) {
  return algorithm == "sort" || algorithm == "stable_sort";
}
// Whether it writes as many numbers as it reads.
inline bool is_written(std::string_view algorithm) {
  return algorithm == "scan" || algorithm == "transform" || algorithm == "merge";
}

inline std::uint64_t digest_of_places(std::span<const Int> items) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < items.size(); ++i) sum += digest(items[i], i);
  return sum;
}

// How many arrays of `count` items an operation works on, one after the other: small ones are many,
// since the clock is read once for all of them.
constexpr std::size_t arrays_of(std::size_t count) {
  constexpr std::size_t items = 65'536;
  return count < items ? items / count : 1;
}

// Over all operations so far.
struct Answer {
  std::uint64_t operations;
  std::uint64_t misplaced;  // of two neighbours that are not in their order, or on a wrong side
  std::uint64_t sum;  // of the digests of what came out
};

}  // namespace handoff::lab::algorithms
