// SPDX-License-Identifier: MIT
//
// A wait for descriptors, up to a deadline or a stop.
#pragma once

#include <poll.h>
#include <time.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <handoff/config.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/stop_token.hpp>
#include <optional>

#include "../sync/internal/descriptor.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// At most 68 years, which a time_t of 32 bits has.
timespec as_timespec(std::chrono::nanoseconds time) noexcept;

class PipeWait {
 public:
  // Throws std::bad_alloc, for a std::stop_token.
  explicit PipeWait(const Until& until);
  PipeWait(const PipeWait&) = delete;
  PipeWait& operator=(const PipeWait&) = delete;

  // What is waited for next; a descriptor below 0 is not.
  void clear() noexcept { count_ = 0; }
  void add(int descriptor, short events) noexcept {
    polled_[count_++] = {.fd = descriptor, .events = events, .revents = 0};
  }
  // Sleeps until one is ready (or closed, or broken) or the Until is over: then it looks once more.
  // False if none is.
  bool sleep() noexcept;
  [[nodiscard]] bool over() const noexcept;
  [[nodiscard]] bool is_ready(std::size_t which) const noexcept {
    return polled_[which].revents != 0;
  }

 private:
  static constexpr std::size_t kMost = 4;
  static void ring(void* self) noexcept;

  const Until until_;
  const sync::StopToken stop_;
  Descriptor bell_;  // an eventfd; none if it could not be had, or nothing can stop the wait
  std::optional<sync::StopCallback> callback_;
  std::array<pollfd, kMost + 1> polled_{};
  std::size_t count_ = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
