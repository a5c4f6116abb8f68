// SPDX-License-Identifier: MIT
//
// Histories of queues: the checker on histories whose answer is known, on a wrong queue, and on
// MpmcRing with what docs/design/rings.md says about `full` and `empty`; and on RendezvousChannel,
// whose pushes and pops happen two by two.
#include "explore/linearizable.hpp"

#include <gtest/gtest.h>
#include <explore/engine/explore.hpp>
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/rendezvous_channel.hpp>
#include <handoff/sync/internal/atomic.hpp>

#include <algorithm>
#include <vector>

namespace {

using namespace handoff;
using explore::Fault;
using explore::Thread;
using sync::order;

struct QueueCall {
  bool is_push = false;
  int item = 0;
  bool done = false;  // otherwise it said `full` or `empty`
};
using Call = test::Timed<QueueCall>;
using Calls = std::vector<Call>;
using Items = std::vector<int>;

// A queue of `capacity` items, first in, first out.
auto fifo(std::size_t capacity) {
  return [capacity](Items& items, const Call& timed) {
    const QueueCall& call = timed.call;
    if (call.is_push) {
      if (!call.done) return items.size() == capacity;
      items.push_back(call.item);
      return items.size() <= capacity;
    }
    if (!call.done) return items.empty();
    if (items.empty() || items.front() != call.item) return false;
    items.erase(items.begin());
    return true;
  };
}

// The rings' rule: `empty` may also be said while a push is under way, `full` while a pop is.
auto ring_rule(std::size_t capacity, const Calls& calls) {
  return [exact = fifo(capacity), &calls](Items& items, const Call& timed) {
    if (timed.call.done) return exact(items, timed);
    const auto is_partner = [&](const Call& other) {
      return other.call.is_push != timed.call.is_push && other.overlaps(timed);
    };
    return exact(items, timed) || std::any_of(calls.begin(), calls.end(), is_partner);
  };
}

bool is_fifo(const Calls& calls) { return test::linearizable(calls, Items{}, fifo(2)); }

Call push(int item, unsigned begin, unsigned end, bool done = true) {
  return {{true, item, done}, begin, end};
}
Call pop(int item, unsigned begin, unsigned end, bool done = true) {
  return {{false, item, done}, begin, end};
}

TEST(Linearizable, histories_of_a_queue) {
  EXPECT_TRUE(is_fifo({push(1, 0, 1), push(2, 2, 3), pop(1, 4, 5), pop(2, 6, 7)}));
  EXPECT_TRUE(is_fifo({push(1, 0, 3), push(2, 1, 2), pop(2, 4, 5), pop(1, 6, 7)}));
  EXPECT_TRUE(is_fifo({push(1, 0, 2), pop(0, 1, 3, false), pop(1, 4, 5)}));
  EXPECT_TRUE(is_fifo({pop(1, 0, 3), push(1, 1, 2)}));
}

TEST(Linearizable, histories_of_no_queue) {
  EXPECT_FALSE(is_fifo({push(1, 0, 1), push(2, 2, 3), pop(2, 4, 5)})) << "overtaken";
  EXPECT_FALSE(is_fifo({push(1, 0, 1), pop(1, 2, 3), pop(1, 4, 5)})) << "twice";
  EXPECT_FALSE(is_fifo({pop(1, 0, 1), push(1, 2, 3)})) << "before it was there";
  EXPECT_FALSE(is_fifo({push(1, 0, 1), pop(0, 2, 3, false)})) << "lost";
  EXPECT_FALSE(is_fifo({push(1, 0, 1), push(2, 2, 3, false)})) << "full with one item of two";
  EXPECT_FALSE(is_fifo({push(1, 0, 1), push(2, 2, 3), push(3, 4, 5)})) << "three items of two";
}

// Two producers read the same tail, and one item overwrites the other.
class WrongQueue {
 public:
  bool push(int item) {
    const unsigned at = tail_.load(order::relaxed);
    items_[at].store(item, order::relaxed);
    tail_.store(at + 1, order::release);
    return true;
  }
  bool pop(int& item) {
    const unsigned at = head_.load(order::relaxed);
    if (at == tail_.load(order::acquire)) return false;
    item = items_[at].load(order::relaxed);
    head_.store(at + 1, order::relaxed);
    return true;
  }

 private:
  sync::atomic<int> items_[2] = {sync::atomic<int>(0), sync::atomic<int>(0)};
  sync::atomic<unsigned> head_{0};
  sync::atomic<unsigned> tail_{0};
};

struct Ring {
  bool push(int item) { return ring.try_push(item) == Status::ok; }
  bool pop(int& item) { return ring.try_pop(item) == Status::ok; }
  MpmcRing<int> ring{2};
};

// Two producers and a consumer with one call each, and two more pops when they are done; then
// `verdict` on the history. Sequentially consistent, since only there "had ended before that one
// began" is known to all: a thread that nobody has told of a push may find nothing.
template <class Queue, class Verdict>
explore::Result explore_history(Verdict verdict) {
  test::History<QueueCall> history;
  return explore::run({.memory = explore::Memory::sequential, .deviations = 4}, [&] {
    history.clear();
    Queue queue;
    const auto push_one = [&](int item) {
      history.call({true, item}, [&](QueueCall& call) { call.done = queue.push(item); });
    };
    const auto pop_one = [&] {
      history.call({false}, [&](QueueCall& call) { call.done = queue.pop(call.item); });
    };
    {
      Thread first([&] { push_one(1); });
      Thread second([&] { push_one(2); });
      Thread third([&] { pop_one(); });
    }
    pop_one();
    pop_one();
    explore::check(verdict(history.calls()), "the history is one of a queue");
  });
}

bool keeps_ring_rule(const Calls& calls) {
  return test::linearizable(calls, Items{}, ring_rule(2, calls));
}

TEST(Linearizable, a_queue_that_loses_items_is_found) {
  const auto result = explore_history<WrongQueue>(keeps_ring_rule);
  EXPECT_EQ(result.fault, Fault::assertion) << result.report();
  EXPECT_LE(result.executions, 10'000U);
}

TEST(Linearizable, mpmc_ring_keeps_its_rule) {
  const auto result = explore_history<Ring>(keeps_ring_rule);
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_GT(result.executions, 100U);
}

// That the rule of the ring is weaker than a queue's is no excuse made up for the test: a pop can
// say `empty` after a push that is done, while an earlier one is under way.
TEST(Linearizable, mpmc_ring_is_weaker_than_a_queue) {
  const auto result = explore_history<Ring>(is_fifo);
  EXPECT_EQ(result.fault, Fault::assertion) << result.report();
}

// A rendezvous: what a push offers is taken before anything else happens. A call that failed left
// nothing.
bool meets(Items& offered, const Call& timed) {
  const QueueCall& call = timed.call;
  if (!call.done) return offered.empty();
  if (call.is_push) {
    offered.push_back(call.item);
    return offered.size() == 1;
  }
  if (offered.empty() || offered.front() != call.item) return false;
  offered.clear();
  return true;
}
// ... and the two calls of an item overlap: nothing stays offered.
bool is_rendezvous(const Calls& calls) {
  const auto has_met = [&](const Call& call) {
    return !call.call.done || std::any_of(calls.begin(), calls.end(), [&](const Call& other) {
      return other.call.done && other.call.is_push != call.call.is_push &&
             other.call.item == call.call.item && other.overlaps(call);
    });
  };
  return std::all_of(calls.begin(), calls.end(), has_met) &&
         test::linearizable(calls, Items{}, meets);
}

TEST(Linearizable, histories_of_a_rendezvous) {
  EXPECT_TRUE(is_rendezvous({push(1, 0, 2), pop(1, 1, 3), push(2, 4, 5, false)}));
  EXPECT_TRUE(is_rendezvous({push(1, 0, 3), push(2, 1, 5), pop(2, 2, 4), pop(1, 2, 6)}));
  EXPECT_FALSE(is_rendezvous({push(1, 0, 1), pop(1, 2, 3)})) << "stored";
  EXPECT_FALSE(is_rendezvous({push(1, 0, 2)})) << "lost";
  EXPECT_FALSE(is_rendezvous({push(1, 0, 4), pop(1, 1, 2), pop(1, 3, 5)})) << "twice";
  EXPECT_FALSE(is_rendezvous({push(1, 0, 3, false), pop(1, 1, 2)})) << "taken, and kept";
}

// Two timed pushes against a timed pop and one that does not wait.
TEST(Linearizable, rendezvous_channel_keeps_its_rule) {
  test::History<QueueCall> history;
  const auto result = explore::run({.memory = explore::Memory::sequential, .deviations = 2}, [&] {
    history.clear();
    RendezvousChannel<int> channel;
    const auto push_one = [&](int item) {
      history.call({true, item}, [&](QueueCall& call) {
        call.done = channel.push(item, sync::Deadline{}) == Status::ok;
      });
    };
    {
      Thread first([&] { push_one(1); });
      Thread second([&] { push_one(2); });
      Thread third([&] {
        history.call({false}, [&](QueueCall& call) {
          call.done = channel.pop(call.item, sync::Deadline{}) == Status::ok;
        });
      });
      history.call({false},
                   [&](QueueCall& call) { call.done = channel.try_pop(call.item) == Status::ok; });
    }
    explore::check(is_rendezvous(history.calls()), "the history is one of a rendezvous");
  });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_GT(result.executions, 100U);
}

}  // namespace
