// SPDX-License-Identifier: MIT
// Boost.Lockfree's ring for one producer and one consumer each way, in memory of both processes. It
// holds no pointers, never sleeps, and trusts the other process.
#include <array>

#include <boost/lockfree/spsc_queue.hpp>

#include "scenarios/processes/measure.hpp"

namespace handoff::lab::processes {
namespace {

template <class Message>
class SpscQueues {
 public:
  void open(Side side) {
    in_ = &(*queues_)[receives_by(side)];
    out_ = &(*queues_)[sends_by(side)];
  }
  template <class Make>
  void send(Make&& make) {
    Message message;
    make(message);
    peers::retry_at_once([&] { return out_->push(message); });
  }
  template <class Take>
  void receive(Take&& take) {
    peers::retry_at_once([&] { return in_->consume_one(take) != 0; });
  }

 private:
  using Queue =
      boost::lockfree::spsc_queue<Message, boost::lockfree::capacity<places_for(sizeof(Message))>>;

  Common<std::array<Queue, 2>> queues_;
  Queue* in_ = nullptr;
  Queue* out_ = nullptr;
};

}  // namespace

Operation contender(const Task& task) { return measure<SpscQueues>(task); }

}  // namespace handoff::lab::processes
