// SPDX-License-Identifier: MIT
// The work of the article: components, the commands that each becomes, their keys, and what a fake
// backend comes to. Both sides know it: the contender does the work, the coordinator the reckoning.
#pragma once

#include "peers/answer.hpp"

namespace handoff::lab::commands {

// Commands as the article has them: 20 and 4 bytes of arguments.
struct DrawArguments {
  std::uint32_t vertex_count;
  std::uint32_t component;
  std::uint32_t pass;
  std::uint32_t vertex_buffer;
  std::uint32_t index_buffer;
};
struct MapArguments {
  std::uint32_t component;
};

// Each has a bucket: meshes are drawn in two of them, lights are mapped and drawn in the third.
enum Pass : std::uint32_t { kGbuffer, kShadow, kLighting, kPasses };

inline constexpr std::size_t kChunk = 50;  // components of a task
// Of all calls: a quarter are meshes drawn twice, a quarter are lights mapped and drawn.
inline std::size_t components_of(std::size_t calls) { return calls / 4; }

inline DrawArguments draw_of(Pass pass, std::size_t component) {
  const auto i = static_cast<std::uint32_t>(component);
  return {36, i, pass, i & 1023, i & 511};
}

// The article's keys come in no order that would lead through the packets one by one: some
// materials, and a depth. Or all bits at random.
enum class Keys : std::uint8_t { article, random };

template <class Key>
Key key_of(Keys keys, Pass pass, std::size_t component) {
  constexpr int digits = std::numeric_limits<Key>::digits;
  if (keys == Keys::random) {
    const std::uint64_t all = peers::fold(component + 1 + (std::uint64_t{pass} << 32));
    return static_cast<Key>(peers::fold(all) >> (64 - digits));
  }
  // Cheap to make: what is measured is where it goes.
  const std::uint32_t hash =
      (static_cast<std::uint32_t>(component) + 1) * 0x9E3779B1U + pass * 0x85EBCA6BU;
  const std::uint64_t material = hash >> 26;  // 64 of them
  const std::uint64_t depth = (hash >> 14) & 0xfff;  // 4096 steps
  if constexpr (digits == 64) {
    return static_cast<Key>(material << 42 | depth << 18);
  } else if constexpr (digits == 32) {
    return static_cast<Key>(material << 20 | depth << 4);
  } else {
    return static_cast<Key>(material << 10 | depth >> 2);
  }
}

// Where commands go: it hashes all arguments. The sum of the hashes does not depend on the order of
// equal keys, which most schemes leave to chance.
struct Sink {
  std::uint64_t sum = 0;
  std::uint64_t commands = 0;
  std::uint64_t misplaced = 0;  // lights that do not follow their map
  std::uint32_t mapped = ~std::uint32_t{0};

  void draw(const DrawArguments& arguments) {
    sum += peers::fold(arguments.vertex_count + (std::uint64_t{arguments.component} << 32)) +
           peers::fold(arguments.pass + (std::uint64_t{arguments.vertex_buffer} << 32) + 1) +
           peers::fold(arguments.index_buffer + (std::uint64_t{7} << 32));
    ++commands;
  }
  void map(const MapArguments& arguments) {
    sum += peers::fold(arguments.component + (std::uint64_t{9} << 32));
    mapped = arguments.component;
    ++commands;
  }
  void light(const DrawArguments& arguments) {
    misplaced += arguments.component != mapped;
    draw(arguments);
  }
};

// Of all commands of an operation.
inline std::uint64_t sum_of_all(std::size_t calls) {
  Sink sink;
  for (std::size_t i = 0; i < components_of(calls); ++i) {
    sink.draw(draw_of(kGbuffer, i));
    sink.draw(draw_of(kShadow, i));
    sink.map({static_cast<std::uint32_t>(i)});
    sink.light(draw_of(kLighting, i));
  }
  return sink.sum;
}

// Of all operations since the launch.
struct Answer {
  std::uint64_t operations;
  std::uint64_t commands;
  std::uint64_t sum;
  std::uint64_t misplaced;  // keys below the one before, and lights that do not follow their map
};

// Other work of a component, some nanoseconds a round; each hangs on the one before.
inline std::uint64_t other_work(std::size_t rounds, std::uint64_t value) {
  for (std::size_t i = 0; i < rounds; ++i) value = peers::fold(value + i);
  return value;
}

}  // namespace handoff::lab::commands
