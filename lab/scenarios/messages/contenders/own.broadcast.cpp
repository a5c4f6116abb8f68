// SPDX-License-Identifier: MIT
// This library's broadcast from one producer: messages are made once and read by all in their
// places.
#include <cstddef>

#include <handoff/bus/broadcast.hpp>

#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {
namespace {

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

}  // namespace

Operation contender(const Task& task) { return measure<OwnBroadcast>(task); }

}  // namespace handoff::lab::messages
