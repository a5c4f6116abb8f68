// SPDX-License-Identifier: MIT
//
// Commands for tests, a backend that notes what it gets, and what a bucket must come to.
#pragma once

#include "support/test.hpp"

namespace handoff::test {

// Notes the numbers of what it gets; throws at the one that it is told.
struct Notes {
  std::vector<std::uint64_t> numbers;
  std::uint64_t throws_at = ~std::uint64_t{0};

  void note(std::uint64_t number) {
    if (number == throws_at) throw std::runtime_error("as asked");
    numbers.push_back(number);
  }
};

// Commands of several sizes; each knows its number.
struct Tiny {
  std::uint32_t number;
  void operator()(Notes& notes) const { notes.note(number); }
};
struct Usual {
  std::uint64_t number;
  std::uint64_t twice;
  void operator()(Notes& notes) const {
    if (twice != 2 * number) throw std::logic_error("a command is broken");
    notes.note(number);
  }
};
struct alignas(64) Wide {
  std::uint64_t number;
  std::uint64_t words[15];
  static void dispatch(const Wide& wide, Notes& notes) {
    if (reinterpret_cast<std::uintptr_t>(&wide) % 64 != 0 || wide.words[14] != wide.number) {
      throw std::logic_error("a command is broken");
    }
    notes.note(wide.number);
  }
};
// With auxiliary memory: bytes that each are the number's lowest.
struct WithAux {
  std::uint64_t number;
  std::uint64_t bytes;
  void operator()(Notes& notes) const {
    const AuxBytes aux = aux_of(*this);
    const bool right = aux.size() == bytes &&
                       reinterpret_cast<std::uintptr_t>(aux.data()) % 16 == 0 &&
                       std::all_of(aux.begin(), aux.end(), [this](std::byte byte) {
                         return byte == static_cast<std::byte>(number & 255);
                       });
    if (!right) throw std::logic_error("auxiliary memory is broken");
    notes.note(number);
  }
};

// What a bucket dispatches.
template <class Bucket>
std::vector<std::uint64_t> dispatched(Bucket& bucket) {
  Notes notes;
  (void)bucket.dispatch(notes);
  return notes.numbers;
}

// 0, 1, 2, ...
inline std::vector<std::uint64_t> counted(std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

// What was added, in the order of recorders and sequence.
template <class Key>
struct Added {
  Key key;
  std::uint64_t number;
};

// The numbers as they must be dispatched: a multimap keeps equal keys as they were put in.
template <class Key>
std::vector<std::uint64_t> in_order(const std::vector<Added<Key>>& added) {
  std::multimap<Key, std::uint64_t> sorted;
  for (const Added<Key>& each : added) sorted.emplace(each.key, each.number);
  std::vector<std::uint64_t> numbers;
  for (const auto& [key, number] : sorted) numbers.push_back(number);
  return numbers;
}

// Runs one index after the other; behind one that throws none.
class InOrder {
 public:
  struct BulkStorage {};
  template <class Body>
  Tally run(std::size_t count, const Body& body, const RunOptions& = {}) {
    for (std::size_t i = 0; i < count; ++i) body(IndexRange{i, i + 1});
    return {.accepted = count, .done = count};
  }
  Status start(std::size_t, BulkWork&, BulkStorage&, const RunOptions& = {}) {
    return Status::full;
  }
  std::size_t width() const { return 1; }
};
static_assert(Bulk<InOrder>);

// Adds the command of that number, of a type that follows from it.
template <class Recorder>
void add_any(Recorder& recorder, typename Recorder::key_type key, std::uint64_t number) {
  switch (number * 0x9e3779b97f4a7c15U >> 61) {
    case 0: {
      const std::size_t bytes = number % 7 == 0 ? 3000 : number % 40;
      auto& command = recorder.template add<WithAux>(key, bytes);
      command = {number, bytes};
      std::ranges::fill(aux_of(command), static_cast<std::byte>(number & 255));
      return;
    }
    case 1: {
      auto& command = recorder.template add<Wide>(key);
      command = {};
      command.number = command.words[14] = number;
      return;
    }
    case 2:
    case 3: recorder.template add<Tiny>(key).number = static_cast<std::uint32_t>(number); return;
    default: recorder.template add<Usual>(key) = {number, 2 * number};
  }
}

}  // namespace handoff::test
