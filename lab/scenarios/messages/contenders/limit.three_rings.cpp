// SPDX-License-Identifier: MIT
// The least that a broadcast needs where nobody shares a ring: a bare one for each consumer, in
// which the producer makes each message once more.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "scenarios/messages/bare_ends.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
class Rings {
 public:
  explicit Rings(const Task& task) : rings_(task.consumers) {}

  bool try_publish(const Content& content) {
    if (room(1) == 0) return false;
    for (auto& ring : rings_) ring.try_publish(content);
    return true;
  }
  std::size_t try_publish_batch(const Content& first, std::size_t count) {
    const std::size_t made = std::min(count, room(count));
    for (auto& ring : rings_) ring.try_publish_batch(first, made);
    return made;
  }
  BareEnds<Message>& consumer(std::size_t which) { return rings_[which]; }

 private:
  std::size_t room(std::size_t wanted) {
    std::size_t least = wanted;
    for (auto& ring : rings_) least = std::min(least, ring.room(wanted));
    return least;
  }

  std::vector<BareEnds<Message>> rings_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Rings>(task); }

}  // namespace handoff::lab::messages
