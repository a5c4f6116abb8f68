// SPDX-License-Identifier: MIT
//
// What a Pipeline is, whatever its stages: its members, its tokens, its end. Not for users.
//
// A member is a thread that works for the pipeline: a function of the executor, or a caller that
// waits. It takes a token that is ready, or a new item from the source, and goes on with it as far
// as the doors let it. What it has to leave at a door, another member takes along.
//
//   PL-3  A token is free, or with one member, or at a door, or in the list of ready ones.
//   PL-4  A member leaves with the mutex, when no token is ready and the source cannot be entered,
//         or when it leaves the source to another member.
//   PL-5  The pipeline is over when the source is and no member is active.
//
// Proof: docs/design/pipeline.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/internal/gate.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/graph/detail/pipeline_door.hpp>
#include <handoff/graph/pipeline_options.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fork.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/sync/stop_token.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What a member counts for itself, and the token that it keeps for its next item.
struct PipelineMember {
  PipelineToken* hand = nullptr;
  sync::clock::time_point began = {};
  std::uint64_t taken = 0;  // tokens that it went on with
  std::uint64_t met = 0;    // how often another one had the source
  bool gives_way = false;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t expired = 0;
};

class PipelineCore {
 public:
  class Call;

  // What the stages are to it.
  struct Line {
    // Works as long as there is work.
    void (*work)(PipelineCore& core, PipelineMember& member) noexcept;
    // try_post() of the executor.
    Status (*post)(PipelineCore& core, Call& call);
    // Closes the channel behind the last stage.
    void (*end_sink)(PipelineCore& core) noexcept;
  };

  PipelineCore(const Line& line, const PipelineOptions& options, std::size_t width, bool is_pushed);
  ~PipelineCore() = default;
  void end() noexcept;  // behind close(): nobody touches the stages any more
  PipelineCore(const PipelineCore&) = delete;
  PipelineCore& operator=(const PipelineCore&) = delete;

  std::size_t tokens() const noexcept { return options_.tokens; }
  std::size_t ring() const noexcept { return ring_; }

  // --- For the members. ---

  // What is to become of an item that comes to its next stage.
  Outcome wish() const noexcept {
    const sync::Deadline last = last_moment();
    return last == sync::no_deadline ? Outcome::done : wish_by(last);
  }

  // A token whose turn at `stage` it is.
  void make_ready(PipelineToken& token, std::uint32_t stage) noexcept;
  // Null: none.
  PipelineToken* take_ready() noexcept {
    // order: relaxed, a hint: who leaves looks with the mutex.
    return has_ready_.load(sync::order::relaxed) ? take_ready_slow() : nullptr;
  }

  // True: the source is the caller's, as long as it likes.
  bool enter_source() noexcept {
    if (is_source_taken() || is_source_over()) return false;  // a look first
    // order: acquire pairs with the release in leave_source().
    return !is_source_taken_.exchange(true, sync::order::acquire);
  }
  void leave_source() noexcept {
    // order: release pairs with the acquire in enter_source().
    is_source_taken_.store(false, sync::order::release);
  }
  // Nothing more comes from it. `wished`: of the next item; where that is no longer done, `until`
  // has cut it off.
  void end_source(Outcome wished = Outcome::done) noexcept;

  // By the member that has the source: a free token, null if there is none.
  PipelineToken* take_free(PipelineMember& member) noexcept;
  void put_free(PipelineToken& token) noexcept;
  // The number of a new item, in its token.
  void begin_item(PipelineToken& token) noexcept {
    using sync::order;
    token.item = items();
    token.is_there = true;
    items_.store(token.item + 1, order::relaxed);  // order: relaxed, one member writes
  }
  std::uint64_t items() const noexcept {
    return items_.load(sync::order::relaxed);  // order: relaxed, the own, or a figure
  }

  // There may be work for one member more.
  void invite() noexcept {
    // order: relaxed, a hint.
    if (has_room_.load(sync::order::relaxed)) call_one();
  }

  // Whether to look once more before one leaves.
  bool await_source(PipelineMember& member) noexcept;
  // False: there is work after all.
  bool leave(PipelineMember& member) noexcept;

  // What a stage threw, or the source, is being handled.
  void fail(std::uint64_t item, std::size_t stage, const char* name) noexcept;

  // The channel behind the last stage is closed: nothing more begins.
  Outcome give_up() noexcept;

  // How long the source may wait for an item, and a sink for room.
  Until source_until() const noexcept { return {deadline(), source_stop_.token}; }
  Until sink_until() const noexcept { return {deadline(), sink_stop_.token}; }

  // --- For who pushes. ---

  // The member that holds it has the source.
  sync::Mutex& pushing() noexcept { return pushing_; }
  bool is_source_over() const noexcept {
    // order: relaxed, nothing lies behind the word: what members did comes by the mutex.
    return source_end_.load(sync::order::relaxed) != Status::ok;
  }
  // full: what push() says at once. ok: it may try again.
  Status make_room(const Until& until);

  // --- For the owner. ---

  void start(bool calls) noexcept;
  Status wait(const Until& until);
  Tally close(const Closing& closing);
  Tally tally() const;
  bool is_here() const noexcept;

 private:
  struct Lease;
  class Here;
  struct Leased {
    explicit Leased(PipelineCore& core);
    ~Leased();
    Leased(const Leased&) = delete;
    Leased& operator=(const Leased&) = delete;

    Lease& lease;
  };
  struct Stop {
    sync::StopSource source;
    sync::StopToken token = source.token();
  };

  static void stop(void* core) noexcept;
  sync::Deadline deadline() const noexcept;
  sync::Deadline last_moment() const noexcept {
    // order: relaxed, no other memory is read on account of this word.
    return last_.load(sync::order::relaxed);
  }
  Outcome wish_by(sync::Deadline last) const noexcept;
  void limit(const Closing& closing) noexcept;
  PipelineToken* take_ready_slow() noexcept;
  void look_for_ready() noexcept;
  bool reserve_call() noexcept;
  void call_one() noexcept;
  bool may_call() const noexcept;
  void judge_stay(const PipelineMember& member) noexcept;
  void post_reserved() noexcept;
  void look_for_room() noexcept;
  void end_sink_if_over() noexcept;
  bool is_over() const noexcept;
  bool is_source_taken() const noexcept {
    // order: relaxed, a look: the exchange in enter_source() decides.
    return is_source_taken_.load(sync::order::relaxed);
  }
  bool has_free() const noexcept {
    // order: relaxed, a look: take_free() acquires the token.
    return free_.load(sync::order::relaxed) != nullptr;
  }
  bool may_pull() const noexcept;
  bool may_help() const noexcept;
  bool join() noexcept;
  bool await_end(const Until& until, bool helps);
  void arrive_called() noexcept;
  void lose_called() noexcept;
  void work() noexcept;

  const sync::Origin origin_ = sync::Origin::here();
  const Line line_;
  const PipelineOptions options_;
  const std::size_t ring_;
  const std::size_t width_;
  const bool is_pushed_;
  const Leased leased_;
  Stop source_stop_;
  Stop sink_stop_;

  alignas(sync::destructive_span) sync::atomic<bool> is_source_taken_{false};
  sync::atomic<std::uint64_t> items_{0};
  alignas(sync::destructive_span) sync::atomic<PipelineToken*> free_{nullptr};
  // ok: it goes on. closed, or by `until` stopped, timed_out: why it does not.
  alignas(sync::destructive_span) sync::atomic<Status> source_end_{Status::ok};
  sync::atomic<bool> has_room_{false};  // for a member
  sync::atomic<bool> has_ready_{false};
  sync::atomic<sync::Deadline> last_;  // from this moment on no stage begins; see limit()
  sync::atomic<sync::clock::rep> calls_after_{0};  // no call before; 0: at once

  // With the mutex.
  alignas(sync::destructive_span) mutable sync::Mutex mutex_;
  PipelineToken* first_ready_ = nullptr;
  PipelineToken* last_ready_ = nullptr;
  std::size_t active_ = 0;
  std::size_t called_ = 0;
  bool is_started_ = false;
  bool is_sink_ended_ = false;
  sync::clock::duration pause_{0};
  std::uint32_t waiting_ = 0;
  Tally counts_;  // of members that have left
  std::exception_ptr untaken_;

  sync::Mutex pushing_;
  sync::EventCount changes_;  // for the owner
  sync::EventCount room_;  // for who pushes
  sync::StopCallback stopped_;
};

// One member that was called. As movable as the functions of an executor have to be.
class PipelineCore::Call {
 public:
  explicit Call(Lease& lease) noexcept;
  Call(Call&& other) noexcept : lease_(std::exchange(other.lease_, nullptr)) {}
  Call& operator=(Call&& other) noexcept {
    std::swap(lease_, other.lease_);
    return *this;
  }
  ~Call() {
    if (lease_ != nullptr) end(false);
  }
  void operator()() noexcept { end(true); }

 private:
  void end(bool works) noexcept;

  Lease* lease_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
