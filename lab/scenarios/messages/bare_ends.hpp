// SPDX-License-Identifier: MIT
// A bare ring in `messages`: messages are made and read in its places.
#pragma once

#include <cstddef>

#include "peers/bare_ring.hpp"
#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {

template <class Message>
class BareEnds {
 public:
  bool try_publish(const Content& content) {
    return ring_.try_push([&](Message& place) { place.write(content); });
  }
  std::size_t try_publish_batch(const Content& first, std::size_t count) {
    return ring_.try_push_batch(
        count, [&](Message& place, std::size_t which) { place.write(first.after(which)); });
  }
  template <class F>
  std::size_t visit(F& f) {
    return ring_.try_pop_batch(f, batch);
  }

  std::size_t room(std::size_t wanted) { return ring_.room(wanted); }
  bool empty() { return ring_.empty(); }

 private:
  peers::BareRing<Message, capacity> ring_;
};

}  // namespace handoff::lab::messages
