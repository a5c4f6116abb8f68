// SPDX-License-Identifier: MIT
//
// eventpp's policies: what a program says about its lists, dispatchers and queues.
//
//   struct MyPolicies {
//     using Threading = eventpp::SingleThreading;
//     static int getEvent(const MyEvent& event) { return event.type; }
//   };
//   eventpp::EventDispatcher<int, void(const MyEvent&), MyPolicies> dispatcher;
//
// For: programs written against eventpp. Not for: new ones, see handoff/event/.
// What is left out has a default: getEvent, canContinueInvoking, Mixins, Callback, Threading,
// ArgumentPassingMode, Map<Key, T>, QueueList<Item>. docs/guide/from-eventpp.md says what each of
// them costs: an own mutex, atomic or map means that a mutex is taken where none is by default.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include <handoff/sync/backoff.hpp>

// What the optimised fork calls the size of a cache line.
#ifndef EVENTPP_CACHELINE_SIZE
#if defined(__APPLE__) && defined(__aarch64__)
#define EVENTPP_CACHELINE_SIZE 128
#else
#define EVENTPP_CACHELINE_SIZE 64
#endif
#endif
#define EVENTPP_ALIGN_CACHELINE alignas(EVENTPP_CACHELINE_SIZE)

namespace eventpp {

struct TagHomo {};
struct TagHeter {};
struct TagCallbackList : TagHomo {};
struct TagEventDispatcher : TagHomo {};
struct TagEventQueue : TagHomo {};
struct TagHeterCallbackList : TagHeter {};
struct TagHeterEventDispatcher : TagHeter {};
struct TagHeterEventQueue : TagHeter {};

// A mutex that spins for some looks and then sleeps, so that it also works where there are more
// threads than CPUs, or threads of different real-time priorities.
class SpinLock {
 public:
  void lock() noexcept {
    for (handoff::sync::Backoff backoff; !try_lock();) {
      if (!backoff.snooze()) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  bool try_lock() noexcept {
    // order: acquire pairs with the release in unlock().
    return !locked_.test_and_set(std::memory_order_acquire);
  }
  void unlock() noexcept {
    locked_.clear(std::memory_order_release);  // order: release pairs with try_lock()
  }

 private:
  std::atomic_flag locked_ = ATOMIC_FLAG_INIT;
};

template <class Mutex_, template <class> class Atomic_ = std::atomic,
          class ConditionVariable_ = std::condition_variable>
struct GeneralThreading {
  using Mutex = Mutex_;
  template <class T>
  using Atomic = Atomic_<T>;
  using ConditionVariable = ConditionVariable_;
};

// Any threads. The default.
struct MultipleThreading : GeneralThreading<std::mutex> {};

// One thread: nothing is locked, and a wait does not sleep, for nobody else could end it.
struct SingleThreading {
  struct Mutex {
    void lock() noexcept {}
    bool try_lock() noexcept { return true; }
    void unlock() noexcept {}
  };

  template <class T>
  class Atomic {
   public:
    Atomic() noexcept = default;
    constexpr Atomic(T value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor)
    void store(T value, std::memory_order = std::memory_order_seq_cst) noexcept { value_ = value; }
    T load(std::memory_order = std::memory_order_seq_cst) const noexcept { return value_; }
    T exchange(T value, std::memory_order = std::memory_order_seq_cst) noexcept {
      return std::exchange(value_, value);
    }
    T operator=(T value) noexcept { return value_ = value; }  // NOLINT: as std::atomic's
    operator T() const noexcept { return value_; }  // NOLINT(google-explicit-constructor)
    T operator++() noexcept { return ++value_; }
    T operator--() noexcept { return --value_; }

   private:
    T value_{};
  };

  struct ConditionVariable {
    void notify_one() noexcept {}
    void notify_all() noexcept {}
    template <class Lock, class Predicate>
    void wait(Lock&, Predicate) noexcept {}
    template <class Lock, class Rep, class Period, class Predicate>
    bool wait_for(Lock&, const std::chrono::duration<Rep, Period>&, Predicate predicate) {
      return predicate();
    }
  };
};

// Whether the event is an argument of the listeners too. With Auto it is if there are as many
// arguments as the prototype has.
struct ArgumentPassingAutoDetect {
  static constexpr bool canIncludeEventType = true;
  static constexpr bool canExcludeEventType = true;
};
struct ArgumentPassingIncludeEvent {
  static constexpr bool canIncludeEventType = true;
  static constexpr bool canExcludeEventType = false;
};
struct ArgumentPassingExcludeEvent {
  static constexpr bool canIncludeEventType = false;
  static constexpr bool canExcludeEventType = true;
};

struct DefaultPolicies {};

// The optimised fork's list with a pool of N nodes. The default queue keeps its events in chunks
// that it uses again, so here this asks for that one; N says nothing.
template <class Item, std::size_t N = 4096>
class PoolQueueList : public std::list<Item> {};

// The optimised fork's policies for much traffic.
struct HighPerfPolicy {
  using Threading = GeneralThreading<SpinLock>;
  template <class Item>
  using QueueList = PoolQueueList<Item, 8192>;
};

// Class templates, each a base of the one before it: MixinList<A, B> makes A<B<dispatcher>>.
template <template <class> class... Mixins>
struct MixinList {};

}  // namespace eventpp
