// SPDX-License-Identifier: MIT
// What needs no library.
#include "peers/bare_ring.hpp"
#include "scenarios/events/function_table.hpp"
#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

// A vector of functions, called one after the other: no thread may add or remove. Its queue is a
// vector too.
class VectorQueue : public CallsByIndex {
 public:
  explicit VectorQueue(const Task& /*task*/) {}

  void enqueue(int key, const Payload& payload) { waiting_.emplace_back(key, payload); }
  template <class Visitor>
  void visit(Visitor&& visitor) {
    for (const auto& [key, payload] : waiting_) visitor(key, payload);
    waiting_.clear();
  }
  void process() { visit(functions_); }

 private:
  std::vector<std::pair<int, Payload>> waiting_;
};

class VectorList {
 public:
  void append(std::function<void(const Payload&)> function) {
    functions_.push_back(std::move(function));
  }
  void operator()(const Payload& payload) {
    for (const auto& function : functions_) function(payload);
  }

 private:
  std::vector<std::function<void(const Payload&)>> functions_;
};

// The least that many producers need: one atomic addition for an event, a slot of its own, a call
// by index. The slots are as many as there will ever be events, so nothing is checked.
struct Slot {
  std::atomic<std::uint32_t> ready{0};  // the round that filled it
  int key = 0;
  Payload payload;
};

class Slots : public CallsByIndex {
 public:
  explicit Slots(const Task& task) : slots_(std::bit_ceil(task.count)) {}

  void enqueue(int key, const Payload& payload) {
    const std::size_t ticket = tail_.fetch_add(1, std::memory_order_relaxed);
    Slot& slot = slots_[ticket & (slots_.size() - 1)];
    slot.key = key;
    slot.payload = payload;
    slot.ready.store(round(ticket), std::memory_order_release);
  }

  template <class Visitor>
  void visit(Visitor&& visitor) {
    for (;; ++head_) {
      const Slot& slot = slots_[head_ & (slots_.size() - 1)];
      if (slot.ready.load(std::memory_order_acquire) != round(head_)) return;
      visitor(slot.key, slot.payload);
    }
  }
  void process() { visit(functions_); }

 private:
  std::uint32_t round(std::size_t ticket) const {
    return static_cast<std::uint32_t>(ticket / slots_.size() + 1);
  }

  std::vector<Slot> slots_;
  alignas(128) std::atomic<std::size_t> tail_{0};
  alignas(128) std::size_t head_ = 0;
};

// The least that an event needs on its way to another thread: a bare ring for one producer and one
// consumer, which never sleeps, whatever it is asked for.
class Ring : public CallsByIndex {
 public:
  explicit Ring(const Task& /*task*/) {}

  void enqueue(int key, const Payload& payload) {
    while (!ring_.try_push([&](Event& event) { event = {key, payload}; })) {
    }
  }
  void process() {
    while (ring_.try_pop([this](const Event& event) { functions_(event.key, event.payload); })) {
    }
  }

 private:
  struct Event {
    int key = 0;
    Payload payload;
  };

  peers::BareRing<Event> ring_;
};

// What people write without a library: a deque behind a mutex and a condition variable, which the
// consumer takes as a whole, and a map of functions, which nobody changes any more.
class MutexQueue {
 public:
  explicit MutexQueue(const Task& task) : spins_(task.spins) {}

  void listen(int key, std::function<void(const Payload&)> function) {
    functions_[key] = std::move(function);
  }

  void enqueue(int key, const Payload& payload) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.emplace_back(key, payload);
    }
    arrived_.notify_one();
  }

  void process() {
    std::deque<std::pair<int, Payload>> taken;
    {
      const std::lock_guard lock(mutex_);
      taken.swap(waiting_);
    }
    for (const auto& [key, payload] : taken) {
      const auto found = functions_.find(key);
      if (found != functions_.end()) found->second(payload);
    }
  }

  void await() {
    if (spins_) return;
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !waiting_.empty(); });
  }

 private:
  const bool spins_;
  std::unordered_map<int, std::function<void(const Payload&)>> functions_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::pair<int, Payload>> waiting_;
};

// What people write without a library: a vector of functions behind a mutex, which is held while
// they are called. A listener that adds another one would wait for itself.
class Functions {
 public:
  void append(std::function<void(const Payload&)> function) {
    const std::lock_guard lock(mutex_);
    functions_.append(std::move(function));
  }
  void operator()(const Payload& payload) {
    const std::lock_guard lock(mutex_);
    functions_(payload);
  }

 private:
  std::mutex mutex_;
  VectorList functions_;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"limit.vector", measure_both<VectorList, VectorQueue>},
                                         {"limit.mpsc", measure<Slots>},
                                         {"limit.ring", measure<Ring>},
                                         {"peer.mutex_queue", measure<MutexQueue>},
                                         {"peer.std_functions", detail::invoke<Functions>}})(task);
}

}  // namespace handoff::lab::events
