// SPDX-License-Identifier: MIT
//
// What a case says: which operations count for which row, and whose turn it is.
//
//   HANDOFF_COUNT_CASE(spsc_ring) {
//     handoff::SpscRing<int> ring(64);
//     Helper consumer;
//     rounds([&](bool counts) {
//       { const Counted push("SpscRing.push/one producer", counts); (void)ring.try_push(1); }
//       consumer.run([&] { keep(ring.try_pop()); });
//     });
//   }
//
// Each case runs in a process of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace handoff::counts {

struct Row;

// Makes what this thread does in the scope count for a row, as so many operations.
class Counted {
 public:
  explicit Counted(std::string_view row, bool counts = true, unsigned operations = 1);
  ~Counted();
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  Row* before_ = nullptr;
  bool counts_;
};

// The same for all threads that have no scope of their own, until they have come to rest.
class CountedOfAll {
 public:
  explicit CountedOfAll(std::string_view row, bool counts = true, unsigned operations = 1);
  ~CountedOfAll();
  CountedOfAll(const CountedOfAll&) = delete;
  CountedOfAll& operator=(const CountedOfAll&) = delete;

 private:
  bool counts_;
};

// The others run until all of them sleep, or poll in vain.
void settle();
// The others run until all of them sleep.
void let_all_sleep();
// One turn to each of the others.
void give_turn();
// This thread sleeps, on the clock of the case.
void sleep_for(long long ns);

// All threads take turns of so many accesses while this lives.
class Slice {
 public:
  explicit Slice(unsigned accesses);
  ~Slice();
  Slice(const Slice&) = delete;
  Slice& operator=(const Slice&) = delete;

 private:
  unsigned before_;
};

// A thread of the case that does what it is told and sleeps in between: the other end.
class Helper {
 public:
  Helper();
  ~Helper();
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  // Has it call the function, and waits until it has.
  void run(std::function<void()> function);
  // The same, but does not wait for it: it runs when it is its turn.
  void begin(std::function<void()> function);
  void wait();

 private:
  struct State;
  State* state_;
};

// Calls function(bool counts): as often to warm up as to be counted.
template <class F>
void rounds(const F& function, int times = 8) {
  for (int round = -times; round < times; ++round) function(round >= 0);
}

// Makes what operate() does in this thread count for a row.
template <class F>
void note(std::string_view row, bool counts, const F& operate) {
  const Counted counted(row, counts);
  operate();
}

// Nothing but that, in rounds.
template <class F>
void note_rounds(std::string_view row, const F& operate) {
  rounds([&](bool counts) { note(row, counts, operate); });
}

// The other thread falls asleep in wait(), and this one wakes it up.
template <class W, class F>
void note_asleep(Helper& other, bool counts, std::string_view row, const W& wait,
                 std::string_view waking_row, const F& wake) {
  other.begin([=] { note(row, counts, wait); });  // nothing of it in this thread's lines
  let_all_sleep();
  note(waking_row, counts, wake);
  other.wait();
}

// Both functions at the same time, with a turn after each access, so that they lose races.
template <class F, class G>
void race(Helper& one, const F& first, Helper& two, const G& second) {
  const Slice turns(1);
  one.begin(first);
  two.begin(second);
  one.wait();
  two.wait();
}

// By all threads, from rest to rest: where workers look for more (hot), or sleep.
template <class F>
void hot_and_asleep(const std::string& row, const F& operate) {
  rounds([&](bool counts) {
    const CountedOfAll counted(row + "hot", counts);
    operate();
    settle();
  });
  rounds([&](bool counts) {
    let_all_sleep();
    const CountedOfAll counted(row + "asleep", counts);
    operate();
    let_all_sleep();
  });
}

// The compiler has to make the value.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "m"(value) : "memory");
}

// What the program was told to do once more, to see whether it is found.
std::string_view planted();

struct Case {
  Case(const char* name, void (*run)());
  const char* name;
  void (*run)();
  mutable const Case* next = nullptr;
};

}  // namespace handoff::counts

#define HANDOFF_COUNT_CASE(name)                                        \
  static void count_##name();                                           \
  static const handoff::counts::Case case_##name(#name, &count_##name); \
  static void count_##name()
