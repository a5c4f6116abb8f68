// SPDX-License-Identifier: MIT
//
// How a select looks, sleeps and is woken. Protocol and proof: docs/design/channel.md.
//
// Invariants, for each list, under its mutex:
//   SL-1  size_ is the number of its nodes.
//   SL-2  The selection of a linked node is alive; after remove() nobody holds on to it.
#include <handoff/core/internal/status_of.hpp>
#include <handoff/queue/select.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/internal/fence.hpp>
#include <handoff/sync/internal/thread_slot.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

void SelectList::add(SelectNode& node) noexcept {
  const sync::Lock lock(mutex_);
  SelectNode* const last = last_.read();
  node.next.write() = nullptr;
  node.previous.write() = last;  // equivalent(swap): different links, all under the mutex
  // equivalent(swap): different links, all under the mutex; whose to write was chosen by a copy of
  // last_
  (last != nullptr ? last->next : first_).write() = &node;
  last_.write() = &node;
  size_.fetch_add(1, order::relaxed);  // order: relaxed, the fence in wait_for_any() follows
}

void SelectList::remove(SelectNode& node) noexcept {
  const sync::Lock lock(mutex_);
  SelectNode* const next = node.next.read();
  SelectNode* const previous = node.previous.read();
  // equivalent(swap): different links, all under the mutex
  (previous != nullptr ? previous->next : first_).write() = next;
  // equivalent(swap): a link and the size, both under the mutex
  (next != nullptr ? next->previous : last_).write() = previous;
  size_.fetch_sub(1, order::relaxed);  // order: relaxed, under the mutex (SL-1)
}

void SelectList::fire(std::uint32_t most) noexcept {
  const sync::Lock lock(mutex_);
  SelectNode* node = first_.read();
  for (; node != nullptr && most != 0; node = node->next.read()) {
    if (node->selection->fire()) --most;
  }
}

namespace {

// In the lists of all its sources, from construction to the end of the scope.
class Listed {
 public:
  Listed(std::span<SelectSource* const> sources, Selection& selection) noexcept
      : sources_(sources) {
    selection.arm();
    for (SelectSource* source : sources_) {
      source->node.selection = &selection;
      source->sleepers().add(source->node);
    }
    // order: seq_cst fence, partner is the one before SelectList::notify(): a change that the look
    // after this one misses finds the list not empty.
    sync::fence(order::seq_cst);
  }
  ~Listed() {
    for (SelectSource* source : sources_) source->sleepers().remove(source->node);
  }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

 private:
  std::span<SelectSource* const> sources_;
};

// Looks once while listed; sleeps if there is nothing. What woke it is for the caller to see.
Selected look_or_sleep(std::span<SelectSource* const> sources, std::size_t first,
                       Selection& selection, sync::Deadline deadline, const sync::StopToken& stop) {
  const Listed listed(sources, selection);
  const Selected selected = look_at_all(sources, first);
  if (selected.status != Status::empty) return selected;
  const Status slept = status_of(selection.sleep(deadline, stop));
  return slept == Status::ok ? selected : Selected{slept, 0};
}

Selected sleep_for_any(std::span<SelectSource* const> sources, std::size_t first,
                       const Until& until) {
  Selection selection;
  const sync::StopToken stop = until.stop_token();
  for (;;) {
    Selected selected = look_or_sleep(sources, first, selection, until.deadline(), stop);
    const Status woken = selected.status;
    // Out of the lists by now: whatever fired this selection is seen by one more look.
    if (woken != Status::ok && woken != Status::closed) selected = look_at_all(sources, first);
    if (selected.status == Status::ok) {
      for (SelectSource* source : sources) source->pass_on();
    }
    if (selected.status != Status::empty) return selected;
    if (woken != Status::empty) return {woken, 0};
  }
}

struct SelectTurn;

}  // namespace

std::size_t next_turn() noexcept { return sync::thread_slot<std::size_t, SelectTurn>::get()++; }

Selected look_at_all(std::span<SelectSource* const> sources, std::size_t first) noexcept {
  bool all_closed = true;
  // equivalent(bound): the first source is looked at once more, which is a look a little later
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::size_t index = (first + i) % sources.size();
    const Status status = sources[index]->look();
    if (status == Status::ok) return {Status::ok, index};
    all_closed = all_closed && status == Status::closed;
  }
  return {all_closed ? Status::closed : Status::empty, 0};
}

Selected wait_for_any(std::span<SelectSource* const> sources, std::size_t first,
                      const Until& until) {
  for (sync::Backoff backoff;;) {
    const Selected selected = look_at_all(sources, first);
    if (selected.status != Status::empty) return selected;
    if (!backoff.snooze()) return sleep_for_any(sources, first, until);
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
