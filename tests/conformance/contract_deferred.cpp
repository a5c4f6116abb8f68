// SPDX-License-Identifier: MIT
//
// The rows of the deferred tier: what the calls of each inbox do (contract_page.hpp).
#include "conformance/contract_page.hpp"
#include "support/policies.hpp"
#include "support/test.hpp"

namespace handoff::test {
namespace {

using std::chrono::milliseconds;

// ---- Faces: `handler` gets each number that was handed over ----

using Handler = std::function<void(int)>;

template <class Policies>
struct OfEvents {
  using Queue = EventQueue<int, void(int), Policies>;
  static constexpr bool bounded = std::is_same_v<typename Queue::Options, BoundedEventQueueOptions>;

  explicit OfEvents(
      std::size_t capacity, Handler handler = [](int) {})
      : queue(options(capacity)), handle(queue.append_listener(0, std::move(handler))) {}
  static typename Queue::Options options(std::size_t capacity) {
    if constexpr (bounded) {
      return {.capacity = capacity, .on_full = full_of<Policies>()};
    } else {
      return {};
    }
  }
  Status hand_over(int number) { return queue.enqueue(0, number); }

  Queue queue;
  ScopedListener handle;
};

template <class Bus>
struct OfMessages {
  static constexpr bool bounded = true;

  explicit OfMessages(
      std::size_t capacity, Handler handler = [](int) {})
      : queue({.capacity = capacity}), handle(queue.template subscribe<int>(std::move(handler))) {}
  Status hand_over(int number) { return queue.publish(number); }

  Bus queue;
  ScopedListener handle;
};

// ---- Cells ----

template <class Face>
std::string with_no_room() {
  Face face(2);
  for (int i = 0; i < 1000; ++i) {
    const Status told = face.hand_over(i);
    if (told != Status::ok) return "the call returns " + said(told);
  }
  return "grows";
}

// What the calls say once it only stops taking.
template <class Face>
std::string once_shut() {
  Face face(4);
  (void)face.hand_over(1);
  (void)face.queue.shut();
  const std::string refused = said(face.hand_over(2));
  const Status waited = face.queue.wait(milliseconds(0));
  const bool drained = face.queue.drain() == 1;
  return "hand-overs return " + refused + "; `drain()` " +
         (drained ? "handles the rest" : "handles nothing") + "; `wait()` returns " + said(waited) +
         " while something is left, then " + said(face.queue.wait(milliseconds(0)));
}

// What a close without an argument does with what waits.
template <class Face>
std::string closing() {
  int handled = 0;
  Face face(4, [&](int) { ++handled; });
  (void)face.hand_over(1);
  const Tally tally = face.queue.close();
  if (!tally.balanced() || tally.pending != 0) return "leaves it";
  return handled == 1 ? "handles it" : "cancels it";
}

template <class Face>
std::string sizes() {
  if constexpr (Face::bounded) {
    return capacities([](std::size_t capacity) {
      Face face(capacity);
      std::size_t count = 0;
      while (face.hand_over(0) == Status::ok) ++count;
      return count;
    });
  } else {
    return "no bound";
  }
}

template <class Face>
std::string used_by() {
  constexpr int each = 500;
  std::atomic<int> handled{0};
  Face face(2048, [&](int) { ++handled; });
  std::vector<std::thread> threads;
  for (int p = 0; p < 2; ++p) {
    threads.emplace_back([&] {
      for (int i = 0; i < each; ++i) (void)face.hand_over(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  (void)face.queue.drain();
  return handled == 2 * each ? "any thread" : "lost some";
}

template <class Face>
std::string allocates() {
  Face face(64);
  return allocations([&] {
    (void)face.hand_over(0);
    (void)face.queue.drain();
  });
}

template <class Face>
std::string handler_that_throws() {
  Face face(4, [](int number) {
    if (number == 1) throw std::runtime_error("a handler");
  });
  for (int i = 1; i <= 2; ++i) (void)face.hand_over(i);
  const std::string told = outcome([&] { (void)face.queue.drain(); });
  const Tally tally = face.queue.tally();
  if (told != "a handler" || tally.failed != 1) return told;
  return std::string("its exception leaves `drain()`") +
         (tally.pending == 1 ? "; the rest stays" : "");
}

template <class Face>
std::string runs_on() {
  Caller caller;
  Face face(4, [&](int) { caller.here(); });
  (void)face.hand_over(0);
  (void)face.queue.drain();
  return caller.is_caller() ? "the thread in `drain()`" : "another thread";
}

template <class Face>
std::string in_a_child() {
  Face face(4);
  (void)face.hand_over(1);
  const auto drain = [&] { return face.queue.drain() == 1; };
  if (!child_ends(drain)) return "not to be used";
  return drain() ? "it is a copy" : "it is the same";
}

// What its end does with what was left.
template <class Face>
std::string at_its_end() {
  bool handled = false;
  {
    Face face(4, [&](int) { handled = true; });
    (void)face.hand_over(1);
  }
  return handled ? "handles the rest" : "destroys the rest";
}

template <class Face>
ContractRow row(const std::string& type, const std::string& calls) {
  return {type,
          calls,
          with_no_room<Face>(),
          once_shut<Face>(),
          closing<Face>(),
          sizes<Face>(),
          used_by<Face>(),
          allocates<Face>(),
          handler_that_throws<Face>(),
          runs_on<Face>(),
          at_its_end<Face>(),
          in_a_child<Face>()};
}

// ---- CommandBucket: recorded, sorted, dispatched; it is not closed ----

struct Sum {
  std::size_t commands = 0;
  bool throws = false;
  Caller caller;
};
struct AddOne {
  void operator()(Sum& sum) const {
    if (sum.throws) throw std::runtime_error("a handler");
    ++sum.commands;
    sum.caller.here();
  }
};
struct OfCommands {
  void record(std::size_t count) {
    auto recorder = bucket.recorder(next++);
    for (std::size_t i = 0; i < count; ++i) recorder.template add<AddOne>(i);
  }
  std::size_t dispatch() {
    bucket.sort();
    return bucket.dispatch(sum);
  }

  CommandBucket<std::uint64_t, Sum> bucket;
  std::uint64_t next = 0;
  Sum sum;
};

ContractRow command_row() {
  OfCommands many;
  many.record(10'000);
  const bool all = many.dispatch() == 10'000;

  OfCommands cleared;
  cleared.record(2);
  cleared.bucket.clear();
  const bool cancelled = cleared.bucket.tally().cancelled == 2;

  std::vector<std::thread> threads;
  OfCommands shared;
  for (std::uint64_t number = 0; number < 2; ++number) {
    threads.emplace_back([&, number] {
      auto recorder = shared.bucket.recorder(number);
      for (std::size_t i = 0; i < 100; ++i) recorder.add<AddOne>(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const bool from_any = shared.dispatch() == 200;

  OfCommands measured;
  std::string allocates;
  {
    auto recorder = measured.bucket.recorder(0);
    allocates = allocations([&] { recorder.add<AddOne>(1); });
  }

  OfCommands throwing;
  throwing.record(2);
  throwing.sum.throws = true;
  const std::string told = outcome([&] { (void)throwing.dispatch(); });
  const bool rest_stays = throwing.bucket.tally().pending == 1;

  OfCommands forked;
  forked.record(2);
  const bool in_child = child_ends([&] { return forked.dispatch() == 2; });
  const bool in_parent = forked.dispatch() == 2;

  return {"`CommandBucket`",
          "`record`, `recorder`",
          all ? "grows" : "loses some",
          "has no `shut()`",
          cancelled ? "has no `close()`; `clear()` cancels it" : "`clear()` keeps it",
          "no bound",
          from_any ? "any thread" : "lost some",
          allocates,
          told == "a handler" && rest_stays ? "its exception leaves `dispatch()`; the rest stays"
                                            : told,
          many.sum.caller.is_caller() ? "the thread in `dispatch()`" : "another thread",
          "destroys the rest",
          in_child && in_parent ? "it is a copy" : "not to be used"};
}

}  // namespace

ContractTable deferred_table() {
  return {
      "deferred",
      {"type", "calls that hand over", "when there is no room", "after `shut()`",
       "what `close()` does with the rest", "capacity", "handed over by", "a hand-over allocates",
       "a handler that throws", "handlers run on", "the destructor", "in a forked child"},
      {
          row<OfEvents<EventPolicies>>("`EventQueue`", "`enqueue`"),
          row<OfEvents<Bounded<OnFull::reject>>>("`EventQueue` with a bound", "`enqueue`"),
          row<OfMessages<MessageBus<int>>>("`MessageBus`", "`publish`, `try_publish`, `claim`"),
          row<OfMessages<LanedMessageBus<int>>>("`LanedMessageBus`",
                                                "`publish`, `try_publish`, `claim`"),
          row<OfMessages<PriorityMessageBus<int>>>("`PriorityMessageBus`",
                                                   "`publish`, `try_publish`, `claim`"),
          command_row(),
      }};
}

}  // namespace handoff::test
