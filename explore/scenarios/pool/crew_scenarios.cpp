// SPDX-License-Identifier: MIT
//
// Slots that change hands, and the figures that workers and others count.
// docs/design/thread_pool.md.
#include <handoff/core/internal/workplace.hpp>
#include <handoff/pool/detail/engine.hpp>
#include <handoff/pool/detail/sleepers.hpp>
#include <handoff/pool/detail/unqueued_tasks.hpp>
#include <handoff/pool/detail/worker.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "explore/scenario.hpp"
#include "explore/scenarios/pool/sleeper.hpp"
#include "pool/crew.hpp"

namespace crew_scenarios { namespace {

using namespace handoff;
using namespace handoff::detail;
using test::Scenario;

// The pool of a crew, for its workers to name. Nobody here looks at it.
Engine& nobodys_pool() {
  alignas(Engine) static std::array<std::byte, sizeof(Engine)> place;
  return reinterpret_cast<Engine&>(place);
}

// A slot is made once, and what one guest does there comes before what the next one does.
const Scenario slot_changes_hands("crew/slot_changes_hands", [] {
  Crew crew(nobodys_pool(), 0);
  sync::cell<int> guests;
  const auto visit = [&] {
    Worker* const guest = crew.take_slot();
    if (guest == nullptr) return;
    ++guests.write();
    crew.leave_slot(*guest);
  };
  explore::Thread other(visit);
  visit();
  other.join();
  explore::check(guests.read() > 0, "one slot, and a guest had it");
  explore::outcome(static_cast<std::uint64_t>(guests.read()));
});

// ... and the place that the guest had on its thread is nobody's when it changes hands.
const Scenario sits_and_stands_up("crew/sits_and_stands_up", [] {
  Crew crew(nobodys_pool(), 0);
  const auto visit = [&crew] {
    Worker* const guest = crew.sit_down(nullptr);
    if (guest == nullptr) return;
    explore::check(workplace() == guest && crew.sit_down(guest) == guest, "it works there");
    explore::check(!crew.stand_up(*guest) && crew.stand_up(*guest), "until it has got up twice");
    explore::check(workplace() == nullptr, "and nowhere any more");
  };
  explore::Thread other(visit);
  visit();
});

// A guest that wakes nobody, because somebody searches, is seen by that one when it has found work.
const Scenario guest_beside_found("crew/guest_beside_found", [] {
  Crew crew(nobodys_pool(), 0);
  Sleepers sleepers;
  test::beside_a_sleeper(sleepers, [&] {
    bool told = false;
    sleepers.begin_search();
    explore::Thread guest([&] {
      (void)crew.take_slot();
      told = sleepers.wanted();
    });
    const auto left = sleepers.end_search();
    const bool seen = left.nobody_searches && left.asleep != 0 && crew.somebody_sits();
    guest.join();
    explore::check(told || seen, "one of the two sees the other");
  });
});

const Scenario worker_counter("worker/counter", [] {
  Counter figure;
  sync::cell<int> effect;
  explore::Thread worker([&] {
    effect.write() = 1;
    figure.add();
  });
  if (figure.read() == 1) explore::check(effect.read() == 1, "what was counted is seen");
});

const Scenario unqueued_count("unqueued_tasks/count", [] {
  UnqueuedTasks tasks;
  sync::cell<int> effect;
  explore::Thread caller([&] {
    (void)tasks.accept();
    effect.write() = 1;
    tasks.count(Outcome::failed);
  });
  if (tasks.finished() == 1) {
    explore::check(effect.read() == 1, "what was counted is seen");
    explore::check(tasks.accepted() == 1, "and was accepted before");
  }
});

// Either the task is refused, or the closer knows of it.
const Scenario unqueued_close("unqueued_tasks/close", [] {
  UnqueuedTasks tasks;
  sync::cell<int> before;
  bool accepted = false;
  explore::Thread caller([&] {
    accepted = tasks.accept();
    if (tasks.closed()) explore::check(before.read() == 1, "what came before the close");
  });
  before.write() = 1;
  tasks.close();
  const auto counted = tasks.accepted();
  caller.join();
  explore::check(!accepted || counted == 1, "the count is whole");
  explore::check(!tasks.accept(), "closed is closed");
  explore::outcome(accepted ? 1 : 0);
});

}}  // namespace crew_scenarios
