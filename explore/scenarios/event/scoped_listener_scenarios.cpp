// SPDX-License-Identifier: MIT
//
// ScopedListener and ListenerGroup: ends beside a running call, in the own call, in a circle of
// two, after the list, and in what a listener owns.
#include <handoff/event/callback_list.hpp>
#include <handoff/event/listener_handle.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "books/event_books.hpp"
#include "explore/scenario.hpp"

namespace scoped_listener_scenarios { namespace {

using namespace handoff;
using namespace test;
using PlainList = CallbackList<void()>;  // where it ends in the midst of things
using List = test::Audited<PlainList>;

void nobody_waits() {
  explore::check(detail::Books<detail::PassRecord>::fault().empty(), "nobody waits any more");
}

// ---- Another thread is in the call, or about to be ----

// A holder waits at its end, when it is assigned to, and for what it was given: what the listener
// refers to is this thread's alone afterwards.
template <class Hold>
void removed_by_its_holder(Hold&& hold) {
  List list;
  sync::cell<int> owned;
  auto handle = list.append([&] { owned.write() += 1; });
  explore::Thread caller([&] { list(); });
  hold(list, std::move(handle));
  explore::outcome(static_cast<std::uint64_t>(owned.read()));
  owned.write() += 1;
  caller.join();
  explore::check(list.empty(), "all are gone");
  nobody_waits();
}

const Scenario ends("scoped_listener/ends", [] {
  removed_by_its_holder(
      [](List&, ListenerHandle handle) { const ScopedListener holder(std::move(handle)); });
});
const Scenario moved("scoped_listener/moved", [] {
  removed_by_its_holder([](List& list, ListenerHandle handle) {
    ScopedListener holder(list.append([] {}));
    ScopedListener first(std::move(handle));
    holder = std::move(first);
    explore::check(list.size() == 1 && holder.handle().attached(), "its own is gone");
    const ScopedListener last(std::move(holder));
    explore::check(!holder.handle().attached() && last.handle().attached(), "moved");
  });
});
const Scenario assigned("scoped_listener/assigned", [] {
  removed_by_its_holder([](List&, ListenerHandle handle) {
    ScopedListener holder(std::move(handle));
    holder = ScopedListener();
    explore::check(!holder.handle().attached(), "assigning removes, and waits");
  });
});
const Scenario grouped("listener_group/assigned", [] {
  removed_by_its_holder([](List& list, ListenerHandle handle) {
    ListenerGroup holder;
    holder.add(list.append([] {}));
    ListenerGroup other;
    holder = std::move(other);
    explore::check(list.size() == 1 && holder.size() == 0, "its own are gone");
    holder.add(std::move(handle));
  });
});

// Released, it removes nothing.
const Scenario released("scoped_listener/released", [] {
  List list;
  sync::cell<int> owned;
  ListenerHandle kept;
  {
    ScopedListener holder(list.append([&] { owned.write() += 1; }));
    kept = holder.release();
  }
  explore::Thread caller([&] { list(); });
  caller.join();
  explore::check(kept.attached() && owned.read() == 1, "it stays");
});

// All of an object's, in two lists that the other thread calls.
const Scenario of_an_object("listener_group/of_an_object", [] {
  List first;
  List second;
  struct Object {
    sync::cell<int> heard;
    ListenerGroup listeners;
  };
  auto object = std::make_unique<Object>();
  for (List* const list : {&first, &second}) {
    object->listeners.add(list->append([&heard = object->heard] { heard.write() += 1; }));
  }
  explore::Thread caller([&] {
    first();
    second();
  });
  object.reset();
  caller.join();
  explore::check(first.empty() && second.empty(), "all are gone");
  nobody_waits();
});

// The group needs the place of a listener whose only call may still run, and must not forget it.
const Scenario makes_room("listener_group/makes_room", [] {
  List list;
  List elsewhere;
  sync::cell<int> owned;
  ListenerGroup group;
  group.add(list.append([&] { owned.write() += 1; }, {.calls = 1}));
  explore::Thread caller([&] { list(); });
  group.add(elsewhere.append([] {}));
  explore::outcome(group.size());
  group.clear();
  owned.write() += 1;
  caller.join();
  explore::check(list.empty(), "all are gone");
});

// ---- In a call ----

struct Function {
  explicit Function(sync::cell<int>& alive) : alive_(&alive) { ++alive.write(); }
  Function(Function&& other) noexcept : alive_(std::exchange(other.alive_, nullptr)) {}
  ~Function() {
    if (alive_ != nullptr) alive_->write() -= 1;
  }
  sync::cell<int>* alive_;
};

// Ends in its own call while another thread calls the list: this thread goes on, the function ends
// after the call, and the other thread is in no call that matters.
const Scenario in_its_own_call("scoped_listener/in_its_own_call", [] {
  sync::cell<int> alive;
  {
    List list;
    sync::cell<int> owned;
    std::optional<ScopedListener> holder;
    holder.emplace(list.append([&, function = Function(alive)] {
      holder.reset();
      explore::check(function.alive_->read() == 1, "its call still needs it");
      owned.write() += 1;
    }));
    list.append([] {});
    explore::Thread other([&] {
      const auto mine = list.append([] {});
      mine.remove();
    });
    list();
    explore::check(owned.read() == 1, "went on");
    other.join();
    explore::check(alive.read() == 0, "ended with the pass");
  }
});

// By another listener of the same thread, in a pass inside the listener's own call.
const Scenario nested("scoped_listener/in_a_nested_call", [] {
  List outer;
  List inner;
  sync::cell<int> owned;
  std::optional<ScopedListener> holder;
  holder.emplace(outer.append([&] {
    inner();
    owned.write() += 1;
  }));
  inner.append([&] { holder.reset(); });
  explore::Thread other([&] { inner.append([] {}).remove(); });
  outer();
  other.join();
  explore::check(owned.read() == 1 && outer.empty(), "its call went on");
});

// Objects that end in their own listeners, on two threads: neither has to wait for ever, and what
// the other one owns is not touched.
const Scenario each_its_own("scoped_listener/each_its_own", [] {
  test::Audited<CallbackList<void(int)>> list;
  struct Object {
    sync::cell<int> heard;
    ListenerGroup listeners;
  };
  std::optional<Object> objects[2];
  for (int i = 0; i < 2; ++i) {
    Object& object = objects[i].emplace();
    object.listeners.add(list.append([&objects, &object, i](int which) {
      if (which != i) return;
      object.heard.write() += 1;
      objects[i].reset();
    }));
  }
  explore::Thread other([&] { list(1); });
  list(0);
  other.join();
  explore::check(list.empty(), "both are gone");
  nobody_waits();
});

// Two listeners that remove each other on two threads: the second goes on at once, and the first
// waits for it.
const Scenario each_other("scoped_listener/each_other", [] {
  test::Audited<CallbackList<void(int)>> list;
  sync::atomic<int> inside[2] = {sync::atomic<int>(0), sync::atomic<int>(0)};
  bool left[2] = {false, false};
  ScopedListener holders[2];
  for (int i = 0; i < 2; ++i) {
    holders[i] = list.append([&, i](int which) {
      if (which != i) return;
      inside[i].store(1, sync::order::relaxed);  // order: relaxed, each reads its own view
      holders[1 - i].reset();
      // order: relaxed: what waited has the other's end before it
      left[i] = inside[1 - i].load(sync::order::relaxed) != 1;
      inside[i].store(2, sync::order::relaxed);  // order: as above
    });
  }
  explore::Thread other([&] { list(1); });
  list(0);
  other.join();
  explore::check(left[0] || left[1], "one of them waited");
  explore::check(list.size() <= 1, "the one that was called is left, if the other was not");
  nobody_waits();
  explore::outcome(static_cast<std::uint64_t>(left[0]) + 2 * static_cast<std::uint64_t>(left[1]));
});

// ---- The list, or what holds the handle, ends elsewhere ----

const Scenario after_its_list("scoped_listener/after_its_list", [] {
  std::optional<PlainList> list(std::in_place);
  sync::cell<int> owned;
  ScopedListener holder(list->append([&] { owned.write() += 1; }));
  list->append([&] { list.reset(); });
  explore::Thread caller([&] { (*list)(); });
  holder.reset();
  owned.write() += 1;
  caller.join();
  explore::check(!list.has_value(), "ended in its call");
});

// A listener owns an object that has listeners: they end with the last pass that could call it, on
// that thread, while the other one may be in a pass, too.
const LargeScenario in_a_function("scoped_listener/in_a_function", [] {
  List list;
  sync::cell<int> owned;
  struct Object {
    ScopedListener listener;
  };
  auto object = std::make_unique<Object>();
  object->listener = list.append([&] { explore::check(owned.read() == 0, "there"); });
  const auto handle = list.append([own = std::move(object)] {});
  explore::Thread caller([&] { list(); });
  handle.remove();
  list();
  caller.join();
  explore::check(list.empty(), "both are gone");
  owned.write() += 1;
  nobody_waits();
});

}}  // namespace scoped_listener_scenarios
