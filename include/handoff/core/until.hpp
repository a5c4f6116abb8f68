// SPDX-License-Identifier: MIT
//
// How long a call may wait: for ever, for a time, up to a moment, until a stop, or the first of a
// time and a stop.
//
//   Status said = channel.pop(item);         // for ever
//   said = channel.pop(item, 10ms);          // at most 10 ms from now
//   said = channel.pop(item, stop);          // until a stop is requested
//   said = channel.pop(item, {10ms, stop});  // whichever comes first
//
// For: the last parameter of every call of the library that waits; the first, where any number of
//   others follow (select(), enqueue()). Not for: keeping. An Until refers to the stop token, so it
//   lives no longer than that; make one where you call. Options of work that outlives the call have
//   a KeptUntil, which is made of the same things and owns its token; it can be given as an Until.
// Concurrency: a value. Blocks, throws: never. Allocates: never; a wait that has to sleep with a
//   std::stop_token allocates once, and may throw std::bad_alloc.
// Time: a duration counts from the moment at which the Until is made, which reads the clock
//   (about 25 ns); a moment is one of std::chrono::steady_clock, which no step of the wall clock
//   moves. Nothing or less has passed already; what is too far away never comes.
#pragma once

#include <chrono>
#include <stop_token>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/stop_token.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class Until {
 public:
  // For ever.
  constexpr Until() noexcept = default;

  // For a time. Implicit, as are the next ones: wait(10ms).
  template <class Rep, class Period>
  Until(std::chrono::duration<Rep, Period> time) noexcept  // NOLINT(google-explicit-constructor)
      : deadline_(sync::deadline_after(time)) {}

  // Up to a moment.
  constexpr Until(  // NOLINT(google-explicit-constructor)
      std::chrono::steady_clock::time_point moment) noexcept
      : deadline_(moment) {}

  // The wall clock may be set while the call waits: take a duration, or a moment of steady_clock.
  Until(std::chrono::system_clock::time_point moment) = delete;

  // Until a stop is requested. The token outlives the call.
  constexpr Until(const sync::StopToken& stop) noexcept  // NOLINT(google-explicit-constructor)
      : stop_(&stop) {}
  constexpr Until(const std::stop_token& stop) noexcept  // NOLINT(google-explicit-constructor)
      : standard_stop_(&stop) {}

  // Whichever comes first.
  constexpr Until(const Until& time, const sync::StopToken& stop) noexcept : Until(time) {
    stop_ = &stop;
    // equivalent(delete): the standard one is not asked where there is another
    standard_stop_ = nullptr;
  }
  constexpr Until(const Until& time, const std::stop_token& stop) noexcept : Until(time) {
    stop_ = nullptr;
    standard_stop_ = &stop;
  }

  // The moment; sync::no_deadline: none.
  [[nodiscard]] constexpr sync::Deadline deadline() const noexcept { return deadline_; }

  // Whether a deadline is set. No clock is read without one.
  [[nodiscard]] constexpr bool has_deadline() const noexcept {
    return deadline_ != sync::no_deadline;
  }

  // Whether a stop can ever end the wait.
  [[nodiscard]] bool stop_possible() const noexcept {
    return stop_ != nullptr ? stop_->stop_possible()
                            : standard_stop_ != nullptr && standard_stop_->stop_possible();
  }
  // Whether one has been requested.
  [[nodiscard]] bool stop_requested() const noexcept {
    return stop_ != nullptr ? stop_->stop_requested()
                            : standard_stop_ != nullptr && standard_stop_->stop_requested();
  }

  // Whether it ends at all. False for one that is made of nothing, and of an empty token.
  [[nodiscard]] bool can_end() const noexcept { return has_deadline() || stop_possible(); }

  // A token of its own, for a wait that is about to sleep. Allocates for a std::stop_token.
  [[nodiscard]] sync::StopToken stop_token() const {
    if (stop_ != nullptr) return *stop_;
    return standard_stop_ != nullptr ? sync::StopToken(*standard_stop_) : sync::StopToken();
  }

 private:
  sync::Deadline deadline_ = sync::no_deadline;
  const sync::StopToken* stop_ = nullptr;
  const std::stop_token* standard_stop_ = nullptr;
};

// The same, made of the same things, and kept: it owns its token. For a std::stop_token it
// allocates once, and may throw std::bad_alloc.
class KeptUntil {
 public:
  KeptUntil() noexcept = default;
  template <class Rep, class Period>
  KeptUntil(  // NOLINT(google-explicit-constructor)
      std::chrono::duration<Rep, Period> time) noexcept
      : deadline_(sync::deadline_after(time)) {}
  template <class Duration>
  KeptUntil(  // NOLINT(google-explicit-constructor)
      std::chrono::time_point<std::chrono::steady_clock, Duration> moment) noexcept
      : deadline_(moment) {}
  KeptUntil(sync::StopToken stop) noexcept  // NOLINT(google-explicit-constructor)
      : stop_(std::move(stop)) {}
  KeptUntil(std::stop_token stop)  // NOLINT(google-explicit-constructor)
      : stop_(std::move(stop)) {}
  KeptUntil(const Until& until)  // NOLINT(google-explicit-constructor)
      : deadline_(until.deadline()), stop_(until.stop_token()) {}
  KeptUntil(const Until& time, sync::StopToken stop) noexcept
      : deadline_(time.deadline()), stop_(std::move(stop)) {}
  // A number, a moment of the wall clock, a source.
  template <class Wrong>
  KeptUntil(const Wrong& /*unused*/) {  // NOLINT(google-explicit-constructor)
    static_assert(
        sizeof(Wrong) == 0,
        ".until takes a time with its unit (10ms), a moment of steady_clock, a stop token "
        "(not its source), or a time and a token: {10ms, token}");
  }

  // As those of Until.
  [[nodiscard]] sync::Deadline deadline() const noexcept { return deadline_; }
  [[nodiscard]] bool has_deadline() const noexcept { return deadline_ != sync::no_deadline; }
  [[nodiscard]] const sync::StopToken& stop_token() const noexcept { return stop_; }

  // As an argument. It refers to this one.
  operator Until() const noexcept {  // NOLINT(google-explicit-constructor)
    return {deadline_, stop_};
  }

 private:
  sync::Deadline deadline_ = sync::no_deadline;
  sync::StopToken stop_;
};

}}  // namespace handoff::HANDOFF_ABI
