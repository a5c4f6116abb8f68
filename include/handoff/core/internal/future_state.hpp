// SPDX-License-Identifier: MIT
//
// What a Future and the maker of its result share. Not for users.
//
// A state holds one result: of a task (future_work.hpp), of what follows other results (future.hpp,
// when_all.hpp), or of an operation elsewhere (promise.hpp). Protocol and proof:
// docs/design/future.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/future_host.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/status.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/stop_token.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Workplace;

// The maker and the Future have a share each; giving back the last one ends the state.
class FutureState {
 public:
  // What comes when a result is there. It returns what comes then, so that a long chain needs no
  // deep stack. Without a `call` nothing comes.
  struct Next {
    Next (*call)(void* argument) noexcept = nullptr;
    void* argument = nullptr;
  };

  FutureState(const FutureState&) = delete;
  FutureState& operator=(const FutureState&) = delete;

  // The task's side: each ends its share.
  Outcome run_as_task() noexcept;
  Outcome drop_as_task(Outcome why) noexcept;
  // For a task that only one worker may run: nobody else begins it. Before it is handed over, which
  // ends by one of the two.
  void leave_to_task() noexcept { (void)claim(); }
  Outcome run_claimed() noexcept;
  Outcome drop_claimed(Outcome why) noexcept;

  // The host's side, in FutureHost::visit().
  Outcome make_as_task() noexcept;

  // The Future's side.
  bool is_ready() const noexcept {
    // order: acquire pairs with the releases in finish_alone() and tell_ready(): the result.
    const bool is_there = (word_.load(sync::order::acquire) & kReady) != 0;
    if (is_there) sync::taken(this);
    return is_there;
  }
  Status wait(sync::Deadline deadline, const sync::StopToken& stop) noexcept;
  void leave() noexcept {
    sync::given(this);
    give_back(kFutureGone);
  }
  // Nobody wants to hear what it threw; or it was passed on.
  void leave_heard() noexcept {
    sync::given(this);
    give_back(kFutureGone | kHeard);
  }
  // For bring(): until it is ready, or somebody set the flag and then called wake().
  void sleep_unless(const sync::atomic<bool>& flag) noexcept {
    // order: relaxed, as in sleep().
    word_.fetch_or(kAwaited, sync::order::relaxed);
    (void)ready_.await(
        [&]() noexcept {
          // order: relaxed, a hint: the strand's lock decides.
          return is_ready() || flag.load(sync::order::relaxed);
        },
        sync::no_deadline, {}, sync::Spin::never);
  }
  void wake() noexcept { ready_.notify_all(); }
  // Drops a task that nobody has begun. False: there is none.
  bool cancel() noexcept;
  // Asks all tasks that this one hangs on: one that nobody has begun is dropped, one that takes a
  // stop token hears of it. False: there is none that was not asked before.
  bool request_stop() noexcept;
  // The same in two steps, for a thread that must not run what others wrote. The first one asks
  // only by tokens. States whose result was left to it meanwhile (follow()) come into `left`;
  // nobody but the caller's own state may follow them. The second one makes those, and asks all.
  void ask_by_token(FutureState*& left) noexcept;
  void ask_the_rest(FutureState* left) noexcept;

  // `next` is called once, when the result is there, on the thread that made it. False: it is there
  // already, and `next` is the caller's.
  [[nodiscard]] bool continue_later(Next next) noexcept;
  // The same, but then calls it here; deep inside other such calls a little later (inside.hpp). The
  // `next` that is called holds this state until then.
  void continue_with(Next next) noexcept;

  // Once ready: whether there is no result; why it was not made, ok if it threw; and what get()
  // throws. The last two say that somebody hears of it.
  bool has_failed() const noexcept {
    sync::taken(this);
    return not_run_ != Status::ok || error_ != nullptr;
  }
  Status not_run() const noexcept {
    sync::taken(this);
    return not_run_;
  }
  std::exception_ptr failure();
  [[noreturn]] void rethrow();

  // The side of Inside: what was put off behind this one; and calls what follows, now.
  FutureState*& put_off_after() noexcept { return put_off_after_; }
  void call_put_off() noexcept;

  // The type of a task's function, as type_name() says it; null: no task.
  virtual const char* type() const noexcept { return nullptr; }
  // What the options of the task call it; empty: nothing.
  virtual const char* given_name() const noexcept { return ""; }

 protected:
  // A task of the host, or without one what follows others.
  explicit FutureState(FutureHost* host) noexcept : FutureState(host, 0) {}
  // What comes from elsewhere: nobody here can begin it.
  struct ComesByItself {
    FutureHost* host = nullptr;  // for bring()
  };
  explicit FutureState(ComesByItself by) noexcept : FutureState(by.host, kClaimed) {}
  ~FutureState() = default;

  // What there is instead of a result.
  const std::exception_ptr& error() const noexcept { return error_; }
  void set_error(std::exception_ptr error) noexcept { error_ = std::move(error); }
  void set_not_run(Status why) noexcept { not_run_ = why; }
  bool take_failure_of(const FutureState& source) noexcept {
    sync::taken(&source);
    not_run_ = source.not_run_;
    error_ = source.error_;
    return has_failed();
  }

  FutureHost* host() const noexcept { return host_; }
  void set_handed() noexcept { is_handed_ = true; }

  // The result, or what there is instead, is there: ends the maker's share.
  void finish() noexcept {
    sync::given(this);
    finish(kMakerGone);
  }

  // The same, and gives up the Future's share of `source`; a thread that visits this state does so
  // later, in its place.
  void finish_behind(FutureState& source) noexcept;

  // The sources of a state that follows others are ready, which is said once. Makes the result,
  // unless a task that waits for it looks at it just now, which then does.
  Next follow() noexcept;

  // The result, or what there is instead, is there: in two steps. The first one tells those that
  // wait; the second one, with what that returned, calls what follows, and ends the maker's share.
  bool tell_ready() noexcept;
  void finish_told(bool is_continued, std::uint32_t share = kMakerGone) noexcept;

  // One after the other.
  static void call_each(Next next) noexcept;

  // How states are asked to stop.
  struct Asking {
    bool by_token_only = false;
    bool asked = false;  // somebody was, who had not been before
    FutureState* left = nullptr;  // see ask_by_token()
  };
  static void ask(FutureState& state, Asking& asking) noexcept;

  // What a state that follows others has.
  struct Way {
    // The way of a task that waits, through such states down to tasks. Only for a holder of the
    // state.
    FutureState* above = nullptr;  // where it came from
    std::size_t next = 0;  // source to go to

    sync::atomic<const FutureHost*> maker{nullptr};  // the executor of the thread that follows
  };

 private:
  enum Bits : std::uint32_t {
    kClaimed = 1,  // somebody makes the result
    kReady = 2,  // the result is there
    kAwaited = 4,  // a thread may sleep for it
    kContinued = 8,  // next_ has to be called
    kMakerGone = 16,  // the two shares
    kFutureGone = 32,
    kHeld = 64,  // a task that waits looks at the sources
    kHeard = 128,  // what was thrown is somebody's, or nobody's on purpose
  };

  class Pending;
  struct Help;
  struct Ask;

  FutureState(FutureHost* host, std::uint32_t word) noexcept : host_(host), word_(word) {}

  // Makes the result, or keeps what was thrown.
  virtual Outcome compute() noexcept { return Outcome::elsewhere; }
  // Ends the closure uncalled.
  virtual void discard() noexcept {}
  // Ends all of it.
  virtual void destroy() noexcept = 0;
  // Null: this one follows no others.
  virtual Way* way() noexcept { return nullptr; }
  // Those that it follows; null behind the last one. Only for a holder of the state.
  virtual FutureState* source(std::size_t /*index*/) noexcept { return nullptr; }
  // By a task that waits `here`, and cannot claim it: runs what makes it, if nobody does. May
  // `sleep` until it can, or need not. True: it is ready.
  virtual bool bring(Workplace& /*here*/, bool /*sleep*/) noexcept { return false; }
  // Asks what it makes itself to stop, and notes that. False: so it asked all that it hangs on.
  virtual bool ask_to_stop(Asking& /*asking*/) noexcept { return true; }

  bool claim() noexcept {
    // order: relaxed. Task and Future, which may claim, both came by the closure otherwise.
    return (word_.fetch_or(kClaimed, sync::order::relaxed) & kClaimed) == 0;
  }
  bool finish_alone(std::uint32_t share) noexcept;
  Next take_next(bool is_continued, std::uint32_t share) noexcept;
  void finish(std::uint32_t share) noexcept;
  void give_back(std::uint32_t share) noexcept;
  void hear() noexcept {
    // order: relaxed, the reader's share is given back behind it.
    word_.fetch_or(kHeard, sync::order::relaxed);
  }
  void tell_unheard() noexcept;
  Outcome make() noexcept;
  bool hold() noexcept;
  bool let_go() noexcept;
  static void make_left(void* state) noexcept;
  template <class Visitor>
  void visit_sources(Visitor& visitor) noexcept;
  bool help(Workplace& here, Pending& pending) noexcept;
  void begin_here(Workplace& here) noexcept;
  bool comes_soon() const noexcept;
  Status sleep(sync::Deadline deadline, const sync::StopToken& stop, sync::Spin spin) noexcept;

  FutureHost* const host_;
  sync::atomic<std::uint32_t> word_;
  Status not_run_ = Status::ok;
  bool owes_share_ = false;  // put off with the maker's share
  bool is_handed_ = false;  // an executor makes it of its source: what waits looks no further
  sync::EventCount ready_;
  std::exception_ptr error_;
  sync::cell<Next> next_;
  FutureState* put_off_after_ = nullptr;
};

// NotRun, made where exceptions are on: std::make_exception_ptr() of another unit makes nothing.
std::exception_ptr failure_of(Status why, const char* task = "");

// The result of type R, once it is there.
template <class R>
class FutureResult : public FutureState {
 public:
  // Once ready: the result, once; or throws what there is instead.
  R take() {
    if (has_failed()) [[unlikely]]
      rethrow();
    if constexpr (!std::is_void_v<R>) return result();
  }
  // Nobody reads it any more.
  void end_result() noexcept { result_.reset(); }
  // Where it lies, if there is one and R is not void.
  std::add_rvalue_reference_t<R> result() noexcept {
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(*result_->value);
    } else {
      // NOLINTNEXTLINE(bugprone-unchecked-optional-access): ready, and it has not failed
      return std::move(result_->value);
    }
  }

 protected:
  using FutureState::FutureState;
  ~FutureResult() = default;

  // Keeps what make() returns, or what it throws; then it says false.
  template <class Make>
  bool keep(Make&& make) noexcept {
    return attempt([&] { emplace(make); },
                   [this]() noexcept { this->set_error(std::current_exception()); });
  }

 private:
  template <class Make>
  void emplace(Make& make) {
    if constexpr (std::is_void_v<R>) {
      static_cast<void>(make());
    } else {
      result_.emplace(make);
    }
  }

  // The result is made in its place, without a move, and by nothing but make(): a type that can be
  // made of anything, as std::any, is not offered more than that.
  struct Nothing {};
  struct Referred {
    template <class Make>
    explicit Referred(Make& make) {
      R made = make();
      value = std::addressof(made);
    }
    std::add_pointer_t<R> value;
  };
  struct Made {
    template <class Make>
    explicit Made(Make& make) : value(make()) {}
    std::remove_cv_t<R> value;
  };
  using Kept = std::conditional_t<std::is_void_v<R>, Nothing,
                                  std::conditional_t<std::is_reference_v<R>, Referred, Made>>;
  std::optional<Kept> result_;
};

// The Future's share in a state.
struct LeaveState {
  void operator()(FutureState* state) const noexcept { state->leave(); }
};
template <class R>
using StateOwner = std::unique_ptr<FutureResult<R>, LeaveState>;

// The same of what follows the state: it passes on what that threw, or drops it on purpose.
struct LeaveSource {
  void operator()(FutureState* state) const noexcept { state->leave_heard(); }
};
template <class R>
using SourceOwner = std::unique_ptr<FutureResult<R>, LeaveSource>;

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
