// SPDX-License-Identifier: MIT
//
// How a push and a pop meet, wait and part. The invariants are in rendezvous.hpp; protocol and
// proof: docs/design/channel.md.
#include <handoff/core/internal/status_of.hpp>
#include <handoff/queue/detail/rendezvous.hpp>
#include <handoff/sync/internal/fence.hpp>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

void Rendezvous::append(Party& self) noexcept {
  Line& line = line_of(self.is_push());
  Party* const last = line.last.read();
  self.previous_.write() = last;
  // equivalent(swap): different links, all under the mutex; whose to write was chosen by a copy
  (last != nullptr ? last->next_ : line.first).write() = &self;
  line.last.write() = &self;
}

void Rendezvous::unlink(Party& party) noexcept {
  Line& line = line_of(party.is_push());
  Party* const next = party.next_.read();
  Party* const previous = party.previous_.read();
  // equivalent(swap): different links, all under the mutex
  (previous != nullptr ? previous->next_ : line.first).write() = next;
  // equivalent(swap): a link and an outcome, both under the mutex
  (next != nullptr ? next->previous_ : line.last).write() = previous;
}

// Under the mutex to the end: the party comes for it before it is gone.
void Rendezvous::finish(Party& party, Status outcome) noexcept {
  unlink(party);
  party.outcome_.write() = outcome;
  (void)party.sleeper_.fire();
}

// `empty`: nobody to meet. An item that cannot be made ends its push, and a pop goes on.
Status Rendezvous::met(Party& self) noexcept {
  if (closed_.is_said()) return Status::closed;
  while (Party* const other = line_of(!self.is_push()).first.read()) {
    const Party& push = self.is_push() ? self : *other;
    const bool is_made = push.hand_over_(push.item_, (self.is_push() ? *other : self).item_);
    if (is_made || !self.is_push()) finish(*other, Status::ok);
    if (is_made || self.is_push()) return Status::ok;
  }
  return Status::empty;
}

Status Rendezvous::try_meet(Party& self) noexcept {
  const sync::SeenLock lock(mutex_);
  const Status status = met(self);
  return status == Status::empty && self.is_push() ? Status::full : status;
}

Status Rendezvous::meet(Party& self, const Until& until) {
  const Status at_once = try_meet(self);
  if (at_once == Status::ok || at_once == Status::closed) return at_once;
  const sync::StopToken stop = until.stop_token();  // may throw: before anybody can meet this one
  {
    const sync::SeenLock lock(mutex_);
    const Status status = met(self);
    if (status != Status::empty) return status;
    append(self);
  }
  if (self.is_push()) tell_selects(1);
  const Status slept = status_of(self.sleeper_.sleep(until.deadline(), stop, sync::spin_policy(),
                                                     self.is_push() ? "full" : "wait"));
  const sync::SeenLock lock(mutex_);
  if (self.outcome_.read() != Status::empty) return self.outcome_.read();
  unlink(self);
  return slept;
}

void Rendezvous::close() noexcept {
  {
    const sync::SeenLock lock(mutex_);
    closed_.close();
    for (Line* const line : {&pushes_, &pops_}) {
      while (Party* const first = line->first.read()) finish(*first, Status::closed);
    }
  }
  tell_selects(~std::uint32_t{0});
}

void Rendezvous::pass_on() noexcept {
  {
    const sync::SeenLock lock(mutex_);
    if (pushes_.first.read() == nullptr) return;
  }
  tell_selects(1);
}

void Rendezvous::tell_selects(std::uint32_t most) noexcept {
  // order: seq_cst fence, partner is the one in Listed's constructor (select.cpp): a select whose
  // look misses the change is found in the list.
  sync::fence(sync::order::seq_cst);
  selects_.notify(most);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
