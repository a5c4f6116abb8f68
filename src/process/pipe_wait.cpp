// SPDX-License-Identifier: MIT
//
// ppoll(2), with the deadline and the stop of an Until.
#include "pipe_wait.hpp"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <handoff/probe/internal/slice.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// How often a stop is looked for where it cannot ring.
constexpr std::chrono::milliseconds kLook{10};

}  // namespace

timespec as_timespec(std::chrono::nanoseconds time) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = static_cast<time_t>(std::min<std::int64_t>(seconds.count(), INT32_MAX)),
          .tv_nsec = static_cast<long>((time - seconds).count())};
}

PipeWait::PipeWait(const Until& until) : until_(until), stop_(until.stop_token()) {
  if (!stop_.stop_possible()) return;
  bell_ = Descriptor(descriptors::of_event(EFD_NONBLOCK));
  if (bell_.is_open()) callback_.emplace(stop_, &PipeWait::ring, this);
}

void PipeWait::ring(void* self) noexcept {
  descriptors::ring(static_cast<PipeWait*>(self)->bell_.get());
}

bool PipeWait::over() const noexcept {
  return stop_.stop_requested() ||
         (until_.has_deadline() && sync::clock::now() >= until_.deadline());
}

bool PipeWait::sleep() noexcept {
  for (;;) {
    const bool last = over();
    std::chrono::nanoseconds most = std::chrono::nanoseconds::max();
    if (until_.has_deadline()) most = until_.deadline() - sync::clock::now();
    if (stop_.stop_possible() && !bell_.is_open())
      most = std::min<std::chrono::nanoseconds>(most, kLook);
    most = last ? most.zero() : std::max(most, most.zero());
    const timespec time = as_timespec(most);
    const bool for_ever = most == std::chrono::nanoseconds::max();
    polled_[count_] = {.fd = bell_.get(), .events = POLLIN, .revents = 0};
    const probe::Slice asleep(probe::Kind::sleep, "wait");
    const int ready = ::ppoll(polled_.data(), count_ + 1, for_ever ? nullptr : &time, nullptr);
    if (ready < 0) {
      for (std::size_t i = 0; i < count_; ++i) polled_[i].revents = 0;  // nothing is known
      if (last && errno != EINTR) return false;
      continue;
    }
    if (std::any_of(polled_.begin(), polled_.begin() + static_cast<std::ptrdiff_t>(count_),
                    [](const pollfd& each) { return each.revents != 0; })) {
      return true;
    }
    if (last) return false;
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
