// SPDX-License-Identifier: MIT
//
// The tasks of an executor that runs one at a time: put in by any thread, taken by one. Not for
// users.
//
// Two lists. Producers append to one of them under the executor's lock; when the consumer has run
// all of the other, it swaps the two under the lock. So a task costs its producer one lock, the
// consumer locks once for all that came meanwhile, and the memory of both lists is used again.
// The executor counts by this as well: what was accepted under the lock, what ended by the consumer
// alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/future_work.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/outcome.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/internal/type_name.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Given what is to become of it: runs (done) or is dropped. Returns what became of it; throws what
// nobody else is told of. What its Future is told of is noted.
using InboxTask = UniqueFunction<Outcome(Outcome wish, std::exception_ptr& noted)>;

// A function without a result.
template <class F>
struct PostedTask {
  template <class Given>
  explicit PostedTask(std::in_place_t /*tag*/, Given&& given)
      : function(std::forward<Given>(given)) {}
  Outcome operator()(Outcome wish, std::exception_ptr& /*noted*/) {
    if (wish == Outcome::done) detail::call_and_drop(function);
    return wish;
  }
  F function;
};

// For a task that waits `here`: the strand's turn, if the strand is there. See strand.cpp.
bool bring_by_turn(FutureHost* strand, FutureState& awaited, Workplace& here, bool sleep) noexcept;

// The result of a function that nobody but its executor may begin: it has its turn.
template <class R, class F, class... Args>
class InboxWork final : public OwedResult<R> {
 public:
  template <class... Given>
  explicit InboxWork(FutureHost* host, Given&&... given)
      : OwedResult<R>(host), call_(std::in_place, std::forward<Given>(given)...) {}

  const char* type() const noexcept override { return type_name<F>(); }

  // Ends the maker's share.
  Outcome end(Outcome wish, std::exception_ptr& noted) noexcept {
    if (wish == Outcome::done && !this->keep([this]() -> R { return call_as_moved<R>(*call_); })) {
      noted = this->error();
      wish = Outcome::failed;
    }
    call_.reset();  // before anybody hears: it may hold what the waiting thread is about to end
    if (wish == Outcome::done || wish == Outcome::failed) {
      this->finish();
    } else {
      this->drop(reason_of(wish));
    }
    return wish;
  }

 private:
  void destroy() noexcept override { RawBox<InboxWork>::destroy(this); }
  bool bring(Workplace& here, bool sleep) noexcept override {
    return this->host() != nullptr && bring_by_turn(this->host(), *this, here, sleep);
  }

  std::optional<std::tuple<F, Args...>> call_;
};

// A function with a result. Destroyed uncalled it is dropped.
template <class Work>
class SubmittedTask {
 public:
  explicit SubmittedTask(Work* work) noexcept : work_(work) {}
  SubmittedTask(SubmittedTask&& other) noexcept : work_(std::exchange(other.work_, nullptr)) {}
  SubmittedTask& operator=(SubmittedTask&&) = delete;
  ~SubmittedTask() {
    std::exception_ptr none;
    if (work_ != nullptr) (void)work_->end(Outcome::cancelled, none);
  }
  Outcome operator()(Outcome wish, std::exception_ptr& noted) noexcept {
    return std::exchange(work_, nullptr)->end(wish, noted);
  }

 private:
  Work* work_;
};

class TaskInbox {
 public:
  // --- With the executor's lock. ---

  // Makes the task in it; if that throws, or there is no memory, nothing changed.
  template <class Make>
  void put(const Make& make) {
    if (incoming_.size() == incoming_.capacity()) incoming_.reserve(2 * incoming_.size() + 8);
    incoming_.push_back(make());
    ++accepted_;
  }
  // One that is not put in; and one less, as it was refused.
  void accept() noexcept { ++accepted_; }
  void refuse() noexcept { --accepted_; }
  std::uint64_t accepted() const noexcept { return accepted_; }
  bool has_incoming() const noexcept { return !incoming_.empty(); }

  // But for what was thrown.
  Tally tally() const noexcept {
    Tally tally;
    tally.accepted = accepted_;
    tally.done = ended(Outcome::done);
    tally.failed = ended(Outcome::failed);
    tally.cancelled = ended(Outcome::cancelled);
    tally.expired = ended(Outcome::expired);
    tally.pending = accepted_ - tally.done - tally.failed - tally.cancelled - tally.expired;
    return tally;
  }

  // --- By the consumer. ---

  bool has_taken() const noexcept { return next_ != taken_.size(); }
  // All that was taken has run; with the lock: takes what came meanwhile. Whether anything did.
  bool refill() noexcept {
    taken_.clear();
    next_ = 0;
    // A backlog that is over: its memory goes.
    if (taken_.capacity() > kKept) std::vector<InboxTask>().swap(taken_);
    taken_.swap(incoming_);
    return has_taken();
  }
  // The next one of what was taken.
  InboxTask take() noexcept { return std::move(taken_[next_++]); }

  // Runs a task or drops it, ends its closure and counts it. failed(error) for what nobody else is
  // told of, noted(error) for what its Future is.
  template <class Failed, class Noted>
  void run(InboxTask task, Outcome wish, const Failed& failed, const Noted& noted) noexcept {
    std::exception_ptr error;
    Outcome outcome = Outcome::failed;
    const bool returned = attempt([&] { outcome = task(wish, error); },
                                  [&error]() noexcept { error = std::current_exception(); });
    task = nullptr;
    count(outcome);
    if (error) returned ? noted(error) : failed(error);
  }

 private:
  using Counter = sync::atomic<std::uint64_t>;

  // Tasks whose memory stays: 64 KiB in each list.
  static constexpr std::size_t kKept = 1024;

  void count(Outcome outcome) noexcept {
    const auto which = static_cast<std::size_t>(outcome);
    // order: release pairs with the acquire in ended(): what the task did.
    ended_[which].store(++counted_[which], sync::order::release);
  }
  std::uint64_t ended(Outcome outcome) const noexcept {
    // order: acquire pairs with the release in count().
    return ended_[static_cast<std::size_t>(outcome)].load(sync::order::acquire);
  }

  std::vector<InboxTask> incoming_;
  std::uint64_t accepted_ = 0;
  std::vector<InboxTask> taken_;
  std::size_t next_ = 0;
  std::uint64_t counted_[4] = {};  // the consumer's own: what it has stored in the next
  Counter ended_[4] = {Counter(0), Counter(0), Counter(0), Counter(0)};  // by Outcome
};

}}}  // namespace handoff::HANDOFF_ABI::detail
