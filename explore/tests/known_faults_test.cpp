// SPDX-License-Identifier: MIT
//
// Faults that were published, in the smallest program that has them: the explorer must find each
// within a stated number of executions, and must let its corrected twin pass, completely.
//
// Each program is a template on `wrong`; what differs is in one or two lines.
#include <gtest/gtest.h>
#include <explore/engine/explore.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/park.hpp>
#include <handoff/sync/internal/pause.hpp>

#include <cstdint>
#include <ostream>
#include <string>

namespace {

using namespace handoff;
using explore::check;
using explore::Fault;
using explore::Memory;
using explore::Process;
using explore::Thread;
using sync::fence;
using sync::order;
using sync::ParkScope;
using Word = sync::atomic<std::uint32_t>;

constexpr order rlx = order::relaxed;
constexpr order acq = order::acquire;
constexpr order rel = order::release;
constexpr order acq_rel = order::acq_rel;
constexpr order sc = order::seq_cst;
constexpr std::uint32_t all_waiters = ~std::uint32_t{0};

void park(const Word& word, std::uint32_t expected) {
  sync::park(word, expected, sync::no_deadline, ParkScope::process);
}
void unpark(const Word& word, std::uint32_t most) { sync::unpark(word, most, ParkScope::process); }

// ---- Rings -------------------------------------------------------------------------------------

// A producer loads its position, then the consumer overtakes it: the distance runs over, and a
// ring with one item of two is called full.
template <bool wrong>
void distance_runs_over() {
  Word pushed(0);
  Word popped(0);
  Thread passing_through([&] {
    pushed.store(1, rlx);
    popped.store(1, rel);
  });
  const std::uint32_t mine = pushed.load(rlx);
  const std::uint32_t used = mine - popped.load(acq);
  const bool is_full = wrong ? used >= 2 : static_cast<std::int32_t>(used) >= 2;
  check(!is_full, "there is room");
}

// `continue` in a do-while jumps to the condition, which claims the place that was not free.
template <bool wrong>
bool push_into_pair(sync::cell<int> (&items)[2], Word (&states)[2], Word& tail, int item) {
  std::uint32_t at = tail.load(rlx);
  for (bool claimed = false; !claimed;) {
    const bool is_free = states[at % 2].load(acq) == at;
    if (!is_free && !wrong) return false;
    claimed = tail.compare_exchange_weak(at, at + 1, rlx, rlx);
  }
  items[at % 2].write() = item;
  states[at % 2].store(at + 1, rel);
  return true;
}

template <bool wrong>
void claims_a_taken_place() {
  sync::cell<int> items[2];
  Word states[2] = {Word(0), Word(1)};
  Word tail(0);
  push_into_pair<wrong>(items, states, tail, 1);
  push_into_pair<wrong>(items, states, tail, 2);
  Thread producer([&] { push_into_pair<wrong>(items, states, tail, 3); });
  if (states[0].load(acq) == 1) check(items[0].read() == 1, "the oldest item is still there");
}

// A producer killed between its claim and its publication stops those behind it, unless each
// producer has places of its own.
template <bool wrong>
void killed_between_claim_and_publication() {
  Word published[2] = {Word(0), Word(0)};
  Word claims(0);
  const auto push = [&](std::uint32_t producer) {
    const std::uint32_t at = wrong ? claims.fetch_add(1, rlx) : producer;
    published[at].store(1, rel);
  };
  Process process([&] { push(0); });
  process.wait();
  push(1);
  // The consumer takes items in the order of their places, or from each producer's own.
  while (published[wrong ? 0 : 1].load(acq) == 0) sync::pause();
}

// The item is published before it is written, or by a store that orders nothing.
template <bool wrong>
void published_without_release() {
  sync::cell<int> item;
  Word tail(0);
  Thread producer([&] {
    item.write() = 1;
    tail.store(1, wrong ? rlx : rel);
  });
  if (tail.load(acq) == 1) check(item.read() == 1, "the item is whole");
}

template <bool wrong>
void taken_without_acquire() {
  sync::cell<int> item;
  Word tail(0);
  Thread producer([&] {
    item.write() = 1;
    tail.store(1, rel);
  });
  if (tail.load(wrong ? rlx : acq) == 1) check(item.read() == 1, "the item is whole");
}

// A place is given back before its item has been read.
template <bool wrong>
void given_back_without_release() {
  sync::cell<int> item;
  Word state(0);
  Thread producer([&] {
    while (state.load(acq) != 1) sync::pause();
    item.write() = 2;
  });
  (void)item.read();
  state.store(1, wrong ? rlx : rel);
}

// ---- Claims ------------------------------------------------------------------------------------

// Rows claimed by a counter: the row of a killed worker is never computed by those who go on
// counting. Each row's own state tells what is left.
template <bool wrong>
void row_of_a_killed_worker() {
  constexpr std::uint32_t rows = 2;
  constexpr std::uint32_t is_done = 9;
  Word next(0);
  Word states[rows] = {Word(0), Word(0)};
  Process worker([&] {
    for (std::uint32_t row; (row = next.fetch_add(1, rlx)) < rows;) states[row].store(is_done, rel);
  });
  worker.wait();
  const std::uint32_t first_left = wrong ? next.load(rlx) : 0;
  for (std::uint32_t row = first_left; row < rows; ++row) {
    if (states[row].load(rlx) != is_done) states[row].store(is_done, rlx);
  }
  for (const Word& state : states) check(state.load(rlx) == is_done, "each row is computed");
}

// The same claims, and a master that waits until all rows have been counted: for ever, once a
// worker was killed. Only the kernel's word of the death ends such a wait.
template <bool wrong>
void master_waits_for_a_killed_worker() {
  constexpr std::uint32_t rows = 2;
  Word next(0);
  Word done(0);
  Process worker([&] {
    while (next.fetch_add(1, rlx) < rows) {
      done.fetch_add(1, rel);
      unpark(done, all_waiters);
    }
  });
  if (!wrong) worker.wait();
  for (std::uint32_t seen; wrong && (seen = done.load(acq)) < rows;) park(done, seen);
}

// ---- A stack of free nodes ---------------------------------------------------------------------

// Nodes 1 and 2; the upper half of the head counts, if it is right.
template <bool wrong>
class FreeList {
 public:
  std::uint32_t pop() {
    std::uint64_t head = head_.load(acq);
    for (;;) {
      const auto node = static_cast<std::uint32_t>(head);
      if (node == 0) return 0;
      const std::uint64_t next = next_[node].load(rlx) | counted(head);
      if (head_.compare_exchange_strong(head, next, acq_rel, acq)) return node;
    }
  }
  void push(std::uint32_t node) {
    std::uint64_t head = head_.load(rlx);
    do {
      next_[node].store(static_cast<std::uint32_t>(head), rlx);
    } while (!head_.compare_exchange_strong(head, node | counted(head), rel, rlx));
  }

 private:
  static std::uint64_t counted(std::uint64_t head) { return wrong ? 0 : ((head >> 32) + 1) << 32; }
  Word next_[3] = {Word(0), Word(2), Word(0)};
  sync::atomic<std::uint64_t> head_{1};
};

template <bool wrong>
void node_comes_back() {
  FreeList<wrong> list;
  Word holders[3] = {Word(0), Word(0), Word(0)};
  const auto take = [&] {
    const std::uint32_t node = list.pop();
    if (node != 0) check(holders[node].exchange(1, rlx) == 0, "a node has one holder");
    return node;
  };
  Thread other([&] {
    const std::uint32_t first = take();
    take();  // and keeps it
    if (first == 0) return;
    holders[first].store(0, rlx);
    list.push(first);
  });
  take();
  take();
}

// ---- Going to sleep ----------------------------------------------------------------------------

// The flag that tells workers to go is set after they were woken to look at it.
template <bool wrong>
void exit_flag_after_wake_up() {
  Word epoch(0);
  Word leave(0);
  Thread worker([&] {
    for (;;) {
      const std::uint32_t seen = epoch.load(acq);
      if (leave.load(acq) == 1) return;
      park(epoch, seen);
    }
  });
  if (!wrong) leave.store(1, rel);
  epoch.fetch_add(1, rel);
  unpark(epoch, all_waiters);
  if (wrong) leave.store(1, rel);
}

// A semaphore whose waiter goes to sleep on whatever value it finds, also on a token.
template <bool wrong>
void sleeps_beside_a_token() {
  Word tokens(1);
  const auto acquire = [&] {
    for (;;) {
      std::uint32_t seen = tokens.load(acq);
      if (seen > 0 && tokens.compare_exchange_strong(seen, seen - 1, acq, rlx)) return;
      park(tokens, wrong ? tokens.load(rlx) : 0);
    }
  };
  Thread first(acquire);
  Thread second(acquire);
  if (tokens.fetch_add(1, rel) == 0) unpark(tokens, 1);
}

// Waiters are counted, so that a notification costs nothing while nobody waits. What can be left
// out: the look after being counted, and either of the fences between.
enum class Gate { whole, no_second_look, no_fence_in_wait, no_fence_in_notify };

template <Gate fault>
void wait_and_notify() {
  Word ready(0);
  Word epoch(0);
  Word waiters(0);
  Thread notifier([&] {
    ready.store(1, rlx);
    if (fault != Gate::no_fence_in_notify) fence(sc);
    if (waiters.load(rlx) == 0) return;
    epoch.fetch_add(1, acq_rel);
    unpark(epoch, all_waiters);
  });
  while (ready.load(rlx) == 0) {
    waiters.fetch_add(1, rlx);
    if (fault != Gate::no_fence_in_wait) fence(sc);
    const std::uint32_t seen = epoch.load(acq);
    if (fault == Gate::no_second_look || ready.load(rlx) == 0) park(epoch, seen);
    waiters.fetch_sub(1, rlx);
  }
}

// ---- Others ------------------------------------------------------------------------------------

// The owner's end of a stealing deque: without its fence both take the last item.
template <bool wrong>
void last_item_is_stolen_and_popped() {
  Word top(0);
  Word bottom(2);
  Word taken[2] = {Word(0), Word(0)};
  const auto take = [&](std::uint32_t item) {
    check(taken[item].exchange(1, rlx) == 0, "an item is taken once");
  };
  Thread thief([&] {
    for (int i = 0; i < 2; ++i) {
      std::uint32_t t = top.load(acq);
      fence(sc);
      if (t < bottom.load(acq) && top.compare_exchange_strong(t, t + 1, sc, rlx)) take(t);
    }
  });
  const std::uint32_t last = bottom.load(rlx) - 1;
  bottom.store(last, rlx);
  if (!wrong) fence(sc);
  std::uint32_t t = top.load(rlx);
  if (t < last) {
    take(last);
  } else {
    if (t == last && top.compare_exchange_strong(t, t + 1, sc, rlx)) take(last);
    bottom.store(last + 1, rlx);
  }
}

// The thread that lets go last destroys what the others have written.
template <bool wrong>
void last_reference() {
  Word references(2);
  sync::cell<int> object;
  const auto use_and_let_go = [&](int value) {
    if (value != 0) object.write() = value;
    if (references.fetch_sub(1, wrong ? rlx : acq_rel) == 1) object.write() = -1;
  };
  Thread other([&] { use_and_let_go(0); });
  use_and_let_go(1);
}

// A lock that is let go by a store that orders nothing.
template <bool wrong>
void unlocked_without_release() {
  Word locked(0);
  sync::cell<int> sum(0);
  const auto add = [&] {
    while (locked.exchange(1, acq) == 1) sync::pause();
    sum.write() += 1;
    locked.store(0, wrong ? rlx : rel);
  };
  Thread other(add);
  add();
}

// A reader that retries if the version changed, without a fence before its second look.
template <bool wrong>
void torn_snapshot() {
  Word version(0);
  Word halves[2] = {Word(0), Word(0)};
  Thread writer([&] {
    version.store(1, rlx);
    fence(rel);
    for (Word& half : halves) half.store(1, rlx);
    version.store(2, rel);
  });
  const std::uint32_t before = version.load(acq);
  const std::uint32_t first = halves[0].load(rlx);
  const std::uint32_t second = halves[1].load(rlx);
  if (!wrong) fence(acq);
  if (before % 2 == 0 && version.load(rlx) == before) check(first == second, "not torn");
}

// A pointer that is tested without an order before it is followed.
template <bool wrong>
void made_on_first_use() {
  Word made(0);
  Word lock(0);
  sync::cell<int> object;
  const auto use = [&] {
    if (made.load(wrong ? rlx : acq) == 0) {
      while (lock.exchange(1, acq) == 1) sync::pause();
      if (made.load(rlx) == 0) {
        object.write() = 1;
        made.store(1, rel);
      }
      lock.store(0, rel);
    }
    check(object.read() == 1, "the object is whole");
  };
  Thread other(use);
  use();
}

// ---- The table ---------------------------------------------------------------------------------

struct Known {
  const char* name;
  Fault fault;
  Fault on_x86;              // plain data is not looked at there
  void (*wrong)();
  void (*right)();
  std::uint64_t executions;  // within which it is found
  unsigned deaths = 0;
};

std::ostream& operator<<(std::ostream& out, const Known& known) { return out << known.name; }

#define KNOWN(name, fault, on_x86, ...) \
  {#name, Fault::fault, Fault::on_x86, name<true>, name<false>, __VA_ARGS__}

const Known known_faults[] = {
    KNOWN(distance_runs_over, assertion, assertion, 100),
    KNOWN(claims_a_taken_place, race, assertion, 10),
    KNOWN(killed_between_claim_and_publication, livelock, livelock, 100, 1),
    KNOWN(published_without_release, race, none, 10),
    KNOWN(taken_without_acquire, race, none, 10),
    KNOWN(given_back_without_release, race, none, 10),
    KNOWN(row_of_a_killed_worker, assertion, assertion, 100, 1),
    KNOWN(master_waits_for_a_killed_worker, deadlock, deadlock, 1000, 1),
    KNOWN(node_comes_back, assertion, assertion, 10'000),
    KNOWN(exit_flag_after_wake_up, deadlock, deadlock, 100),
    KNOWN(sleeps_beside_a_token, deadlock, deadlock, 10'000),
    {"no_second_look", Fault::deadlock, Fault::deadlock, wait_and_notify<Gate::no_second_look>,
     wait_and_notify<Gate::whole>, 100},
    {"no_fence_in_wait", Fault::deadlock, Fault::none, wait_and_notify<Gate::no_fence_in_wait>,
     wait_and_notify<Gate::whole>, 1000},
    {"no_fence_in_notify", Fault::deadlock, Fault::deadlock,
     wait_and_notify<Gate::no_fence_in_notify>, wait_and_notify<Gate::whole>, 1000},
    KNOWN(last_item_is_stolen_and_popped, assertion, assertion, 10'000),
    KNOWN(last_reference, race, none, 10),
    KNOWN(unlocked_without_release, race, none, 10),
    KNOWN(torn_snapshot, assertion, none, 1000),
    KNOWN(made_on_first_use, race, none, 100),
};

class KnownFault : public testing::TestWithParam<Known> {
 protected:
  static explore::Result explore(void (*program)(), Memory memory) {
    return explore::run({.memory = memory, .deviations = 3, .deaths = GetParam().deaths}, program);
  }
};

TEST_P(KnownFault, is_found) {
  const auto result = explore(GetParam().wrong, Memory::cpp);
  EXPECT_EQ(result.fault, GetParam().fault) << result.report();
  EXPECT_LE(result.executions, GetParam().executions);
}

TEST_P(KnownFault, shows_on_x86_or_not) {
  const auto result = explore(GetParam().wrong, Memory::x86);
  EXPECT_EQ(result.fault, GetParam().on_x86) << result.report();
}

TEST_P(KnownFault, is_not_found_in_the_corrected_program) {
  for (const Memory memory : {Memory::cpp, Memory::x86, Memory::sequential}) {
    const auto result = explore(GetParam().right, memory);
    EXPECT_TRUE(result.ok()) << result.report();
    EXPECT_GT(result.executions, 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, KnownFault, testing::ValuesIn(known_faults),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
