// SPDX-License-Identifier: MIT
// This library's buses in `messages`: messages are made in their places; a batch is made elsewhere
// and moved in. Each producer has an end of its own, on a bus of lanes with a lane.
#pragma once

#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {

template <class Bus, class Message>
class OwnBus {
 public:
  explicit OwnBus(const typename Bus::Options& options) : bus_(as_measured(options)) {}

  class Producer {
   public:
    explicit Producer(Bus& bus) : producer_(bus.producer()) {}

    bool try_publish(const Content& content) {
      auto claim = producer_.template claim<Message>(content);
      if (!claim) return false;
      claim.commit();
      return true;
    }
    std::size_t try_push_batch(std::span<Message> messages) {
      return producer_.publish_batch(messages);
    }

   private:
    typename Bus::Producer producer_;
  };
  Producer producer() { return Producer(bus_); }

  template <class F>
  void await(F& /*f*/) {
    static_cast<void>(bus_.wait());
  }
  void close() { bus_.shut(); }

 protected:
  Bus bus_;

 private:
  static typename Bus::Options as_measured(typename Bus::Options options) {
    // Receivers spin long enough before they wait (receivers.hpp).
    options.spin_for = std::chrono::nanoseconds(0);
    return options;
  }
};

// Drained to a visitor.
template <class Bus, class Message>
class OwnDrainedBus : public OwnBus<Bus, Message> {
 public:
  using OwnBus<Bus, Message>::OwnBus;

  template <class F>
  std::size_t visit(F& f) {
    return this->bus_.drain(f, batch);
  }
};

}  // namespace handoff::lab::messages
