// SPDX-License-Identifier: MIT
//
// What the explorer sees of plain data that nobody declared: races, memory that is used after it
// was given back, and no fault where an order, another byte or another life of the memory makes
// the difference.
#include <gtest/gtest.h>
#include <explore/engine/explore.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/mutex.hpp>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace handoff;
using explore::Fault;
using explore::Result;
using explore::Thread;
using sync::order;

// The compiler must not know what it points to.
template <class T>
T* hidden(T* pointer) {
  asm volatile("" : "+r"(pointer));
  return pointer;
}

struct Program {
  const char* name;
  Fault fault;
  const char* says;  // part of the message
  std::function<void()> program;
};
std::ostream& operator<<(std::ostream& out, const Program& row) { return out << row.name; }

int global = 0;

struct Node {
  int value = 0;
  Node* next = nullptr;
};

void passes_a_message(order stored, order loaded) {
  int message = 0;
  sync::atomic<int> flag{0};
  Thread writer([&] {
    message = 1;
    flag.store(1, stored);
  });
  if (flag.load(loaded) == 1) explore::check(message == 1, "it is there");
}

// A store behind the read-modify-write that publishes it.
void stores_too_late() {
  Node node;
  sync::atomic<int> word{0};
  Thread other([&] {
    if (word.fetch_or(1, order::acq_rel) != 0) explore::check(node.value >= 0, "read");
  });
  word.fetch_or(2, order::acq_rel);
  node.value = 1;
}

// The thread that counts down last gives back, and the other one looks once more.
void reads_after_its_count(bool too_late) {
  struct Counted {
    sync::atomic<int> count{2};
    int owner = 1;
  };
  auto* const counted = new Counted;
  const auto leave = [counted, too_late] {
    int owner = too_late ? 0 : counted->owner;
    if (counted->count.fetch_sub(1, order::acq_rel) == 1) {
      delete counted;
    } else {
      if (too_late) owner = hidden(counted)->owner;
      explore::check(owner == 1, "its owner");
    }
  };
  Thread other(leave);
  leave();
}

void reads_freed() {
  auto node = std::make_unique<Node>();
  Node* const kept = hidden(node.get());
  node.reset();
  explore::check(kept->value == 0, "read");
}

void writes_freed_of_allocate() {
  auto* const memory = static_cast<int*>(sync::allocate(64, 64));
  sync::deallocate(memory, 64, 64);
  hidden(memory)[3] = 1;
}

void frees_what_another_reads() {
  auto node = std::make_unique<Node>();
  Thread other([kept = node.get()] { explore::check(kept->value == 0, "read"); });
  node.reset();
}

void uses_an_atomic_of_freed_memory() {
  auto* const word = new sync::atomic<int>(0);
  sync::atomic<int>* const kept = hidden(word);
  ::operator delete(word);  // without its destructor
  kept->store(1, order::relaxed);
}

const Program faults[] = {
    {"two_writes", Fault::race, "wrote",
     [] {
       int data = 0;
       Thread other([&] { data = 1; });
       data = 2;
     }},
    {"a_read_and_a_write", Fault::race, "read",
     [] {
       int data = 0;
       Thread other([&] { data = 1; });
       explore::check(data < 2, "read");
     }},
    {"a_global", Fault::race, "wrote",
     [] {
       Thread other([] { *hidden(&global) = 1; });
       *hidden(&global) = 2;
     }},
    {"a_heap_object", Fault::race, "wrote",
     [] {
       const auto node = std::make_unique<Node>();
       Thread other([&] { node->value = 1; });
       node->value = 2;
     }},
    {"relaxed_store", Fault::race, "wrote",
     [] { passes_a_message(order::relaxed, order::acquire); }},
    {"relaxed_load", Fault::race, "wrote",
     [] { passes_a_message(order::release, order::relaxed); }},
    {"published_before_it_is_written", Fault::race, "", stores_too_late},
    {"a_byte_of_a_word", Fault::race, "wrote",
     [] {
       std::uint64_t word = 0;
       Thread other([&] { reinterpret_cast<unsigned char*>(hidden(&word))[5] = 1; });
       *hidden(&word) = 2;
     }},
#if defined(__clang__)  // g++ does not instrument what is set and copied as a block
    {"bytes_that_overlap", Fault::race, "wrote",
     [] {
       std::array<char, 8> bytes{};
       Thread other([&] { std::memset(hidden(bytes.data()), 1, 5); });
       std::memset(hidden(bytes.data()) + 4, 2, 4);
     }},
#endif
    {"read_after_free", Fault::use_after_end, "gave it back", reads_freed},
    {"write_after_deallocate", Fault::use_after_end, "gave it back", writes_freed_of_allocate},
    {"free_beside_a_read", Fault::race, "", frees_what_another_reads},
    {"member_after_the_last_count", Fault::race, "", [] { reads_after_its_count(true); }},
    {"atomic_in_freed_memory", Fault::use_after_end, "given back", uses_an_atomic_of_freed_memory},
    {"freed_twice", Fault::double_free, "not in use",
     [] {
       auto* const node = new Node;
       Node* const kept = hidden(node);
       delete node;
       ::operator delete(kept);
     }},
};

class SeenFault : public testing::TestWithParam<Program> {};

TEST_P(SeenFault, is_found) {
  const Result result = explore::run({}, GetParam().program);
  const bool freed_or_read = GetParam().says[0] == '\0' && result.fault == Fault::use_after_end;
  EXPECT_TRUE(result.fault == GetParam().fault || freed_or_read) << result.report();
  EXPECT_NE(result.message.find(GetParam().says), std::string::npos) << result.message;
  for (int i = 0; i < 10; ++i) {
    const Result again = explore::run(
        {.search = explore::Search::replay, .schedule = result.schedule}, GetParam().program);
    EXPECT_EQ(again.fault, result.fault) << result.schedule;
    EXPECT_EQ(again.message, result.message);
  }
}

INSTANTIATE_TEST_SUITE_P(Sight, SeenFault, testing::ValuesIn(faults),
                         [](const auto& row) { return std::string(row.param.name); });

void adds_under_a_mutex() {
  sync::Mutex mutex;
  int sum = 0;
  const auto add = [&] {
    const sync::Lock lock(mutex);
    ++sum;
  };
  {
    Thread other(add);
    add();
  }
  explore::check(sum == 2, "both");
}

// The memory of one node goes back and comes again within an execution.
void allocates_again_and_again() {
  const auto work = [] {
    for (int i = 0; i < 4; ++i) {
      const auto node = std::make_unique<Node>();
      node->value = i;
      explore::check(hidden(node.get())->value == i, "its own");
    }
  };
  Thread other(work);
  work();
}

// Frames of many shapes follow each other on a stack, and the first is another thread's to read.
int use_of_stack(int depth) {
  std::array<int, 7> ints{};
  std::array<char, 13> chars{};
  hidden(ints.data())[depth % 7] = depth;
  std::memset(hidden(chars.data()) + depth % 5, depth, 8);
  return depth == 0 ? 0 : hidden(ints.data())[depth % 7] + use_of_stack(depth - 1);
}

void reuses_its_stack() {
  for (int i = 0; i < 3; ++i) {
    int seen = 0;
    {
      Thread other([&seen] { *hidden(&seen) = use_of_stack(3); });
      use_of_stack(4);
    }
    explore::check(*hidden(&seen) == 6, "what it found");
    use_of_stack(5);
  }
}

void throws_in_two_threads() {
  const auto work = [] {
    try {
      throw std::runtime_error("too bad");
    } catch (const std::runtime_error& error) {
      explore::check(error.what()[0] == 't', "its own");
    }
  };
  Thread other(work);
  work();
}

const Program sound[] = {
    {"ordered_by_an_atomic", Fault::none, "",
     [] { passes_a_message(order::release, order::acquire); }},
    {"ordered_by_a_join", Fault::none, "",
     [] {
       int data = 0;
       {
         Thread other([&] { data = 1; });
       }
       data = 2;
     }},
    {"ordered_by_a_mutex", Fault::none, "", adds_under_a_mutex},
    {"bytes_of_one_word", Fault::none, "",
     [] {
       std::array<char, 8> bytes{};
       Thread other([&] { std::memset(hidden(bytes.data()), 1, 3); });
       std::memset(hidden(bytes.data()) + 3, 2, 5);
     }},
    {"two_readers", Fault::none, "",
     [] {
       const int data = 1;
       Thread other([&] { explore::check(*hidden(&data) == 1, "read"); });
       explore::check(*hidden(&data) == 1, "read");
     }},
    {"member_before_the_count", Fault::none, "", [] { reads_after_its_count(false); }},
    {"memory_of_another_life", Fault::none, "", allocates_again_and_again},
    {"stack_of_another_frame", Fault::none, "", reuses_its_stack},
    {"exceptions_side_by_side", Fault::none, "", throws_in_two_threads},
    {"a_shared_pointer", Fault::none, "",
     [] {
       const auto shared = std::make_shared<Node>();
       Thread other([copy = shared]() mutable { copy.reset(); });
       explore::check(shared->value == 0, "read");
     }},
};

class SeenSound : public testing::TestWithParam<Program> {};

TEST_P(SeenSound, is_no_fault) {
  const Result result = explore::run({}, GetParam().program);
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_GT(result.executions, 1U);
}

INSTANTIATE_TEST_SUITE_P(Sight, SeenSound, testing::ValuesIn(sound),
                         [](const auto& row) { return std::string(row.param.name); });

// The message names the lines of both accesses.
TEST(Sight, tells_both_lines) {
  const Result result = explore::run({}, faults[0].program);
  const std::string report = result.report();
  EXPECT_NE(report.find("sight_test.cpp:"), report.rfind("sight_test.cpp:")) << report;
}

}  // namespace
