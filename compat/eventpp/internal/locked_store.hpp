// SPDX-License-Identifier: MIT
//
// The events of a queue whose policies bring a list, a mutex or a condition variable of their own.
//
// A session takes events out under the mutex and gives back, at the front and in their order, those
// that it did not deal with; so a listener that throws loses its own event and no other.
// Not for: users. Concurrency: as the policies' mutex says. Blocks: wait(), wait_for().
// The mutex is held while items are moved between lists, which is when an own list may compare
// them; never while an event is made, copied, handled or destroyed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>

#include <eventpp/internal/policies.hpp>
#include <eventpp/internal/queued_event.hpp>

namespace eventpp::internal {

template <class Policies, class Item>
struct QueueListOf {
  using type = std::list<Item>;
};
template <class Policies, class Item>
  requires requires { typename Policies::template QueueList<Item>; }
struct QueueListOf<Policies, Item> {
  using type = typename Policies::template QueueList<Item>;
};

// std::condition_variable goes with std::mutex alone.
template <class Threading>
using ConditionVariableOf = std::conditional_t<
    std::is_same_v<typename Threading::ConditionVariable, std::condition_variable> &&
        !std::is_same_v<typename Threading::Mutex, std::mutex>,
    std::condition_variable_any, typename Threading::ConditionVariable>;

template <class Policies, class Event, class... Args>
class LockedStore {
  using Threading = typename ThreadingOf<Policies>::type;
  using Mutex = typename Threading::Mutex;
  using Queued = QueuedEvent<Event, Args...>;
  using Item = QueueItem<Queued>;
  using List = typename QueueListOf<Policies, Item>::type;

 public:
  LockedStore() = default;
  LockedStore(const LockedStore&) = delete;
  LockedStore& operator=(const LockedStore&) = delete;

  template <class... A>
  void put(Event&& event, A&&... args) {
    List one;
    one.emplace_back();
    one.begin()->set({std::move(event), {std::forward<A>(args)...}});
    bool ready = false;
    {
      const std::lock_guard<Mutex> lock(mutex_);
      events_.splice(events_.end(), one, one.begin());
      ready = is_ready();
    }
    if (ready) arrivals_.notify_one();
  }

  // These call handle(event, arguments&...) for events that leave the queue, and say whether there
  // was one.
  template <class Handle>
  bool process(bool only_first, Handle&& handle) {
    return drain(only_first, [](Queued&) { return Next::handle; }, handle);
  }
  template <class Predicate, class Handle>
  bool process_if(Predicate&& predicate, Handle&& handle) {
    return drain(
        false,
        [&](Queued& event) {
          return std::apply(predicate, event.arguments) ? Next::handle : Next::keep;
        },
        handle);
  }
  template <class Predicate, class Handle>
  bool process_until(Predicate&& predicate, Handle&& handle) {
    return drain(
        false,
        [&](Queued& event) {
          return std::apply(predicate, event.arguments) ? Next::stop : Next::handle;
        },
        handle);
  }

  void clear() {
    Session all(*this, false);
    all.drop();
  }
  bool take(Queued& to) {
    Session first(*this, true);
    Queued* const event = first.next();
    if (event == nullptr) return false;
    to = std::move(*event);
    first.done();
    return true;
  }
  // Copied under the mutex.
  bool peek(Queued& to) const {
    const std::lock_guard<Mutex> lock(mutex_);
    if (events_.empty()) return false;
    to = events_.front().get();
    return true;
  }

  // Neither an event in the queue nor one being handled.
  bool idle() const {
    const std::lock_guard<Mutex> lock(mutex_);
    return events_.empty() && sessions_ == 0;
  }

  void wait() {
    std::unique_lock<Mutex> lock(mutex_);
    arrivals_.wait(lock, [this] { return is_ready(); });
  }
  // Then whether nobody holds notifications back and the queue is not idle.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& time) {
    std::unique_lock<Mutex> lock(mutex_);
    if (arrivals_.wait_for(lock, time, [this] { return is_ready(); })) return true;
    return holds_ == 0 && (!events_.empty() || sessions_ != 0);
  }

  // While one of these lives put() wakes nobody.
  class Hold {
   public:
    explicit Hold(LockedStore& store) : store_(store) {
      const std::lock_guard<Mutex> lock(store_.mutex_);
      ++store_.holds_;
    }
    ~Hold() {
      bool ready = false;
      {
        const std::lock_guard<Mutex> lock(store_.mutex_);
        --store_.holds_;
        ready = store_.is_ready();
      }
      if (ready) store_.arrivals_.notify_all();
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    LockedStore& store_;
  };

 private:
  // Some events, or the first one, out of the queue.
  class Session {
   public:
    Session(LockedStore& store, bool only_first) : store_(store) {
      const std::lock_guard<Mutex> lock(store.mutex_);
      if (!only_first) {
        events_.swap(store.events_);
      } else if (!store.events_.empty()) {
        events_.splice(events_.end(), store.events_, store.events_.begin());
      }
      ++store.sessions_;
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    // What is left goes back, behind what was kept and in front of what came since.
    ~Session() {
      bool ready = false;
      {
        const std::lock_guard<Mutex> lock(store_.mutex_);
        const bool any = !events_.empty() || !kept_.empty();
        kept_.splice(kept_.end(), events_);
        kept_.splice(kept_.end(), store_.events_);
        store_.events_.swap(kept_);
        --store_.sessions_;
        ready = any && store_.is_ready();
      }
      if (ready) store_.arrivals_.notify_one();
    }

    // Null: no more.
    Queued* next() { return events_.empty() ? nullptr : &events_.begin()->get(); }
    // The next one has left the queue; it lives until the one after it does, or the session ends.
    void done() {
      List one;
      one.splice(one.end(), events_, events_.begin());
      current_.swap(one);
    }
    void keep() { kept_.splice(kept_.end(), events_, events_.begin()); }
    void drop() { current_.swap(events_); }

   private:
    LockedStore& store_;
    List events_;
    List kept_;
    List current_;
  };

  enum class Next { handle, keep, stop };

  template <class Decide, class Handle>
  bool drain(bool only_first, Decide&& decide, Handle& handle) {
    Session session(*this, only_first);
    bool any = false;
    while (Queued* const event = session.next()) {
      const Next next = decide(*event);
      if (next == Next::stop) break;
      if (next == Next::keep) {
        session.keep();
        continue;
      }
      session.done();
      any = true;
      std::apply([&](auto&... args) { handle(std::as_const(event->event), args...); },
                 event->arguments);
    }
    return any;
  }

  // Under the mutex.
  bool is_ready() const { return !events_.empty() && holds_ == 0; }

  mutable Mutex mutex_;
  ConditionVariableOf<Threading> arrivals_;
  List events_;
  unsigned sessions_ = 0;
  unsigned holds_ = 0;
};

}  // namespace eventpp::internal
