// SPDX-License-Identifier: MIT
//
// EventQueue where anything fails: for every k the k-th allocation, hash, comparison, copy of a key
// or of an argument, listener, visitor or predicate, in every kind of queue and by every way to
// drain it. Afterwards each accepted event was delivered or is in the books, nothing waits, nothing
// is left alive, and a bounded queue takes as many as at first.
#include "books/event_books.hpp"
#include "support/event_queue_options.hpp"
#include "support/failing.hpp"
#include "support/next.hpp"
#include "support/policies.hpp"
#include "support/test.hpp"

namespace event_queue_failures_test { namespace {

using namespace handoff;
using namespace test;

enum class Fault : std::uint8_t { hash, compare, key, argument, listener, visitor, predicate };
constexpr Fault kFaults[] = {Fault::hash,     Fault::compare, Fault::key,      Fault::argument,
                             Fault::listener, Fault::visitor, Fault::predicate};

struct AsAsked : std::runtime_error {
  AsAsked() : std::runtime_error("as asked") {}
};

// Throws in the use after the next `left` of one kind, once.
struct Plan {
  std::optional<Fault> kind;
  int left = 0;
  bool happened = false;
};
Plan plan;
void may_fail(Fault fault) {
  if (plan.kind != fault || plan.left-- != 0) return;
  plan.happened = true;
  throw AsAsked();
}

int alive = 0;  // keys and arguments

template <Fault kKind>
struct Fragile {
  explicit Fragile(int number) : value(number) { ++alive; }
  Fragile(const Fragile& other) : value(other.value) {
    may_fail(kKind);
    ++alive;
  }
  ~Fragile() { --alive; }
  Fragile& operator=(const Fragile&) = delete;
  friend bool operator==(const Fragile& a, const Fragile& b) {
    if (kKind == Fault::key) may_fail(Fault::compare);
    return a.value == b.value;
  }

  int value;
};
using Key = Fragile<Fault::key>;
struct Argument : Fragile<Fault::argument> {
  using Fragile::Fragile;
  std::byte rest[2500] = {};  // six of them fill a chunk
};

struct Hashes : EventPolicies {
  struct Hash {
    std::size_t operator()(const Key& key) const {
      may_fail(Fault::hash);
      return static_cast<std::size_t>(key.value % 2);  // so that keys are compared
    }
  };
};
struct Coalesces : Hashes {
  static constexpr bool coalesce = true;
};
template <class Base>
struct Ordered : Base {
  static int priority(const Key& key, const Argument&) { return key.value; }
};
template <class Base, OnFull kOnFull>
using Bounded = test::Bounded<kOnFull, Base>;
template <class Base>
struct Late : Base {
  static constexpr bool expires = true;
};

constexpr int kKeys = 4;
constexpr std::size_t kCapacity = 10;

template <class Policies>
using QueueOf = test::Audited<EventQueue<Key, void(const Argument&), Policies>>;

// What a round of drains did with an event.
struct Seen {
  std::vector<int> heard;  // to the end
  void hear(const Argument& argument, Fault by) {
    may_fail(by);
    heard.push_back(argument.value);
  }
};

// All the ways to drain; each takes some of what is there.
template <class Queue>
using Drain = std::function<void(Queue&, Seen&)>;

template <class Queue>
std::vector<std::pair<const char*, Drain<Queue>>> drains() {
  const auto even = [](const Key&, const Argument& argument) {
    may_fail(Fault::predicate);
    return argument.value % 2 == 0;
  };
  const auto visitor = [](Seen& seen) {
    return [&seen](const Key&, const Argument& argument) { seen.hear(argument, Fault::visitor); };
  };
  return {
      {"to the listeners", [](Queue& queue, Seen&) { queue.drain(); }},
      {"one to the listeners", [](Queue& queue, Seen&) { queue.drain(1); }},
      {"chosen ones", [=](Queue& queue, Seen&) { queue.drain_if(take_if(even)); }},
      {"up to one", [=](Queue& queue, Seen&) { queue.drain_if(take_until(even)); }},
      {"to a visitor", [=](Queue& queue, Seen& seen) { queue.drain(visitor(seen)); }},
      {"one to a visitor", [=](Queue& queue, Seen& seen) { queue.drain(visitor(seen), 1); }},
      {"chosen ones to a visitor",
       [=](Queue& queue, Seen& seen) { queue.drain(show_if(even, visitor(seen))); }},
      {"up to one, to a visitor",
       [=](Queue& queue, Seen& seen) { queue.drain(show_until(even, visitor(seen))); }},
      {"visitor that stops",
       [](Queue& queue, Seen& seen) {
         bool first = true;
         queue.drain([&](const Key&, const Argument& argument) {
           if (!std::exchange(first, false)) return Next::stop;
           seen.hear(argument, Fault::visitor);
           return Next::take;
         });
       }},
      {"peek and take",
       [](Queue& queue, Seen& seen) {
         (void)queue.peek();
         if (const auto event = queue.take()) {
           seen.heard.push_back(std::get<0>(event->arguments).value);
         }
       }},
      {"trim",
       [](Queue& queue, Seen&) {
         queue.drain(1);
         queue.trim();
       }},
  };
}

// Runs `call`; true unless it failed as asked.
template <class F>
bool attempt(F&& call) {
  try {
    call();
    return true;
  } catch (const AsAsked&) {
  } catch (const std::bad_alloc&) {
  }
  return false;
}

// Enqueues and drains by turns, with whatever fails on the way, and looks at what is left.
template <class Policies>
class Round {
 public:
  using Queue = QueueOf<Policies>;
  static constexpr OnFull kFull = test::full_of<Policies>(OnFull::grow);

  Round() {  // what the test itself writes down does not fail
    accepted_.reserve(100);
    seen_.heard.reserve(100);
  }

  void run(const Drain<Queue>& drain) {
    std::optional<Queue> queue;
    if (!attempt([&] { queue.emplace(test::room_for<Queue>(kCapacity, kFull)); })) {
      memory_failed_ = test::stop_failing(Call::allocation);
      return;
    }
    for (int key = 0; key < kKeys; ++key) {
      all_listen_ &= attempt([&] {
        queue->append_listener(
            Key(key), [this](const Argument& argument) { seen_.hear(argument, Fault::listener); });
      });
    }
    for (int turn = 0; turn < 3; ++turn) {
      for (int i = 0; i < 7; ++i) enqueue(*queue, next_++);
      attempt([&] { drain(*queue, seen_); });
    }
    enqueue_batch(*queue);
    attempt([&] { drain(*queue, seen_); });
    attempt([&] { queue->drain_if(take_if([](const Argument&) { return false; })); });
    enqueue(*queue, next_++);

    plan.kind = {};
    finish(*queue);
  }

  bool memory_failed() const { return memory_failed_; }

 private:
  // Nothing fails any more.
  void finish(Queue& queue) {
    memory_failed_ = test::stop_failing(Call::allocation);
    queue.drain([this](const Key&, const Argument& a) { seen_.heard.push_back(a.value); });
    check(queue);
    if constexpr (kFull != OnFull::grow) check_room(queue);
  }

  void enqueue(Queue& queue, int value) {
    attempt([&] {
      const Key key(value % kKeys);
      const Argument argument(value);
      if (queue.enqueue(key, argument) == Status::ok) accepted_.push_back(value);
    });
  }

  void enqueue_batch(Queue& queue) {
    using Event = typename Queue::Event;
    std::vector<Event> events;
    std::size_t count = 0;
    const auto before = queue.tally().accepted;
    if (!attempt([&] {
          events.reserve(3);
          for (int i = 0; i < 3; ++i) {
            events.emplace_back(std::in_place, Key((next_ + i) % kKeys), Argument(next_ + i));
          }
        })) {
      return;
    }
    attempt([&] { count = queue.enqueue_batch(events); });
    // An exception ends the batch: those before it are in, and no number says so.
    count = std::max<std::size_t>(count, queue.tally().accepted - before);
    for (std::size_t i = 0; i < count; ++i) accepted_.push_back(next_ + static_cast<int>(i));
    next_ += 3;
  }

  void check(Queue& queue) const {
    const Tally tally = queue.tally();
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(tally.pending, 0U);
    EXPECT_EQ(tally.accepted, accepted_.size());
    EXPECT_LE(tally.failed, 1U) << "there was one failure at most";
    const std::set<int> heard(seen_.heard.begin(), seen_.heard.end());
    EXPECT_EQ(heard.size(), seen_.heard.size()) << "heard twice";
    EXPECT_TRUE(queue.empty());
    if constexpr (!requires { Policies::coalesce; }) {
      EXPECT_EQ(tally.cancelled, 0U);
    }
    EXPECT_LE(heard.size(), tally.done);
    if (all_listen_) {
      EXPECT_EQ(heard.size(), tally.done);
    }
    if (all_listen_ && tally.failed == 0 && tally.expired == 0) check_newest(heard);
    for (const int value : heard) {
      EXPECT_NE(std::find(accepted_.begin(), accepted_.end(), value), accepted_.end()) << value;
    }
    check_order();
  }

  // None replaces the newest event of a key.
  void check_newest(const std::set<int>& heard) const {
    std::map<int, int> newest;
    for (const int value : accepted_) newest[value % kKeys] = value;
    for (const auto& [key, value] : newest) EXPECT_TRUE(heard.contains(value)) << value;
  }

  // Events of one key come in the order of enqueueing.
  void check_order() const {
    std::map<int, int> last;
    for (const int value : seen_.heard) {
      const auto [at, is_first] = last.emplace(value % kKeys, value);
      EXPECT_TRUE(is_first || at->second < value) << at->second << " before " << value;
      at->second = value;
    }
  }

  static void check_room(Queue& queue) {
    for (std::size_t i = 0; i < kCapacity; ++i) {
      EXPECT_EQ(queue.enqueue(Key(static_cast<int>(i)), Argument(0)), Status::ok) << i;
    }
    const auto status = queue.enqueue(Key(static_cast<int>(kCapacity)), Argument(0));
    if (kFull == OnFull::reject) {
      EXPECT_EQ(status, Status::full);
    } else {
      EXPECT_EQ(queue.tally().pending, kCapacity);
    }
  }

  Seen seen_;
  std::vector<int> accepted_;
  bool all_listen_ = true;
  bool memory_failed_ = false;
  int next_ = 0;
};

template <class Policies>
class EventQueueFailures : public testing::Test {};
using Kinds = testing::Types<Hashes, Coalesces, Ordered<Hashes>, Ordered<Coalesces>,
                             Bounded<Hashes, OnFull::reject>, Bounded<Coalesces, OnFull::reject>,
                             Bounded<Ordered<Coalesces>, OnFull::reject>,
                             Bounded<Hashes, OnFull::overwrite_oldest>,
                             Bounded<Coalesces, OnFull::overwrite_oldest>, Late<Coalesces>>;
TYPED_TEST_SUITE(EventQueueFailures, Kinds);

TYPED_TEST(EventQueueFailures, TheKthUseThatThrowsLosesNothing) {
  for (const auto& [name, drain] : drains<QueueOf<TypeParam>>()) {
    for (const Fault fault : kFaults) {
      for (int k = 0;; ++k) {
        SCOPED_TRACE(testing::Message()
                     << name << ", fault " << static_cast<int>(fault) << ", use number " << k);
        ASSERT_LT(k, 10'000) << "a use failed in each of so many runs";
        plan = {.kind = fault, .left = k};
        Round<TypeParam>().run(drain);
        EXPECT_EQ(alive, 0);
        if (testing::Test::HasFailure()) return;
        if (!plan.happened) break;
      }
    }
  }
}

TYPED_TEST(EventQueueFailures, TheKthAllocationThatFailsLosesNothing) {
  for (const auto& [name, drain] : drains<QueueOf<TypeParam>>()) {
    bool failed = true;
    for (int k = 0; failed; ++k) {
      SCOPED_TRACE(testing::Message() << name << ", allocation number " << k);
      ASSERT_LT(k, 10'000) << "one failed in each of so many runs";
      Round<TypeParam> round;
      test::fail_after(Call::allocation, k, 0);
      round.run(drain);
      failed = round.memory_failed();
      EXPECT_EQ(alive, 0);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// A producer that finds no memory for another chunk gives back the room that it has taken.
TEST(EventQueueFailures, RoomWithoutMemoryIsGivenBack) {
  constexpr std::size_t capacity = 3000;
  QueueOf<Bounded<Hashes, OnFull::reject>> queue({.capacity = capacity});
  std::size_t accepted = 0;
  for (int failures = 0; failures < 20; ++failures) {
    test::fail_after(Call::allocation, 0, 0);
    bool failed = false;
    while (!failed && accepted < capacity) {
      failed = !attempt([&] {
        if (queue.enqueue(Key(0), Argument(0)) == Status::ok) ++accepted;
      });
    }
    const bool refused = test::stop_failing(Call::allocation);
    EXPECT_EQ(refused, failed);
  }
  while (queue.enqueue(Key(0), Argument(0)) == Status::ok) ++accepted;
  EXPECT_EQ(accepted, capacity);
  EXPECT_EQ(queue.tally().pending, capacity);
}

}}  // namespace event_queue_failures_test
