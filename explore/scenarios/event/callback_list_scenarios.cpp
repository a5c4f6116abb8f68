// SPDX-License-Identifier: MIT
//
// CallbackList and the passes below it: the scenarios of docs/design/callback_list.md.
#include <handoff/event/callback_list.hpp>
#include <handoff/event/event_dispatcher.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "books/event_books.hpp"
#include "explore/scenario.hpp"

namespace callback_list_scenarios { namespace {

using namespace handoff;
using namespace test;
using PlainList = CallbackList<void()>;  // where it ends in the midst of things
using List = test::Audited<PlainList>;

// What a listener refers to, and the thread that removed it frees or changes: the accesses race if
// a call can come after that.
struct Owned {
  sync::cell<int> touched;
  void touch() { touched.write() += 1; }
};

// A capture whose end is seen: the function is destroyed once, and not while it runs.
struct Function {
  explicit Function(sync::cell<int>& alive) : alive_(&alive) { ++alive.write(); }
  Function(Function&& other) noexcept : alive_(std::exchange(other.alive_, nullptr)) {}
  ~Function() {
    if (alive_ != nullptr) alive_->write() -= 1;
  }
  void operator()() const { explore::check(alive_->read() == 1, "called while alive"); }

  sync::cell<int>* alive_;
};

const Scenario removed("callback_list/remove", [] {
  sync::cell<int> alive;
  {
    List list;
    const auto handle = list.append(Function(alive));
    explore::Thread caller([&] { list(); });
    explore::check(handle.remove(), "removed once");
    caller.join();
    explore::check(alive.read() == 0, "the last pass has freed it");
  }
});

// The array of those that are left is whole before a pass can see it.
const Scenario called_while_it_shrinks("callback_list/called_while_it_shrinks", [] {
  sync::cell<int> heard;
  List list;
  std::vector<ListenerHandle> handles;
  for (int i = 0; i < 16; ++i) handles.push_back(list.append([&] { ++heard.write(); }));
  for (std::size_t i = 5; i < 16; ++i) handles[i].remove();
  explore::Thread caller([&] { list(); });
  handles[4].remove();  // a quarter is left
  caller.join();
  explore::check(heard.read() == 4 || heard.read() == 5, "each that stays");
});

const Scenario awaited("callback_list/remove_and_wait", [] {
  Owned owned;
  List list;
  const auto handle = list.append([&] { owned.touch(); });
  explore::Thread caller([&] { list(); });
  handle.remove_and_wait();
  explore::outcome(static_cast<std::uint64_t>(owned.touched.read()));
  owned.touch();  // ours alone from here on
  caller.join();
  explore::check(detail::Books<detail::PassRecord>::fault().empty(), "nobody waits any more");
});

const Scenario two_callers("callback_list/two_callers", [] {
  Owned owned;
  List list;
  const auto handle = list.append([&] { explore::check(owned.touched.read() == 0, "not yet"); });
  explore::Thread one([&] { list(); });
  explore::Thread two([&] { list(); });
  handle.remove_and_wait();
  owned.touch();
});

// The pass that is waited for removes something itself, and the waiter must still hear of its end.
const Scenario two_removers("callback_list/two_removers", [] {
  Owned owned;
  List list;
  ListenerHandle self;
  self = list.append([&] { self.remove(); });
  const auto other = list.append([&] { owned.touch(); });
  explore::Thread caller([&] { list(); });
  other.remove_and_wait();
  owned.touch();
});

// Both threads stand in a callback of the list that the other one waits for.
const Scenario circle("callback_list/circle_of_waits", [] {
  List first;
  List second;
  const auto of_first = first.append([] {});
  const auto of_second = second.append([] {});
  sync::cell<int> in_first;
  sync::cell<int> in_second;
  first.append([&] {
    of_second.remove_and_wait();
    in_first.write() += 1;
  });
  second.append([&] {
    of_first.remove_and_wait();
    in_second.write() += 1;
  });
  explore::Thread other([&] { second(); });
  first();
  other.join();
  explore::check(in_first.read() + in_second.read() == 2, "both went on");
  explore::check(!of_first.attached() && !of_second.attached(), "removed all the same");
  explore::check(detail::Books<detail::PassRecord>::fault().empty(), "nobody waits any more");
});

// Called, and by that removed, in the moment of its adding.
const Scenario counted("callback_list/counted", [] {
  List list;
  sync::cell<int> calls;
  list.append([] {});
  explore::Thread caller([&] { list(); });
  const auto handle = list.append([&] { calls.write() += 1; }, {.calls = 1});
  caller.join();
  const bool called = calls.read() == 1;
  explore::check(handle.attached() != called, "removed by its last call");
  explore::outcome(called);
});

// The array that the pass reads is replaced meanwhile.
const Scenario appended("callback_list/append", [] {
  List list;
  sync::cell<int> calls;
  list.append([&] { calls.write() += 1; });
  explore::Thread caller([&] { list(); });
  list.prepend([] {});
  list.append([] {});
  caller.join();
  explore::check(calls.read() == 1, "called once, whatever was added");
});

// An entry that a replaced array still holds is not called once it is removed.
const Scenario stale("callback_list/removed_from_a_stale_array", [] {
  List list;
  Owned owned;
  const auto handle = list.append([&] { owned.touch(); });
  explore::Thread caller([&] { list(); });
  list.prepend([] {});
  handle.remove_and_wait();
  owned.touch();
});

// The same without waiting: a thread that finds in a pass that a listener has been removed does not
// come across it in this pass any more, though the pass reads the array of before.
const Scenario stale_unawaited("callback_list/removed_from_a_stale_array_meanwhile", [] {
  List list;
  sync::atomic<bool> is_removed(false);
  bool known = false;
  // order: acquire pairs with the release below: what hid it comes before.
  list.append([&] { known = is_removed.load(sync::order::acquire); });
  const auto handle = list.append([&] { explore::check(!known, "removed before its turn"); });
  explore::Thread caller([&] { list(); });
  list.prepend([] {});
  handle.remove();
  is_removed.store(true, sync::order::release);  // order: release pairs with the acquire above
  caller.join();
  explore::outcome(known);
});

// The same by the pass itself, whose own array has become stale meanwhile: whatever takes a
// listener away takes it out of all arrays that are read.
template <class Remove>
void removed_in_a_stale_array(Remove remove) {
  List list;
  sync::cell<int> calls;
  ListenerHandle second;
  list.append([&] {
    list.prepend([] {});
    remove(list, second);
  });
  second = list.append([&] { calls.write() += 1; });
  explore::Thread other([&] { list.append([] {}); });
  list();
  other.join();
  explore::check(calls.read() == 0, "it was removed before its turn");
}

const Scenario stale_remove("callback_list/stale_remove", [] {
  removed_in_a_stale_array([](List&, const ListenerHandle& second) { second.remove(); });
});
const Scenario stale_wait("callback_list/stale_remove_and_wait", [] {
  removed_in_a_stale_array(
      [](List& list, const ListenerHandle& second) { list.remove_and_wait(second); });
});
const Scenario stale_clear("callback_list/stale_clear", [] {
  removed_in_a_stale_array([](List& list, const ListenerHandle&) { list.clear(); });
});

// A list in leaves, of one listener each here. The pass reads the array of before: one leaf of it
// has been copied for the addition, the other lies in the new array too. Either listener is gone
// from both once it is removed.
template <bool kCopied>
void removed_from_a_leaf() {
  List list;
  Owned owned;
  ListenerHandle in_copied;
  ListenerHandle in_shared;
  const auto touch = [&] { owned.touch(); };
  const auto none = [] {};
  if constexpr (kCopied) {
    in_shared = list.append(none);
    in_copied = list.prepend(touch);
  } else {
    in_shared = list.append(touch);
    in_copied = list.prepend(none);
  }
  explore::Thread caller([&] { list(); });
  list.insert(in_copied, none);
  (kCopied ? in_copied : in_shared).remove_and_wait();
  owned.touch();
}

const Scenario copied_leaf("callback_list/removed_from_a_copied_leaf", removed_from_a_leaf<true>);
const Scenario shared_leaf("callback_list/removed_from_a_shared_leaf", removed_from_a_leaf<false>);

// The end of a listener uses the list: ended by a removal, by a clear, and by the end of a pass in
// which it was removed.
struct UsesTheList {
  explicit UsesTheList(List& its_list) : list(&its_list) {}
  UsesTheList(UsesTheList&& other) noexcept : list(std::exchange(other.list, nullptr)) {}
  ~UsesTheList() {
    if (list != nullptr) (void)list->append([] {}).remove();
  }
  void operator()() const {}

  List* list;
};

const Scenario ends_use_the_list("callback_list/ends_use_the_list", [] {
  List list;
  ListenerHandle own;
  own = list.append([&own, uses = UsesTheList(list)] { (void)own.remove(); });
  explore::Thread caller([&] { list(); });
  (void)list.append(UsesTheList(list)).remove();
  (void)list.append(UsesTheList(list));
  list.clear();
  caller.join();
  explore::check(list.empty(), "nothing is left");
});

// Additions in the midst of two threads, each in a leaf of its own, beside a pass.
const Scenario inserted("callback_list/insert", [] {
  List list;
  sync::cell<int> calls;
  const auto last = list.append([&] { calls.write() += 1; });
  const auto first = list.prepend([&] { calls.write() += 1; });
  explore::Thread other([&] { list.insert(first, [] {}); });
  explore::Thread caller([&] { list(); });
  list.insert(last, [] {});
  other.join();
  caller.join();
  explore::check(calls.read() == 2, "called once each, whatever was added");
  explore::check(list.size() == 4, "all are there");
});

// Each comes into a leaf with room, while nobody is in a pass or one begins: a pass that hears of
// the second addition hears of the first.
const Scenario inserted_in_leaves("callback_list/insert_in_leaves", [] {
  List list;
  sync::cell<int> heard;
  const auto say = [&heard](int digit) {
    return [&heard, digit] { heard.write() = heard.read() * 10 + digit; };
  };
  const auto last = list.append(say(4));
  const auto first = list.prepend(say(2));
  explore::Thread caller([&] { list(); });
  list.insert(last, say(3));
  list.insert(first, say(1));
  caller.join();
  const int so = heard.read();
  explore::check(so == 24 || so == 234 || so == 1234, "in order, and none without those before");
  explore::outcome(static_cast<std::uint64_t>(so));
  heard.write() = 0;
  list();
  explore::check(heard.read() == 1234, "then all");
});

const SingleScenario inserted_in_a_pass("callback_list/insert_in_a_pass", [] {
  List list;
  sync::cell<int> heard;
  const auto last = list.append([&] { ++heard.write(); });
  ListenerHandle added;
  list.prepend([&] {
    if (!added.attached()) added = list.insert(last, [&] { heard.write() += 10; });
  });
  explore::Thread other([&] { list.append([] {}); });
  list();
  explore::check(heard.read() == 1, "not in the pass in which it was added");
  other.join();
  list();
  explore::check(heard.read() == 12, "in the next");
});

const Scenario ended("callback_list/end_of_the_list", [] {
  sync::cell<int> alive;
  auto list = std::make_optional<PlainList>();
  ListenerHandle handle = list->append(Function(alive));
  explore::Thread remover([&] { handle.remove(); });
  list.reset();
  remover.join();
  explore::check(alive.read() == 0, "gone with its list");
});

const Scenario shared("callback_list/handle_released_in_a_call", [] {
  sync::cell<int> alive;
  auto list = std::make_optional<List>();
  auto handle = std::make_optional(list->append(Function(alive)));
  explore::Thread caller([&] { (*list)(); });
  handle->remove();
  handle.reset();  // the last reference but the list's, which a pass may be about to drop
  caller.join();
  list.reset();
});

// A list and the handle of its listener end in two threads: the last of them frees both.
const Scenario last("callback_list/last_handle", [] {
  sync::cell<int> alive;
  auto list = std::make_optional<List>();
  auto handle = std::make_optional(list->append(Function(alive)));
  explore::Thread owner([&] { handle.reset(); });
  list.reset();
  owner.join();
  explore::check(alive.read() == 0, "gone with its list");
});

// A thread that finds a listener removed knows what its remover did before.
const Scenario told("callback_list/attached", [] {
  List list;
  sync::cell<int> before;
  const auto handle = list.append([] {});
  explore::Thread remover([&] {
    before.write() = 1;
    handle.remove();
  });
  const bool attached = handle.attached();
  explore::check(attached || before.read() == 1, "what came before the removal");
  explore::outcome(attached);
});

// The very first listener comes while another thread looks for its key: the table is whole.
const Scenario first_key("event_dispatcher/first_key", [] {
  EventDispatcher<int, void()> dispatcher;
  sync::cell<int> calls;
  explore::Thread caller([&] { dispatcher.dispatch(1); });
  dispatcher.append_listener(1, [&] { calls.write() += 1; });
  caller.join();
  explore::outcome(static_cast<std::uint64_t>(calls.read()));
});

// A key is added while another thread looks one up: the table grows or gets an entry.
const Scenario keys("event_dispatcher/keys", [] {
  EventDispatcher<int, void()> dispatcher;
  sync::cell<int> calls;
  dispatcher.append_listener(1, [&] { calls.write() += 1; });
  explore::Thread caller([&] {
    dispatcher.dispatch(1);
    dispatcher.dispatch(2);
  });
  dispatcher.append_listener(2, [] {});
  caller.join();
  explore::check(calls.read() == 1, "its listener is found");
});

const Scenario narrowed("event_dispatcher/remove_and_wait", [] {
  EventDispatcher<int, void()> dispatcher;
  Owned owned;
  const auto handle = dispatcher.append_listener(1, [&] { owned.touch(); });
  explore::Thread caller([&] { dispatcher.dispatch(1); });
  handle.remove_and_wait();
  owned.touch();
});

}}  // namespace callback_list_scenarios
