// SPDX-License-Identifier: MIT
//
// Listeners of each kind, lists that grow and shrink, and tables of keys: exact sequences, while
// another thread is in a pass or about to be. What functions and keys own is the model's memory, so
// one that is not destroyed, or twice, is a fault.
#include <handoff/core/status.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/event/callback_list.hpp>
#include <handoff/event/event_dispatcher.hpp>
#include <handoff/event/event_queue.hpp>
#include <handoff/event/listener_handle.hpp>
#include <handoff/memory/internal/epochs.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "books/event_books.hpp"
#include "explore/scenario.hpp"

namespace listeners_scenarios { namespace {

using namespace handoff;
using namespace test;
using Values = std::vector<int>;
using PlainList = CallbackList<void(int)>;
using List = test::Audited<PlainList>;

// Memory that a function or a key owns.
class Owned {
 public:
  Owned() : memory_(sync::allocate(1, 1)) {}
  Owned(const Owned&) : Owned() {}
  Owned(Owned&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (memory_ != nullptr) sync::deallocate(memory_, 1, 1);
  }
  bool is_there() const { return memory_ != nullptr; }

 private:
  void* memory_;
};

// Listeners that say their name: 100 times it, and what they were called with.
class Trace {
 public:
  auto say(int name) {
    return [this, name, owned = Owned()](int value) {
      explore::check(owned.is_there(), "called while it is there");
      values_.push_back(100 * name + value);
    };
  }
  void add(int value) { values_.push_back(value); }
  Values take() { return std::exchange(values_, {}); }

 private:
  Values values_;
};

// Runs it while another thread calls a list of its own: a removal does not wait for that pass, and
// the last thread that may use the listener frees it.
template <class Script>
void beside_a_pass(Script&& script) {
  List elsewhere;
  elsewhere.append([](int) {});
  explore::Thread other([&] { elsewhere(0); });
  script();
}

// ---- A list ----

// A place in front of one that is gone, or of another list, is the end of its priority.
const LargeScenario in_front_of_none("listeners/in_front_of_none", [] {
  List list;
  Trace trace;
  beside_a_pass([&] {
    const auto gone = list.append(trace.say(0));
    list.append(trace.say(1));
    list.append(trace.say(4), {.priority = -1});
    gone.remove();
    List other;
    const auto foreign = other.append(trace.say(0));
    list.insert(gone, trace.say(2));
    list.insert(foreign, trace.say(3));
    list.insert(ListenerHandle(), trace.say(5), {.priority = -1});
    list(1);
    explore::check(!list.remove(foreign) && !list.remove(gone), "not of this list");
    explore::check(other.owns(foreign) && !list.owns(foreign), "but of the other");
  });
  explore::check(trace.take() == Values{101, 201, 301, 401, 501}, "at the ends");
});

// Many come and go: arrays that are full, and mostly dead, are replaced, and keep the order.
const LargeScenario come_and_go("listeners/come_and_go", [] {
  constexpr int kMany = 17;
  List list;
  Trace trace;
  std::vector<ListenerHandle> handles;
  for (int i = 0; i < kMany; ++i) handles.push_back(list.append(trace.say(i)));
  explore::Thread other([&] { list.append([](int) {}, {.priority = -1}).remove(); });
  for (int i = 0; i < kMany; ++i) {
    if (i % 5 != 3) explore::check(handles[static_cast<std::size_t>(i)].remove(), "once");
  }
  other.join();
  list(1);
  explore::check(trace.take() == Values{301, 801, 1301}, "those that are left, in order");
  explore::check(list.size() == 3, "their number");
  list.clear();
  explore::check(list.empty() && !handles[3].remove(), "all are gone");
  list(1);
  explore::check(trace.take().empty(), "nobody is called");
});

// Each is visited as it is there; a visitor may add and remove.
const LargeScenario visited("listeners/visited", [] {
  List list;
  Trace trace;
  std::vector<ListenerHandle> handles;
  for (int i = 0; i < 4; ++i) handles.push_back(list.append(trace.say(i)));
  handles[1].remove();
  std::size_t count = 0;
  explore::Thread other([&] { list(0); });
  list.for_each([&](const ListenerHandle& handle) {
    explore::check(handle == handles[count == 0 ? 0 : count + 1], "in order");
    if (++count == 1) handles[2].remove();
    list.append([](int) {}, {.priority = 3});
    if (count == 1) count = 2;
  });
  other.join();
  explore::check(count == 3, "not the one that went meanwhile");
  explore::check(list.size() == 4, "two more, one less");
});

const Scenario results("listeners/results", [] {
  CallbackList<int(int)> list;
  for (const int factor : {1, 2, 3}) list.append([factor](int value) { return factor * value; });
  Values seen;
  explore::Thread other([&] { list.append([](int) { return 0; }).remove(); });
  const bool all = list.visit_results(
      [&](int result) {
        seen.push_back(result);
        return result < 20;
      },
      10);
  explore::check(!all && seen == Values{10, 20}, "up to the one that ends it");
  other.join();
  explore::check(list.visit_results([](int) { return true; }, 1), "to the end");
});

struct UntilHandled : EventPolicies {
  static bool can_continue(int& value) { return ++value < 3; }
};
const Scenario can_continue("listeners/can_continue", [] {
  CallbackList<void(int&), UntilHandled> list;
  int calls = 0;
  for (int i = 0; i < 4; ++i) list.append([&](int&) { ++calls; });
  explore::Thread other([&] { list.append([](int&) {}).remove(); });
  int value = 0;
  list(value);
  other.join();
  explore::check(calls == 3 && value == 3, "asked after each");
});

// What one throws ends the pass and nothing else.
const FailingScenario throws("listeners/throws", [] {
  List list;
  Trace trace;
  for (int i = 1; i <= 3; ++i) {
    list.append([&, say = trace.say(i)](int value) mutable {
      explore::may_throw("a listener");
      say(value);
    });
  }
  bool thrown = false;
  explore::Thread other([&] { list.append([](int) {}, {.priority = 1}).remove(); });
  try {
    list(1);
  } catch (const explore::Planned&) {
    thrown = true;
  }
  other.join();
  const Values before = trace.take();
  explore::check((before == Values{101, 201, 301}) != thrown, "all of them, or up to that one");
  explore::outcome(before.size());
});

// ---- Kinds of listeners ----

// Two threads share a number of calls: there are never more, nor fewer.
const Scenario shared_calls("listeners/calls_shared", [] {
  List list;
  sync::atomic<int> calls(0);
  const auto handle = list.append(
      [&, owned = Owned()](int) {
        explore::check(owned.is_there(), "called while it is there");
        calls.fetch_add(1, sync::order::relaxed);  // order: relaxed, read after the join
      },
      {.calls = 2});
  explore::Thread other([&] { list(0); });
  list(0);
  list(0);
  other.join();
  // order: relaxed, after the join
  explore::check(calls.load(sync::order::relaxed) == 2, "as often as it was told");
  explore::check(!handle.attached() && list.empty(), "and then it is gone");
});

const LargeScenario counted("listeners/calls", [] {
  List list;
  Trace trace;
  bool was_there = true;
  ListenerHandle self;
  beside_a_pass([&] {
    self = list.append(
        [&, say = trace.say(1)](int value) mutable {
          was_there = self.attached();
          say(value);
          if (value == 2) list(7);  // there is none left for this pass
        },
        {.calls = 2});
    list.append(trace.say(2));
    list(1);
    explore::check(was_there, "before its last call");
    list(2);
    explore::check(!was_there && !self.attached(), "in its last call");
    list(3);
  });
  explore::check(trace.take() == Values{101, 201, 102, 207, 202, 203}, "twice");
});

const LargeScenario conditions("listeners/until", [] {
  List list;
  Trace trace;
  beside_a_pass([&] {
    const auto handle = list.append_until(
        [owned = Owned()](int value) { return owned.is_there() && value == 2; }, trace.say(1));
    list.append_until([](int) { return true; }, trace.say(2), 5);
    list(1);
    explore::check(handle.attached() && list.size() == 1, "until it is true");
    list(2);
    explore::check(!handle.attached(), "and then once more");
    list(2);
  });
  explore::check(trace.take() == Values{201, 101, 102}, "by priority, each to its end");
});

// Runs what it is given when it is told to, or refuses.
class LaterExecutor {
 public:
  template <class F>
  Status try_post(F&& task) {
    if (refuses) return Status::full;
    task_.emplace(std::forward<F>(task));
    return Status::ok;
  }
  void run() {
    auto task = std::exchange(task_, {});
    if (task) (*task)();
  }
  std::size_t width() const { return 1; }
  bool refuses = false;

 private:
  std::optional<UniqueFunction<void()>> task_;
};

// A listener that runs elsewhere is waited for, and not called there any more once it was removed.
const Scenario elsewhere("listeners/on_an_executor", [] {
  LaterExecutor executor;
  List list;
  sync::cell<int> owned;
  const auto handle = list.append_on(executor, [&, mine = Owned()](int value) {
    explore::check(mine.is_there() && value == 5, "its own arguments");
    owned.write() += value;
  });
  list(5);
  explore::check(owned.read() == 0, "later");
  explore::Thread worker([&] { executor.run(); });
  explore::check(handle.remove_and_wait(), "removed");
  owned.write() += 1;
  worker.join();
  explore::check(owned.read() == 1 || owned.read() == 6, "once, or not at all");
  explore::outcome(static_cast<std::uint64_t>(owned.read()));
});

const LargeScenario refused("listeners/refused_by_an_executor", [] {
  LaterExecutor executor;
  List list;
  Trace trace;
  beside_a_pass([&] {
    list.append_on(executor, trace.say(1));
    list.append(trace.say(2));
    list(1);
    explore::check(trace.take() == Values{201}, "the first will be called later");
    executor.run();
    explore::check(trace.take() == Values{101}, "now");
    executor.refuses = true;
    list(2);
    explore::check(trace.take() == Values{102, 202}, "refused, so here");
    executor.refuses = false;
    list(3);
  });
  list.clear();
  executor.run();
  explore::check(trace.take() == Values{203}, "removed before it ran");
});

void touch(int) {}
void touch_too(int) {}

// The first of this function that is there, and only as long as it is.
const Scenario found("listeners/found", [] {
  List list;
  explore::check(!list.find(&touch).attached(), "an empty list has none");
  list.append([](int) {});
  const auto first = list.append(&touch, {.calls = 2});
  const auto second = list.append(&touch);
  const auto third = list.append(&touch_too);
  explore::Thread other([&] { first.remove(); });
  const auto one = list.find(&touch);
  explore::check(one == first || one == second, "one of the two");
  explore::check(list.find(&touch_too) == third, "the other function");
  other.join();
  explore::check(list.find(&touch) == second, "the one that is left");
  second.remove();
  explore::check(!list.find(&touch).attached(), "none");
});

// ---- Misuse, and memory that fails ----

template <class F>
bool is_misuse(F&& call) {
  try {
    call();
  } catch (const std::logic_error&) {
    return true;
  }
  return false;
}

const Scenario misused("listeners/misuse", [] {
  List list;
  LaterExecutor executor;
  CallbackList<int(int)> with_results;
  void (*nobody)(int) = nullptr;
  bool (*never)(int) = nullptr;
  UniqueFunction<void(int)> empty;
  explore::Thread other([&] { list(0); });
  explore::check(is_misuse([&] { list.append(nobody); }), "a null pointer");
  explore::check(is_misuse([&] { list.append(std::move(empty)); }), "an empty function");
  explore::check(is_misuse([&] { list.append_until(never, &touch); }), "a null condition");
  explore::check(is_misuse([&] { list.append_until([](int) { return true; }, nobody); }),
                 "a null listener");
  explore::check(is_misuse([&] { list.append_on(executor, nobody); }), "nothing to run");
  explore::check(is_misuse([&] { with_results.append([](int) { return 1; }, {.calls = 1}); }),
                 "a result, and a number of calls");
  other.join();
  explore::check(list.empty() && with_results.empty(), "nothing was added");
  list.append(&touch);
  list.append(touch_too);  // by its name, not by a pointer
  explore::check(list.size() == 2, "these can be called");
});

// A function whose move fails is not added.
struct Fragile {
  Fragile() = default;
  Fragile(const Fragile& other) : owned(other.owned) { explore::may_throw("a copy"); }
  void operator()(int) const {}
  Owned owned;
};

const FailingScenario memory("listeners/memory_fails", [] {
  std::optional<List> list;
  std::optional<EventDispatcher<int, void(int)>> dispatcher;
  int added = 0;
  bool failed = false;
  const auto attempt = [&](auto&& call) {
    const explore::MayFail may_fail;
    try {
      call();
      return true;
    } catch (const std::bad_alloc&) {
    } catch (const explore::Planned&) {
    }
    failed = true;
    return false;
  };
  attempt([&] { list.emplace(); });
  attempt([&] { dispatcher.emplace(); });
  if (!list || !dispatcher) return;
  const Fragile fragile;
  for (int i = 0; i < 3; ++i) {
    added += attempt([&] { list->append(fragile); });
    added += attempt([&] { dispatcher->append_listener(i, fragile); });
  }
  explore::check(added == (failed ? 5 : 6), "all but the one that failed");
  std::size_t there = list->size();
  for (int i = 0; i < 3; ++i) there += dispatcher->listener_count(i);
  explore::check(there == static_cast<std::size_t>(added), "and no more");
});

// A list that is mostly dead entries shrinks if there is memory; if not, it goes on as it is.
const FailingScenario shrinks("listeners/memory_fails_to_shrink", [] {
  List list;
  Trace trace;
  std::vector<ListenerHandle> handles;
  for (int i = 0; i < 16; ++i) handles.push_back(list.append(trace.say(i)));
  {
    const explore::MayFail may_fail;
    for (int i = 0; i < 14; ++i) handles[static_cast<std::size_t>(i)].remove();
  }
  list(1);
  explore::check(trace.take() == Values{1401, 1501}, "those that are left");
  list.append(trace.say(16));
  list(1);
  explore::check(trace.take() == Values{1401, 1501, 1601}, "and one more");
});

// ---- Keys ----

// Two of them have the same hash if both are odd, or even.
struct Key {
  Key(int its_number) : number(its_number) {}  // NOLINT(google-explicit-constructor)
  int number;
  Owned owned;
  friend bool operator==(const Key& a, const Key& b) { return a.number == b.number; }
};
struct Alike : EventPolicies {
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return static_cast<std::size_t>(key.number % 2);
    }
  };
};
using Dispatcher = EventDispatcher<Key, void(int), Alike>;

// More keys than the first table takes; the next one leaves out those without listeners.
const LargeScenario table_grows("listeners/table_grows", [] {
  Dispatcher dispatcher;
  Trace trace;
  std::vector<ListenerHandle> handles;
  for (int i = 0; i < 6; ++i) handles.push_back(dispatcher.append_listener(i, trace.say(i)));
  handles[2].remove();
  handles[3].remove();
  explore::Thread other([&] { dispatcher.dispatch(Key(9), 0); });
  handles.push_back(dispatcher.append_listener(6, trace.say(6)));
  other.join();
  for (int i = 0; i < 7; ++i) {
    dispatcher.dispatch(Key(i), 1);
    const Values heard = trace.take();
    const bool there = i != 2 && i != 3;
    explore::check(heard == (there ? Values{100 * i + 1} : Values{}), "each by its own");
    explore::check(dispatcher.has_listener(Key(i)) == there, "whether there is one");
    explore::check(dispatcher.listener_count(Key(i)) == (there ? 1U : 0U), "and how many");
    explore::check(dispatcher.owns_listener(Key(i), handles[static_cast<std::size_t>(i)]) == there,
                   "of this key");
  }
  explore::check(!dispatcher.remove_listener(Key(0), handles[4]), "that is another key's");
  explore::check(dispatcher.remove_listener(Key(4), handles[4]), "its own");
  dispatcher.append_listener(Key(2), trace.say(2));
  dispatcher.dispatch(Key(2), 3);
  dispatcher.dispatch(Key(4), 3);
  explore::check(trace.take() == Values{203}, "again");
});

// While a thread dispatches, the table is replaced, and the list that it has is not.
const LargeScenario table_replaced("listeners/table_replaced_in_a_dispatch", [] {
  Dispatcher dispatcher;
  sync::cell<int> calls;
  dispatcher.append_listener(Key(0), [&](int) { calls.write() += 1; });
  for (int i = 1; i < 6; ++i) dispatcher.append_listener(Key(i), [](int) {}).remove();
  explore::Thread caller([&] { dispatcher.dispatch(Key(0), 1); });
  dispatcher.append_listener(Key(6), [](int) {});
  caller.join();
  explore::check(calls.read() == 1, "once, by the old table or by the new");
});

const LargeScenario dispatched("listeners/dispatched", [] {
  Dispatcher dispatcher;
  Trace trace;
  const auto one = dispatcher.append_listener(1, trace.say(2));
  explore::Thread other([&] { dispatcher.append_listener(3, [](int) {}).remove(); });
  dispatcher.prepend_listener(1, trace.say(1));
  dispatcher.insert_listener(1, one, trace.say(3));
  dispatcher.append_listener_until(1, [](int value) { return value == 1; }, trace.say(4));
  explore::check(dispatcher.find_listener(Key(1), &touch) == ListenerHandle(), "none of that");
  explore::check(dispatcher.find_listener(Key(7), &touch) == ListenerHandle(), "no such key");
  const auto there = dispatcher.append_listener(1, &touch);
  explore::check(dispatcher.find_listener(Key(1), &touch) == there, "that one");
  dispatcher.dispatch(Key(1), 1);
  dispatcher.dispatch(Key(1), 2);
  other.join();
  explore::check(trace.take() == Values{101, 301, 201, 401, 102, 302, 202}, "in order");
  explore::check(dispatcher.listener_count(Key(1)) == 4, "as many as are left");
});

const LargeScenario filtered("listeners/filtered", [] {
  Dispatcher dispatcher;
  Trace trace;
  dispatcher.append_listener(1, trace.say(1));
  const auto veto = dispatcher.append_filter([](int& value) { return value != 3; });
  dispatcher.append_filter([](int& value) { return ++value != 10; }, 1);  // comes first
  explore::Thread other([&] { dispatcher.append_filter([](int&) { return true; }).remove(); });
  dispatcher.dispatch(Key(1), 1);
  dispatcher.dispatch(Key(1), 2);
  dispatcher.dispatch(Key(1), 9);
  dispatcher.dispatch(Key(1), 5);
  veto.remove();
  dispatcher.dispatch(Key(1), 2);
  other.join();
  explore::check(trace.take() == Values{102, 106, 103}, "those that no filter ends");
});

// A dispatcher ends in a listener: the dispatch ends with it, and all of its keys and filters go.
const Scenario ended("listeners/dispatcher_ends_in_a_listener", [] {
  std::optional<Dispatcher> dispatcher(std::in_place);
  Trace trace;
  dispatcher->append_filter([owned = Owned()](int&) { return owned.is_there(); });
  dispatcher->append_listener(1, [&, owned = Owned()](int value) {
    trace.add(value);
    dispatcher.reset();
    explore::check(owned.is_there(), "as long as it runs");
  });
  const auto second = dispatcher->append_listener(1, trace.say(2));
  dispatcher->append_listener(2, trace.say(3));
  explore::Thread other([&] { second.remove(); });
  dispatcher->dispatch(Key(1), 5);
  other.join();
  explore::check(trace.take() == Values{5} && !second.attached(), "no more after the end");
});

// ---- Which passes a removal waits for ----

// What a flag must not do here is to order: the passes have to.
void await(const sync::atomic<bool>& flag) {
  while (!flag.load(sync::order::relaxed)) sync::pause();  // order: relaxed, see above
}
void set(sync::atomic<bool>& flag) {
  flag.store(true, sync::order::relaxed);  // order: relaxed, see above
}

// Nobody waits for a dispatch of another key, which waits for what comes after here.
const Scenario own_key("listeners/waits_for_its_own_key_only", [] {
  EventDispatcher<int, void()> dispatcher;
  sync::atomic<bool> inside(false);
  sync::atomic<bool> removed(false);
  dispatcher.append_listener(1, [&] {
    set(inside);
    await(removed);
  });
  const auto other = dispatcher.append_listener(2, [] {});
  explore::Thread caller([&] { dispatcher.dispatch(1); });
  await(inside);
  explore::check(other.remove_and_wait(), "removed");
  set(removed);
});

// The same in a queue, whose call has known both keys before and has just come from the other one.
const Scenario own_event("listeners/waits_for_its_own_events_only", [] {
  EventQueue<int, void(int)> queue;
  sync::atomic<bool> inside(false);
  sync::atomic<bool> removed(false);
  queue.append_listener(1, [&](int value) {
    if (value != 4) return;
    set(inside);
    await(removed);
  });
  const auto other = queue.append_listener(2, [](int) {});
  for (const int value : {1, 2, 3, 4}) {
    explore::check(queue.enqueue(value == 1 || value == 4 ? 1 : 2, value) == Status::ok, "room");
  }
  explore::Thread caller([&] { queue.drain(); });
  await(inside);
  explore::check(other.remove_and_wait(), "removed");
  set(removed);
});

// Passes nested so deeply that they share one slot: every removal waits for them. `inside` runs in
// the first pass that shares.
template <class Inside>
void at_the_deepest(Inside&& inside) {
  CallbackList<void(int)> nested;
  nested.append([&](int depth) {
    if (depth == 1) {
      inside();
    } else {
      nested(depth - 1);
    }
  });
  nested(static_cast<int>(detail::PassRecord::kSlots) - 1);
}

template <class Call>
void awaited_at_the_deepest(Call&& call) {
  CallbackList<void()> list;
  sync::cell<int> owned;
  const auto handle = list.append([&] { owned.write() += 1; });
  explore::Thread caller([&] { at_the_deepest([&] { call(list); }); });
  handle.remove_and_wait();
  owned.write() += 1;
}

const Scenario deepest("listeners/deepest",
                       [] { awaited_at_the_deepest([](CallbackList<void()>& list) { list(); }); });
const LargeScenario deeper("listeners/deeper", [] {
  CallbackList<void()> between;
  awaited_at_the_deepest([&](CallbackList<void()>& list) {
    const auto handle = between.append([&] { list(); });
    between();
  });
});
// The end of one that is too deep is not the end of the one that it is in.
const LargeScenario after_a_deeper("listeners/after_a_deeper", [] {
  CallbackList<void()> list;
  CallbackList<void()> deeper_list;
  sync::cell<int> owned;
  deeper_list.append([] {});
  const auto handle = list.append([&] {
    deeper_list();
    owned.write() += 1;
  });
  explore::Thread caller([&] { at_the_deepest([&] { list(); }); });
  handle.remove_and_wait();
  owned.write() += 1;
});
// A dispatch that is so deep does not say what it is over, not even once it has its list.
const LargeScenario deep_dispatch("listeners/deepest_dispatch", [] {
  EventDispatcher<int, void()> dispatcher;
  awaited_at_the_deepest([&](CallbackList<void()>& list) {
    dispatcher.append_listener(1, [&] { list(); });
    dispatcher.dispatch(1);
  });
});

struct Bounded : EventPolicies {
  static constexpr bool bounded = true;
};
// A thread that may be inside a listener of the queue does not wait for room.
const Scenario deep_queue("listeners/deepest_full", [] {
  EventQueue<int, void(), Bounded> queue({.capacity = 1, .on_full = OnFull::wait});
  explore::check(queue.enqueue(1) == Status::ok, "there is room");
  queue.append_listener(
      1, [&] { explore::check(queue.enqueue(1) == Status::full, "it would wait for itself"); });
  at_the_deepest([&] { explore::check(queue.drain() == 1, "once"); });
  explore::Thread other([&] { explore::check(queue.enqueue(1) == Status::ok, "room again"); });
  other.join();
  explore::check(queue.tally().pending == 1, "one is left");
});

// In a listener of another list it does.
const Scenario full_elsewhere("listeners/full_elsewhere", [] {
  EventQueue<int, void(), Bounded> queue({.capacity = 1, .on_full = OnFull::wait});
  explore::check(queue.enqueue(1) == Status::ok, "there is room");
  CallbackList<void()> list;
  list.append([&] { explore::check(queue.enqueue(1) == Status::ok, "once there is room"); });
  explore::Thread consumer([&] { explore::check(queue.drain(1) == 1, "the first"); });
  list();
  consumer.join();
  explore::check(queue.tally().pending == 1 && queue.tally().done == 1, "one is left");
});

}}  // namespace listeners_scenarios
