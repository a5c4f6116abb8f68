// SPDX-License-Identifier: MIT
//
// The inside of MessageWorkers, which knows no message's type: places, hand-over, pause, close. Not
// for users.
//
// Its parts no template needs: src/bus/message_engine.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <handoff/bus/detail/message_node.hpp>
#include <handoff/bus/worker_health.hpp>
#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/internal/fork.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

struct MessageWorkersOptions;

namespace detail {

struct GateSeat;
struct RunningMessage;

class MessageEngine {
 public:
  // What publish() may do where there is no room.
  struct Wish {
    OnFull on_full;
    const Until* until = nullptr;  // of a wait; null: for ever
  };
  // An empty node for a message, or why there is none.
  struct Place {
    MessageNode* node = nullptr;
    Status why = Status::closed;
    bool run_here = false;  // the caller is to call run_here()
  };

  // Nothing runs until start().
  MessageEngine(const MessageWorkersOptions& options, const MessageOps& ops);
  ~MessageEngine();

  bool is_started() const noexcept;
  // Once. The handlers outlive this.
  void start(const void* handlers) noexcept;

  // The way in: a place, where the caller makes the message, says its type and its key, and hands
  // it over. Throws std::bad_alloc.
  Place reserve(const Wish& wish, bool keyed);
  void hand_over(MessageNode& node) noexcept;
  OnFull on_full() const noexcept;

  // Runs a message that stays with the caller; returns when its handler has run, here or where the
  // message before it ran. ok, closed. If `tells`, what became of it, too: throws what the handler
  // threw; stopped: a close cancelled it; timed_out: a close let it expire.
  Status run_here(void* message, std::uint32_t type, bool keyed, std::uint64_t key, bool tells);

  // See MessageWorkers.
  Status pause(const Until& until);
  void resume() noexcept;
  Status wait(const Until& until);
  Tally close(const Closing& closing);
  Tally tally() const noexcept;
  std::uint64_t refused() const noexcept;
  HealthReport health() const;
  std::size_t width() const noexcept;
  std::size_t capacity() const noexcept;

 private:
  struct Parts;
  struct CallersNode;
  class Turn;

  GateSeat* seat_here() const noexcept;
  const RunningMessage* innermost() const noexcept { return innermost(seat_here()); }
  const RunningMessage* innermost(const GateSeat* seat) const noexcept;
  void refuse_inside(const char* what) const;
  void refuse_own_key(std::uint64_t key) const;

  Place accepted(MessageNode* node) noexcept;
  Place await_room(const Until& until);
  bool post(MessageNode& first) noexcept;
  void run_all(MessageNode& first) noexcept;
  void run(MessageNode& node) noexcept;
  MessageNode* run_last_of_key(MessageNode& node) noexcept;
  Outcome perform(MessageNode& node) noexcept;
  void keep_failure(MessageNode& node) noexcept;
  void give_back(MessageNode& node) noexcept;
  void finish(MessageNode& node, Outcome outcome) noexcept;
  void tell() noexcept;
  void finish_all(const Closing& closing);

  std::unique_ptr<Parts> parts_;
  const sync::Origin origin_ = sync::Origin::here();
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
