// SPDX-License-Identifier: MIT
// The article's AsyncBus: a ring for many producers and one consumer. Each message travels in an
// envelope with an id, a time, a sender, a topic and a priority, asked for or not; the consumer
// looks up the callbacks of its type under a shared spin lock and gives its places back once in a
// batch. Left out are the faults that lose messages or let a user wait for ever, and that all buses
// of a type are one.
#pragma once

#include "peers/threads.hpp"

namespace handoff::lab::peers {

// How the article's threads wait: they spin, ever longer, then yield, then sleep.
class SeedBackoff {
 public:
  static constexpr std::chrono::microseconds nap{50};

  void wait() {
    if (step_ < kSpins) {
      for (int i = 0; i < 1 << step_; ++i) wait_a_little(0);
    } else if (step_ < kSpins + kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(nap);
      return;
    }
    ++step_;
  }
  void reset() { step_ = 0; }

 private:
  static constexpr int kSpins = 6;
  static constexpr int kYields = 4;
  int step_ = 0;
};

// Many readers or one writer.
class SeedSharedLock {
 public:
  void lock_shared() {
    for (;;) {
      int readers = state_.load(std::memory_order_relaxed);
      if (readers >= 0 &&
          state_.compare_exchange_weak(readers, readers + 1, std::memory_order_acquire)) {
        return;
      }
    }
  }
  void unlock_shared() { state_.fetch_sub(1, std::memory_order_release); }
  void lock() {
    for (int nobody = 0; !state_.compare_exchange_weak(nobody, -1, std::memory_order_acquire);) {
      nobody = 0;
    }
  }
  void unlock() { state_.store(0, std::memory_order_release); }

 private:
  std::atomic<int> state_{0};  // -1: a writer
};

template <class Payload, std::size_t kDepth = 4096>
class SeedBus {
 public:
  struct Header {
    std::uint64_t id;
    std::uint64_t time_us;
    std::uint32_t sender;
    std::uint32_t topic;
    std::uint8_t priority;
  };
  struct Envelope {
    Header header{};
    Payload payload;
  };
  using Callback = std::function<void(const Envelope&)>;

  SeedBus() : nodes_(kDepth) {
    for (std::uint32_t i = 0; i < kDepth; ++i) {
      nodes_[i].sequence.store(i, std::memory_order_relaxed);
    }
  }

  // Called from now on for messages of this type. Not from a callback: the lock is held there.
  template <class Message, class F>
  void subscribe(F f) {
    lock_.lock();
    callbacks_[Payload(Message{}).index()].push_back(
        [f](const Envelope& envelope) { f(std::get<Message>(envelope.payload)); });
    lock_.unlock();
  }
  // Called from now on for the envelopes of all messages of this type.
  void subscribe_envelopes(std::size_t type, Callback callback) {
    lock_.lock();
    callbacks_[type].push_back(std::move(callback));
    lock_.unlock();
  }

  // False where the bus is so full that it takes no more of this, the middle, priority.
  bool publish(Payload&& payload, std::uint32_t sender = 0) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const auto time = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    Node* node = nullptr;
    std::uint32_t position = 0;
    do {
      // In this order, so that the difference is not negative.
      const std::uint32_t taken = taken_.load(std::memory_order_acquire);
      position = next_.load(std::memory_order_relaxed);
      if (position - taken >= kAdmitted) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
      node = &nodes_[position % kDepth];
    } while (node->sequence.load(std::memory_order_acquire) != position ||
             !next_.compare_exchange_weak(position, position + 1, std::memory_order_acq_rel));
    const std::uint64_t id = ids_.fetch_add(1, std::memory_order_relaxed);
    node->envelope.header = {id, static_cast<std::uint64_t>(time), sender, 0, kMiddle};
    node->envelope.payload = std::move(payload);
    node->sequence.store(position + 1, std::memory_order_release);
    published_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  // The consumer's: gives at most a batch of what is there to its callbacks; how many that were.
  std::size_t process_batch() {
    std::uint32_t position = taken_.load(std::memory_order_relaxed);
    std::size_t count = 0;
    for (; count < kBatch; ++count, ++position) {
      Node& node = nodes_[position % kDepth];
      if (node.sequence.load(std::memory_order_acquire) != position + 1) break;
      dispatch(node.envelope);
      node.sequence.store(position + kDepth, std::memory_order_release);
    }
    if (count == 0) return 0;
    taken_.store(position, std::memory_order_release);
    processed_.fetch_add(count, std::memory_order_relaxed);
    return count;
  }

 private:
  static constexpr std::uint8_t kMiddle = 1;
  static constexpr std::size_t kAdmitted = kDepth * 80 / 100;
  static constexpr std::size_t kBatch = 256;

  struct alignas(64) Node {
    std::atomic<std::uint32_t> sequence{0};
    Envelope envelope;
  };

  void dispatch(const Envelope& envelope) {
    lock_.lock_shared();
    for (const Callback& callback : callbacks_[envelope.payload.index()]) callback(envelope);
    lock_.unlock_shared();
  }

  std::vector<Node> nodes_;
  std::array<std::vector<Callback>, std::variant_size_v<Payload>> callbacks_;
  SeedSharedLock lock_;
  alignas(kApart) std::atomic<std::uint32_t> next_{0};  // of the next message
  alignas(kApart) std::atomic<std::uint32_t> taken_{0};  // the consumer has taken what came before
  alignas(kApart) std::atomic<std::uint64_t> ids_{1};
  std::atomic<std::uint64_t> published_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> processed_{0};
};

}  // namespace handoff::lab::peers
