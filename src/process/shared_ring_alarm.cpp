// SPDX-License-Identifier: MIT
//
// The thread that sleeps on a ring's bell for a thread that sleeps in poll().
//
//   RA-1  While it is armed, the thread is on its way to the bell, or marked there, or has found
//         the watch ready. What else takes the mark away (a pop() that waited) is followed by an
//         arm(), which disturbs the bell if the thread may sleep there.
//   RA-2  The thread leaves its mark behind (BellSleepers::many): it must not take away one of the
//         consumer's.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <handoff/core/misuse.hpp>
#include <handoff/process/shared_ring_alarm.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/sync/stop_token.hpp>
#include <memory>
#include <system_error>
#include <utility>

#include "../sync/internal/descriptor.hpp"
#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

int open_alarm_event() {
  const int made = detail::descriptors::of_event(EFD_NONBLOCK);
  if (made < 0)
    raise(std::system_error(errno, std::generic_category(), "SharedRingAlarm: eventfd"));
  return made;
}

}  // namespace

class SharedRingAlarm::Watchman {
 public:
  Watchman()
      : event_(open_alarm_event()), thread_({.name = "ring-alarm"}, [this] { watch_rings(); }) {}
  ~Watchman() {
    stop_.request_stop();
    thread_.join();
  }

  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

  bool arm(const detail::RingWatch& watch) noexcept {
    bool is_at_bell = false;
    {
      const sync::SeenLock lock(mutex_);
      std::uint64_t count = 0;
      (void)!::read(event_.get(), &count, sizeof count);  // or there is nothing to read
      armed_ = !watch.ready();
      if (!armed_) return false;
      watch_ = watch;
      is_at_bell = is_at_bell_;
    }
    if (is_at_bell) {
      watch.doorbell->disturb();  // RA-1
    } else {
      calls_.notify_one();
    }
    return true;
  }

 private:
  void watch_rings() noexcept {
    const sync::StopToken stop = stop_.token();
    detail::RingWatch watch;
    detail::BellPatience patience;
    while (calls_.await([&] { return take(watch); }, sync::no_deadline, stop) ==
           sync::Wakeup::notified) {
      (void)watch.doorbell->await([&] { return is_over(); }, stop, detail::BellSleepers::many,
                                  patience);
      ring();
    }
  }

  // Whether there is a bell to go to.
  bool take(detail::RingWatch& watch) noexcept {
    const sync::SeenLock lock(mutex_);
    is_at_bell_ = armed_;
    watch = watch_;
    return armed_;
  }
  // The watch may have become another one of the same ring meanwhile.
  bool is_over() noexcept {
    const sync::SeenLock lock(mutex_);
    return !armed_ || watch_.ready();
  }
  void ring() noexcept {
    const sync::SeenLock lock(mutex_);
    is_at_bell_ = false;
    if (!std::exchange(armed_, false)) return;
    detail::descriptors::ring(event_.get());
  }

  detail::Descriptor event_;
  sync::StopSource stop_;
  sync::EventCount calls_;
  sync::Mutex mutex_;
  detail::RingWatch watch_;  // this and what follows under the mutex
  bool armed_ = false;
  bool is_at_bell_ = false;
  sync::Thread thread_;  // the last: it uses all of them
};

SharedRingAlarm::SharedRingAlarm() : watchman_(std::make_unique<Watchman>()) {}
SharedRingAlarm::~SharedRingAlarm() = default;

int SharedRingAlarm::descriptor() const noexcept { return watchman_->descriptor(); }

bool SharedRingAlarm::arm_for(const detail::RingWatch& watch) noexcept {
  return watchman_->arm(watch);
}

}}  // namespace handoff::HANDOFF_ABI
