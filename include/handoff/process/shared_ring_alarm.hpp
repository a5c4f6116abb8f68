// SPDX-License-Identifier: MIT
//
// A descriptor that becomes readable when a ring in shared memory has something to take: for
// poll(), epoll, and the event loops that are made of them.
//
//   SharedByteRing::Consumer in(ring);
//   handoff::SharedRingAlarm alarm;
//   loop.add(alarm.descriptor(), on_readable);
//
//   // Once at the start, and whenever the descriptor is readable:
//   Status said = Status::ok;
//   do {
//     while ((said = in.try_peek(record)) == Status::ok) {
//       parse(record);
//       in.release();
//     }
//   } while (said == Status::empty && !alarm.arm(in));
//   if (said == Status::closed) loop.remove(alarm.descriptor());
//
// For: a consumer of a SharedRing, SharedByteRing, SharedMpscRing or SharedBroadcast whose thread
//   also waits for other things. Not for: a thread that waits for one ring (pop()), which wakes up
//   sooner; a SharedBroadcast in memory that is mapped for reading only: to sleep is to write.
// The descriptor is an eventfd of this process alone. It is not to be read from: arm() does that.
// A thread of the alarm's own sleeps on the ring, as a consumer does, and only while it is armed.
//   So producers know nothing of it, need no descriptor, and make no system call while nobody
//   sleeps; and what wakes a consumer wakes it: an item, a close by any process, a word about a
//   death. It costs a second wake-up.
// Concurrency: arm() by the consumer's thread. An alarm is for one ring and one consumer at a time.
//   A pop() that waited may have taken the thread's turn: arm again after it.
// Blocks: the destructor, until the thread has ended. Allocates: the constructor.
// Exceptions: the constructor std::system_error, std::bad_alloc. The ring's memory outlives it.
// Fork: a child has the descriptor and not the thread: it makes an alarm of its own.
#pragma once

#include <memory>

#include <handoff/config.hpp>
#include <handoff/process/detail/ring_watch.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class SharedRingAlarm {
 public:
  // Starts the thread.
  SharedRingAlarm();
  // Ends it.
  ~SharedRingAlarm();
  SharedRingAlarm(const SharedRingAlarm&) = delete;
  SharedRingAlarm& operator=(const SharedRingAlarm&) = delete;

  // The alarm's, close-on-exec.
  [[nodiscard]] int descriptor() const noexcept;

  // By the consumer, after it found nothing. True: the descriptor is not readable now, and becomes
  // so, once, when the consumer should look again. False: it should look now; nothing is armed.
  template <class Consumer>
  [[nodiscard]] bool arm(const Consumer& consumer) noexcept {
    return arm_for(detail::RingWatching::of(consumer));
  }

 private:
  class Watchman;

  bool arm_for(const detail::RingWatch& watch) noexcept;

  std::unique_ptr<Watchman> watchman_;
};

}}  // namespace handoff::HANDOFF_ABI
