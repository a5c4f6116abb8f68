// SPDX-License-Identifier: MIT
//
// The result of a Future, unless a timer is faster. Not for users, who have with_timeout().
//
// Two race, the source's result and the timer, and who comes first says so in `over_`: that one
// delivers. Protocol and proof: docs/design/future.md.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/status.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// `Timer`: a handle whose cancel() ends what the timer keeps, unless that is about to run.
template <class R, class Timer>
class TimedResult final : public OwedResult<R> {
 public:
  // What the timer keeps, and calls. Where it ends uncalled, there is no timer any more: the result
  // is dropped as stopped.
  class Alarm {
   public:
    // The moment is there, on a thread that may not be held up: the first half of the call below,
    // which comes later, where what follows may run. It may be left out.
    void moment_comes() const noexcept { timed_->come(); }
    void operator()() const noexcept { timed_->expire(Status::timed_out); }

   private:
    friend TimedResult;
    struct LetGo {
      void operator()(TimedResult* timed) const noexcept {
        timed->expire(Status::stopped);
        timed->let_go();
      }
    };
    explicit Alarm(TimedResult& timed) noexcept : timed_(&timed) {}
    std::unique_ptr<TimedResult, LetGo> timed_;
  };

  // start(Alarm&&): the Timer. What it throws comes out of here; and if it has not moved the alarm,
  // `future` is as it was.
  template <class Start>
  static Future<R> make(Future<R>& future, const Start& start) {
    auto* const timed = RawBox<TimedResult>().make(FutureAccess::release_source(future));
    auto in_time = FutureAccess::make<R>(timed);
    std::unique_ptr<TimedResult, NoSource> source_use(timed);
    Alarm alarm(*timed);
    call_or([&] { timed->timer_ = start(std::move(alarm)); },
            [&]() noexcept {
              if (alarm.timed_ == nullptr) return;
              future = FutureAccess::make<R>(timed->source_.release());
              timed->drop(Status::stopped);
              alarm.timed_.release()->let_go();
            });
    FutureState& before = *source_use.release()->source_;
    sync::given(timed);
    before.continue_with({&arrive, timed});
    return in_time;
  }

 private:
  friend class RawBox<TimedResult>;

  struct NoSource {
    void operator()(TimedResult* timed) const noexcept { timed->let_go(); }
  };

  explicit TimedResult(SourceOwner<R> source) noexcept : source_(std::move(source)) {}
  ~TimedResult() = default;

  // True for one of the two.
  // order: relaxed, each brings what it delivers itself.
  bool is_first() noexcept { return !over_.exchange(true, sync::order::relaxed); }

  // The source is ready.
  static FutureState::Next arrive(void* self) noexcept {
    sync::taken(self);
    auto& timed = *static_cast<TimedResult*>(self);
    if (timed.is_first()) {
      (void)timed.timer_.cancel();
      if (timed.take_failure_of(*timed.source_)) {
        timed.finish();
      } else {
        timed.deliver([&timed]() -> R { return timed.source_->take(); });
      }
    }
    timed.let_go();
    return {};
  }

  // Those that wait are told before anything else can be held up. FU-12.
  void come() noexcept {
    if (!is_first()) return;
    source_->ask_by_token(left_);
    this->set_not_run(Status::timed_out);
    sync::given(static_cast<FutureState*>(this));
    is_continued_ = this->tell_ready();
    has_come_ = true;  // equivalent(swap): a thread's own until the call below
  }

  // Nobody can have what the source comes to: it is asked to stop.
  void expire(Status why) noexcept {
    if (std::exchange(has_come_, false)) {
      source_->ask_the_rest(std::exchange(left_, nullptr));
      this->finish_told(is_continued_);
    } else if (is_first()) {
      (void)source_->request_stop();
      this->drop(why);
    }
  }

  void let_go() noexcept {
    // order: acq_rel, the end comes after what all others did here.
    if (uses_.fetch_sub(1, sync::order::acq_rel) == 1) RawBox<TimedResult>::destroy(this);
  }

  void destroy() noexcept override { let_go(); }
  bool ask_to_stop(FutureState::Asking& asking) noexcept override {
    FutureState::ask(*source_, asking);
    return false;
  }

  SourceOwner<R> source_;
  Timer timer_;
  FutureState* left_ = nullptr;  // by the timer, between its two calls, as the two below
  sync::atomic<bool> over_{false};
  bool is_continued_ = false;
  bool has_come_ = false;
  sync::atomic<std::uint32_t> uses_{3};  // by the source, the timer, and the state
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
