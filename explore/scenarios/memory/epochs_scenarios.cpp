// SPDX-License-Identifier: MIT
//
// Passes by themselves, without lists: who may free what was hidden, and when. The scenarios of
// docs/design/callback_list.md that need every order of the protocol.
#include <handoff/memory/internal/epochs.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/park.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "books/event_books.hpp"
#include "explore/scenario.hpp"

namespace epochs_scenarios { namespace {

using namespace handoff;
using detail::Garbage;
using detail::Pass;
using detail::PassSubject;
using test::Scenario;

// Their addresses are what passes are over.
const char owner = 0;
const char list = 0;
const char other_list = 0;

// What a flag must not do here is to order: the passes have to.
using Flag = sync::atomic<bool>;
void set(Flag& flag) { flag.store(true, sync::order::relaxed); }  // order: relaxed, see Flag
void await(const Flag& flag) {
  while (!flag.load(sync::order::relaxed)) sync::pause();  // order: relaxed, see Flag
}

// Something that passes come across until it is hidden. Its end writes what they read: a race, or
// a wrong value, if one of them can still do so.
class Thing {
 public:
  // By a pass: true if it was there.
  bool look() const {
    if (!visible_.load(sync::order::relaxed)) return false;  // order: relaxed, as in a pass
    look_again();
    return true;
  }
  // What look() has found stays until the end of the pass.
  void look_again() const { explore::check(alive_.read() == 1, "there while a pass can see it"); }

  void hide() { visible_.store(false, sync::order::relaxed); }  // order: relaxed, as null calls
  void retire(PassSubject seen_by) {
    Garbage garbage;
    garbage.add(*this, retired_, seen_by, &Thing::free);
  }
  void free_here() { alive_.write() -= 1; }
  bool freed() const { return alive_.read() == 0; }

 private:
  static void free(void* self) noexcept { static_cast<Thing*>(self)->free_here(); }

  sync::cell<int> alive_{1};
  Flag visible_{true};
  detail::Retired retired_;
};

constexpr PassSubject kList{&list, &owner};
constexpr PassSubject kOwner{&owner, nullptr};

// No thread that is left is in a pass or waits for one, and nothing hangs on any.
void check_at_rest() {
  const std::string fault = detail::Books<detail::PassRecord>::fault();
  explore::check(fault.empty(), fault.c_str());
}

// A thing is removed while another thread runs read(thing, removed).
template <class Read>
void beside_a_removal(PassSubject seen_by, Read&& read) {
  Thing thing;
  Flag removed(false);
  explore::Thread reader([&] { read(thing, removed); });
  thing.hide();
  thing.retire(seen_by);
  set(removed);
  reader.join();
  explore::check(thing.freed(), "by the remover or by a pass");
  check_at_rest();
}

// A pass that can see it keeps it, even if it began after the epoch was drawn.
const Scenario retired("passes/retire", [] {
  beside_a_removal(kList, [](Thing& thing, Flag& removed) {
    const Pass pass(&list);
    if (!thing.look()) return;
    await(removed);
    thing.look_again();
  });
});

// The pass ends just when it is asked: one of the two frees.
const Scenario asked("passes/asked_at_its_end", [] {
  Thing thing;
  Flag hidden(false);
  explore::Thread reader([&] {
    const Pass pass(&list);
    if (thing.look()) await(hidden);
  });
  thing.hide();
  set(hidden);
  thing.retire(kList);
  reader.join();
  explore::check(thing.freed(), "by the remover or by the pass");
});

// A remover that finds a thread in its next pass knows by that what it did in the one before.
const Scenario next_pass("passes/next_pass", [] {
  beside_a_removal(kList, [](Thing& thing, Flag& removed) {
    {
      const Pass pass(&list);
      thing.look();
    }
    const Pass next(&list);
    await(removed);
  });
});

const Scenario elsewhere("passes/next_pass_elsewhere", [] {
  Thing thing;
  Flag hidden(false);
  Flag removed(false);
  explore::Thread reader([&] {
    {
      const Pass pass(&list);
      if (thing.look()) await(hidden);
    }
    const Pass next(&other_list);
    await(removed);
  });
  thing.hide();
  set(hidden);
  thing.retire(kList);
  set(removed);
  reader.join();
  explore::check(thing.freed(), "by the remover or by a pass");
});

// A thread known to be in passes writes nothing that others read when the next one begins: by the
// number of that pass it sees what was hidden before.
const Scenario known("passes/next_pass_of_a_known_thread", [] {
  Thing thing;
  Flag passed(false);
  Flag hidden(false);
  Flag removed(false);
  explore::Thread reader([&] {
    {
      const Pass pass(&list);
    }
    set(passed);
    await(hidden);
    const Pass next(&list);
    if (!thing.look()) return;
    await(removed);
    thing.look_again();
  });
  await(passed);
  thing.hide();
  set(hidden);
  thing.retire(kList);
  set(removed);
  reader.join();
  explore::check(thing.freed(), "by the remover or by a pass");
});

// A first pass begins while the only thread that was in one looks, without a fence.
const Scenario first_pass("passes/first_pass_beside_a_look", [] {
  Thing thing;
  Flag begins(false);
  explore::Thread reader([&] {
    set(begins);
    const Pass pass(&list);
    if (thing.look()) thing.look_again();
  });
  {
    const Pass mine(&list);
    await(begins);
    thing.hide();
    thing.retire(kList);
  }
  reader.join();
  explore::check(thing.freed(), "by the remover or by a pass");
});

// A remover that finds that nobody passes knows what those threads did that another one found
// outside of passes.
const Scenario nobody_passing("passes/nobody_passes", [] {
  Thing thing;
  Thing other;
  Flag passed(false);
  Flag looked(false);
  explore::Thread reader([&] {
    {
      const Pass pass(&list);
      thing.look();
    }
    set(passed);
  });
  explore::Thread remover([&] {
    await(looked);
    thing.hide();
    if (detail::nobody_passes()) {
      thing.free_here();
    } else {
      thing.retire(kList);
    }
  });
  await(passed);
  other.hide();
  other.retire(kList);
  set(looked);
  reader.join();
  remover.join();
  explore::check(thing.freed() && other.freed(), "by the removers");
});

// More threads than groups: a thread in the remover's group is looked at after a fence, like any
// other.
const Scenario same_group("passes/same_group", [] {
  Thing thing;
  Thing other;
  Flag enrolled(false);
  Flag done(false);
  {
    const Pass pass(&list);
  }
  explore::Thread idle([&] {
    {
      const Pass pass(&list);
    }
    set(enrolled);
    await(done);
  });
  await(enrolled);
  other.hide();
  other.retire(kList);  // finds nobody in a pass
  explore::Thread reader([&] {
    const Pass pass(&list);
    if (thing.look()) thing.look_again();
  });
  thing.hide();
  thing.retire(kList);
  reader.join();
  set(done);
  idle.join();
  explore::check(thing.freed() && other.freed(), "by the remover or by the pass");
  check_at_rest();
});

// Two removals beside passes, of which `between` come and go in between.
void removed_twice(int between) {
  Thing first;
  Thing second;
  Flag passed(false);
  Flag looked(false);
  Flag again(false);
  explore::Thread reader([&] {
    {
      const Pass pass(&list);
    }
    set(passed);
    await(looked);
    for (int i = 0; i < between; ++i) const Pass pass(&list);
    set(again);
    const Pass pass(&list);
    if (second.look()) second.look_again();
  });
  await(passed);
  first.hide();
  first.retire(kList);
  set(looked);
  await(again);
  second.hide();
  second.retire(kList);
  reader.join();
  explore::check(first.freed() && second.freed(), "by the remover or by the pass");
  check_at_rest();
}
// The first look makes passes fence where they begin, and the second one spares itself the heavy
// fence. Its thread's bit is set again by then.
const Scenario fenced("passes/fenced", [] { removed_twice(1); });
// Passes go on without fences when nothing is retired any more, and are seen all the same.
const Scenario fences_left("passes/fences_left", [] { removed_twice(3); });

// A thread whose bit another one of its group has set finds that passes need no fence, and nothing
// else: by that it knows what was hidden while they did.
const Scenario fences_left_by_another("passes/fences_left_by_another", [] {
  Thing first;
  Thing second;
  Flag enrolled(false);
  Flag left(false);
  explore::Thread reader([&] {
    {
      const Pass pass(&list);
    }
    set(enrolled);
    await(left);
    const Pass pass(&list);
    if (second.look()) second.look_again();
  });
  await(enrolled);
  {
    const Pass pass(&list);
  }  // in the other group, so the third thread shares the reader's
  first.hide();
  first.retire(kList);
  second.hide();
  second.retire(kList);
  explore::Thread leaver([&] {
    for (int i = 0; i < 3; ++i) const Pass pass(&list);
    set(left);
  });
  leaver.join();
  reader.join();
  explore::check(first.freed() && second.freed(), "nobody was in a pass");
  check_at_rest();
});

// What a pass takes away itself hangs on it without a fence, and then on the other pass, if that
// one is still there.
const Scenario own("passes/own", [] {
  Thing thing;
  explore::Thread reader([&] {
    const Pass pass(&list);
    if (thing.look()) thing.look_again();
  });
  {
    const Pass pass(&list);
    thing.hide();
    thing.retire(kList);
    explore::check(!thing.freed(), "a pass of the remover's own can see it");
  }
  reader.join();
  explore::check(thing.freed(), "by the remover's pass or by the other");
});

// Two passes can see it: what the first one's end does not free, the second one's does.
const Scenario handed_on("passes/handed_on", [] {
  Thing thing;
  const auto read = [&] {
    const Pass pass(&list);
    if (thing.look()) thing.look_again();
  };
  explore::Thread one(read);
  explore::Thread two(read);
  thing.hide();
  thing.retire(kList);
  one.join();
  two.join();
  explore::check(thing.freed(), "by the last one");
});

// A pass over all of an owner has seen what is the owner's before it narrows to a list.
const Scenario narrowed("passes/narrow", [] {
  beside_a_removal(kOwner, [](Thing& thing, Flag& removed) {
    Pass pass(&owner);
    thing.look();
    pass.narrow(&list);
    await(removed);
  });
});

// A pass that begins anew lets go of what was hidden before.
const Scenario renewed("passes/renew", [] {
  beside_a_removal(kList, [](Thing& thing, Flag& removed) {
    Pass pass(&list);
    thing.look();
    pass.renew(&list);
    if (!thing.look()) return;
    await(removed);
    thing.look_again();
  });
});

// The pass ends no sooner than the waiter sleeps, which hears of it.
const Scenario awaited("passes/await", [] {
  Thing thing;
  explore::Thread reader([&] {
    const Pass pass(&list);
    if (!thing.look()) return;
    const sync::atomic<std::uint32_t> nobody(0);
    (void)sync::park(nobody, 0, sync::deadline_after(std::chrono::milliseconds(1)),
                     sync::ParkScope::process);
    thing.look_again();
  });
  thing.hide();
  detail::await_passes(kList);
  thing.free_here();
  reader.join();
  check_at_rest();
});

}}  // namespace epochs_scenarios
