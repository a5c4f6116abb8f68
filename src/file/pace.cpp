// SPDX-License-Identifier: MIT
//
// Bandwidth shares.
#include "pace.hpp"

#include <algorithm>

#include "../sync/internal/seen_sanitizer.hpp"
#include "../sync/internal/sleep.hpp"
#include "driver.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// What was not spent is kept for this long.
constexpr auto kBurst = std::chrono::milliseconds(20);

}  // namespace

FilePace::FilePace(std::uint64_t bytes_per_second, const std::string& name)
    : ns_per_byte_(1e9 / static_cast<double>(bytes_per_second)),
      thread_({.name = name + "/pace"}, [this] { work(); }) {}

// Under the mutex.
bool FilePace::take(std::uint64_t bytes, sync::Deadline now) noexcept {
  if (paid_off_ > now) return false;
  const double ns = std::min(static_cast<double>(bytes) * ns_per_byte_, 1e17);
  paid_off_ =
      std::max(paid_off_, now - kBurst) + std::chrono::nanoseconds(static_cast<std::int64_t>(ns));
  return true;
}

bool FilePace::spend(FileTask& task, std::uint64_t bytes, bool park) noexcept {
  {
    const sync::SeenLock lock(mutex_);
    if (parked_.empty() && take(bytes, sync::clock::now())) return true;
    if (!park) return false;
    task.wanted = bytes;
    parked_.push(task);
  }
  changed_.notify_one();
  return false;
}

void FilePace::wait(std::uint64_t bytes) noexcept {
  for (;;) {
    sync::Deadline moment{};
    {
      const sync::SeenLock lock(mutex_);
      if (take(bytes, sync::clock::now())) return;
      moment = paid_off_;
    }
    sync::sleep_until(moment);
  }
}

void FilePace::close() noexcept {
  {
    const sync::SeenLock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FilePace::work() noexcept {
  for (bool over = false; !over;) {
    FileRun* begins = nullptr;
    sync::Deadline moment = sync::no_deadline;
    const auto look = [&] {
      const sync::SeenLock lock(mutex_);
      over = closed_;
      moment = parked_.empty() ? sync::no_deadline : paid_off_;
      if (parked_.empty()) return over;
      const auto* const first = static_cast<FileTask*>(parked_.first());
      if (take(first->wanted, sync::clock::now())) begins = parked_.pop();
      return true;
    };
    (void)changed_.await(look, sync::no_deadline, {}, sync::Spin::never);
    if (begins != nullptr) {
      begins->driver->start(*begins);
    } else if (!over) {
      sync::sleep_until(moment);
    }
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
