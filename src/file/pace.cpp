// SPDX-License-Identifier: MIT
//
// Bandwidth shares.
#include "pace.hpp"

#include <algorithm>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"
#include "../sync/internal/sleep.hpp"
#include "driver.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// What was not spent is kept for this long.
constexpr auto kBurst = std::chrono::milliseconds(20);
// What waits for its share is asked this often whether it has been stopped.
constexpr auto kLookEach = std::chrono::milliseconds(20);

void sleep_towards(sync::Deadline moment) noexcept {
  sync::sleep_until(std::min(moment, sync::clock::now() + kLookEach));
}

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
  if (task.given_up() != 0) return true;
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

void FilePace::wait(const FileTask& task, std::uint64_t bytes) noexcept {
  while (task.given_up() == 0) {
    sync::Deadline moment{};
    {
      const sync::SeenLock lock(mutex_);
      if (take(bytes, sync::clock::now())) return;
      moment = paid_off_;
    }
    sleep_towards(moment);
  }
}

bool FilePace::enter(FileTask& task) noexcept {
  if (task.given_up() != 0) return true;
  {
    const sync::SeenLock lock(mutex_);
    if (places_ != 0) {  // then nobody waits for one
      --places_;
      return task.has_place = true;
    }
    entrants_.push(task);
  }
  changed_.notify_one();
  return false;
}

FileRun* FilePace::leave(FileTask& task) noexcept {
  if (!task.has_place) return nullptr;
  const sync::SeenLock lock(mutex_);
  FileRun* const next = entrants_.pop();
  if (next == nullptr) ++places_;
  else static_cast<FileTask*>(next)->has_place = true;
  return next;
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
    RunQueue begins;
    sync::Deadline moment = sync::no_deadline;
    const auto look = [&] {
      const sync::SeenLock lock(mutex_);
      over = closed_;
      if (parked_.empty() && entrants_.empty()) return over;
      for (RunQueue* const queue : {&parked_, &entrants_}) {
        for (RunQueue all = std::exchange(*queue, {}); FileRun* const run = all.pop();) {
          (run->given_up() != 0 ? begins : *queue).push(*run);
        }
      }
      const auto* const first = static_cast<FileTask*>(parked_.first());
      if (first != nullptr && take(first->wanted, sync::clock::now())) begins.push(*parked_.pop());
      moment = parked_.empty() ? sync::no_deadline : paid_off_;
      return true;
    };
    (void)changed_.await(look, sync::no_deadline, {}, sync::Spin::never);
    if (begins.empty() && !over) sleep_towards(moment);
    while (FileRun* const run = begins.pop()) run->driver->start(*run);
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
