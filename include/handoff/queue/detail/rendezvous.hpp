// SPDX-License-Identifier: MIT
//
// Where pushes and pops meet: RendezvousChannel without its items. Not for users.
//
// A Party is a push or a pop on its thread's stack. Two parties of different sides meet, whichever
// comes second, under the mutex: the push's item is made in the pop's place, and both are done. A
// party that finds none stands in the line of its side until one comes, or until it leaves again.
// Protocol and proof: docs/design/channel.md.
//
// Invariants, under the mutex:
//   RV-1  One of the two lines is empty; both are once it is closed.
//   RV-2  A party in a line is alive, has not met, and its outcome is `empty`. Who takes it out of
//         the line says the outcome, except the party itself when it leaves.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/queue/detail/select_list.hpp>
#include <handoff/queue/internal/ring_positions.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/mutex.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Rendezvous {
 public:
  // Makes the item of a push in the place of a pop. False: it threw, which the push keeps.
  using HandOver = bool (*)(void* item, void* place) noexcept;

  class Party {
   public:
    // A push.
    Party(void* item, HandOver hand_over) noexcept : hand_over_(hand_over), item_(item) {}
    // A pop.
    explicit Party(void* place) noexcept : item_(place) {}

   private:
    friend class Rendezvous;
    template <class>
    friend struct Books;
    bool is_push() const noexcept { return hand_over_ != nullptr; }

    const HandOver hand_over_ = nullptr;
    void* const item_;
    Selection sleeper_;
    sync::cell<Status> outcome_{Status::empty};
    sync::cell<Party*> next_;  // the links are the line's
    sync::cell<Party*> previous_;
  };

  // ok, closed; full for a push and empty for a pop where nobody of the other side waits.
  Status try_meet(Party& self) noexcept;
  // Waits for one. ok, closed, timed_out or stopped.
  Status meet(Party& self, const Until& until);

  void close() noexcept;
  bool closed() const noexcept { return closed_.is_seen(); }

  // A select was woken for a push that waits, and has taken another item: wakes the next one.
  void pass_on() noexcept;
  SelectList& selects() noexcept { return selects_; }

 private:
  template <class>
  friend struct Books;

  struct Line {
    sync::cell<Party*> first;
    sync::cell<Party*> last;
  };

  Line& line_of(bool of_pushes) noexcept { return of_pushes ? pushes_ : pops_; }
  // With mutex_ held.
  Status met(Party& self) noexcept;
  void append(Party& self) noexcept;
  void unlink(Party& party) noexcept;
  void finish(Party& party, Status outcome) noexcept;
  // Behind a change that a select may wait for.
  void tell_selects(std::uint32_t most) noexcept;

  sync::Mutex mutex_;
  RingClosed closed_;
  Line pushes_;
  Line pops_;
  SelectList selects_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
