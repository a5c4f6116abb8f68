// SPDX-License-Identifier: MIT
// This library's transports but the bus with one order (own.bus.cpp).
#include <handoff/bus/broadcast.hpp>
#include <handoff/bus/message_bus.hpp>
#include <handoff/bus/message_workers.hpp>
#include <handoff/queue/channel.hpp>
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/mpsc_ring.hpp>
#include <handoff/queue/spsc_ring.hpp>

#include "scenarios/messages/own_bus.hpp"
#include "scenarios/messages/own_queue.hpp"

namespace handoff::lab::messages {
namespace {

// This library's bus of lanes, which keeps each producer's order, drained to a visitor. The lanes
// share the places that others have.
template <class Message>
class Lanes : public OwnDrainedBus<LanedMessageBus<Message>, Message> {
 public:
  explicit Lanes(const Task& task)
      : OwnDrainedBus<LanedMessageBus<Message>, Message>(
            {.capacity = capacity / task.producers, .lanes = task.producers}) {}
};

// This library's bus by priority, of whose four all messages have one.
template <class Message>
class Priorities : public OwnDrainedBus<PriorityMessageBus<Message>, Message> {
 public:
  explicit Priorities(const Task& /*task*/)
      : OwnDrainedBus<PriorityMessageBus<Message>, Message>({.capacity = capacity}) {}
};

// ... of which messages have one after the other. They share the places that others have.
template <class Message>
class FourPriorities : public OwnDrainedBus<PriorityMessageBus<Message>, Message> {
 public:
  static constexpr bool unordered = true;

  explicit FourPriorities(const Task& /*task*/)
      : OwnDrainedBus<PriorityMessageBus<Message>, Message>({.capacity = capacity / 4}) {}

  bool try_publish(const Content& content) {
    const auto priority = static_cast<Priority>(content.number % 4);
    auto claim = this->bus_.template claim_with<Message>({.priority = priority}, content);
    if (!claim) return false;
    claim.commit();
    return true;
  }
  FourPriorities& producer() { return *this; }
};

// This library's bus with one order for all producers, drained to a subscriber.
template <class Message>
class Subscribers : public OwnBus<MessageBus<Message>, Message> {
 public:
  explicit Subscribers(const Task& /*task*/)
      : OwnBus<MessageBus<Message>, Message>({.capacity = capacity}) {}

  template <class F>
  void listen(F f) {
    this->bus_.template subscribe<Message>(f);
  }
  std::size_t process() { return this->bus_.drain(batch); }
};

// This library's broadcast from one producer: messages are made once and read by all in their
// places.
template <class Message>
class OwnBroadcast {
  using Ring = Broadcast<Message, OneProducer>;

 public:
  explicit OwnBroadcast(const Task& /*task*/) : ring_(capacity) {}

  bool try_publish(const Content& content) { return ring_.try_emplace(content) == Status::ok; }
  std::size_t try_publish_batch(const Content& first, std::size_t count) {
    auto claim = ring_.try_claim(count);
    const std::size_t made = claim.size();
    for (std::size_t i = 0; i < made; ++i) claim.emplace(first.after(i));
    claim.publish();
    return made;
  }

  class Consumer {
   public:
    explicit Consumer(Ring& ring) : consumer_(ring.consumer()) {}
    template <class F>
    std::size_t visit(F& f) {
      return consumer_.consume(f, batch);
    }

   private:
    typename Ring::Consumer consumer_;
  };
  Consumer consumer() { return Consumer(ring_); }

 private:
  Ring ring_;
};

// This library's channel: any number of threads, polled or asleep.
template <class Message>
class OwnChannel : public OwnQueue<Channel<Message>> {
 public:
  using OwnQueue<Channel<Message>>::OwnQueue;

  template <class F>
  void await(F& f) {
    Message message{};
    if (this->queue_.pop(message) == Status::ok) f(message);
  }
  void close() { this->queue_.close(); }
};

// This library's rings, polled: the one that is made for as many threads as there are.
template <class Message>
using OneToOne = OwnQueue<SpscRing<Message>>;
template <class Message>
using ManyToOne = OwnQueue<MpscRing<Message>>;
template <class Message>
using ManyToMany = OwnQueue<MpmcRing<Message>>;

Operation ring(const Task& task) {
  if (task.one_each()) return measure<OneToOne>(task);
  return task.consumers == 1 ? measure<ManyToOne>(task) : measure<ManyToMany>(task);
}

// This library's message workers: a consumer is a worker. A message without a key has no order, and
// each is published by itself.
template <class Message>
class Workers {
 public:
  static constexpr bool unordered = true;

  explicit Workers(const Task& task)
      : options_{.width = task.consumers,
                 .capacity = capacity,
                 .spin_for = task.sleeps ? std::chrono::nanoseconds(patience)
                                         : std::chrono::nanoseconds::max()} {}

  // Made here and moved in.
  bool try_publish(const Content& content) {
    return workers_->try_publish(Message(content)) == Status::ok;
  }
  template <class F>
  void listen(F f) {
    workers_.emplace(options_, f);
  }
  void close() { workers_.reset(); }

 private:
  const MessageWorkersOptions options_;
  std::optional<MessageWorkers<Message>> workers_;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"own.bus.lanes", measure<Lanes>},
                                         {"own.bus.priorities", measure<Priorities>},
                                         {"own.bus.four_priorities", measure<FourPriorities>},
                                         {"own.bus.subscribers", measure<Subscribers>},
                                         {"own.broadcast", measure<OwnBroadcast>},
                                         {"own.channel", measure<OwnChannel>},
                                         {"own.ring", ring},
                                         {"own.workers", measure<Workers>}})(task);
}

}  // namespace handoff::lab::messages
