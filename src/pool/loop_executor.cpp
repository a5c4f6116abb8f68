// SPDX-License-Identifier: MIT
//
// How the owner of a loop hears of tasks, and how it runs them.
//
//   LX-1  While there is something to drain, the owner has been told. It has been told exactly
//         while the descriptor, if there is one, is readable. Both change with the mutex alone, so
//         a post comes before the owner's last look, or tells.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/internal/unheard.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/pool/loop_executor.hpp>
#include <system_error>

#include "../sync/internal/descriptor.hpp"
#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI {

using detail::Outcome;

LoopExecutor::~LoopExecutor() {
  (void)close(Closing::abandon);
  if (event_ >= 0) (void)::close(event_);
}

// ---- The owner is told, with the mutex ----------------------------------------------------------

void LoopExecutor::tell() noexcept {
  is_told_.store(true, sync::order::relaxed);  // order: relaxed, see is_told()
  const std::uint64_t one = 1;
  if (event_ >= 0) (void)!::write(event_, &one, sizeof one);  // a count of 1 always has room
  if (waiting_ != 0) arrivals_.notify_one();
}

// There is nothing to drain.
void LoopExecutor::rest() noexcept {
  if (!is_told()) return;
  is_told_.store(false, sync::order::relaxed);  // order: relaxed, see is_told()
  std::uint64_t count = 0;
  if (event_ >= 0) (void)!::read(event_, &count, sizeof count);
}

int LoopExecutor::descriptor() {
  const sync::SeenLock lock(mutex_);
  if (event_ < 0) {
    event_ = detail::descriptors::of_event(EFD_NONBLOCK);
    if (event_ < 0) {
      raise(std::system_error(errno, std::generic_category(), "LoopExecutor: eventfd"));
    }
    if (is_told()) tell();
  }
  return event_;
}

// ---- Drains -------------------------------------------------------------------------------------

bool LoopExecutor::has_next() noexcept {
  if (inbox_.has_taken()) return true;
  const sync::SeenLock lock(mutex_);
  return inbox_.refill();
}

// What the task threw, if nobody else is told.
std::exception_ptr LoopExecutor::run_next(Outcome wish) noexcept {
  std::exception_ptr thrown;
  const auto note = [this](const std::exception_ptr& error) noexcept {
    const sync::SeenLock lock(mutex_);
    if (!first_failure_) first_failure_ = error;
  };
  ++begun_;
  ++depth_;
  inbox_.run(
      inbox_.take(), wish,
      [&](const std::exception_ptr& error) noexcept {
        note(error);
        thrown = error;
      },
      note);
  --depth_;
  return thrown;
}

void LoopExecutor::end_drain() noexcept {
  const sync::SeenLock lock(mutex_);
  if (is_empty()) rest();
}

std::size_t LoopExecutor::drain_until(sync::Deadline deadline) {
  std::uint64_t limit = 0;
  {
    const sync::SeenLock lock(mutex_);
    limit = inbox_.accepted();
  }
  std::size_t count = 0;
  std::exception_ptr thrown;
  while (begun_ < limit && !thrown && has_next()) {
    thrown = run_next(Outcome::done);
    ++count;
    if (deadline != sync::no_deadline && sync::clock::now() >= deadline) break;
  }
  end_drain();
  if (thrown) std::rethrow_exception(std::move(thrown));
  return count;
}

Status LoopExecutor::wait(const Until& until) {
  {
    const sync::SeenLock lock(mutex_);
    if (!is_empty()) return Status::ok;
    if (is_closed_) return Status::closed;
    rest();
    ++waiting_;
  }
  const detail::Lending lending;
  const Status said =
      detail::status_of(arrivals_.await([this] { return is_told(); }, until.deadline(),
                                        until.stop_token(), sync::spin_policy(), "idle"));
  const sync::SeenLock lock(mutex_);
  --waiting_;
  if (said != Status::ok || !is_empty()) return said;
  return Status::closed;  // shut() told it
}

// ---- The end ------------------------------------------------------------------------------------

void LoopExecutor::shut() noexcept {
  const sync::SeenLock lock(mutex_);
  is_closed_ = true;
  if (!is_told()) tell();
}

Tally LoopExecutor::close(const Closing& closing) {
  if (depth_ != 0) misuse("LoopExecutor: closed or destroyed inside one of its own tasks");
  {
    const sync::SeenLock lock(mutex_);
    is_closed_ = true;
  }
  const auto wish = [&closing] {
    if (!closing.begins_more) return Outcome::cancelled;
    return closing.is_late() ? Outcome::expired : Outcome::done;
  };
  while (has_next()) {
    if (const std::exception_ptr thrown = run_next(wish())) {
      detail::unheard(thrown, {.type = "LoopExecutor",
                               .remedy = "call drain() before close(), or catch it there"});
    }
  }
  end_drain();
  return tally();
}

Tally LoopExecutor::tally() const {
  const sync::SeenLock lock(mutex_);
  Tally tally = inbox_.tally();
  tally.first_failure = first_failure_;
  return tally;
}

}}  // namespace handoff::HANDOFF_ABI
