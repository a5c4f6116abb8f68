// SPDX-License-Identifier: MIT
// What Boost has for two processes.
#include <boost/interprocess/ipc/message_queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>

#include "scenarios/processes/measure.hpp"

namespace handoff::lab::processes {
namespace {

// Boost.Lockfree's ring for one producer and one consumer each way, in memory of both processes. It
// holds no pointers, never sleeps, and trusts the other process.
template <class Message>
using SpscQueue =
    boost::lockfree::spsc_queue<Message, boost::lockfree::capacity<places_for(sizeof(Message))>>;

template <class Message>
class SpscQueues : public EachWay<SpscQueue<Message>> {
 public:
  template <class Make>
  void send(Make&& make) {
    Message message;
    make(message);
    peers::retry_at_once([&] { return this->out_->push(message); });
  }
  template <class Take>
  void receive(Take&& take) {
    peers::retry_at_once([&] { return this->in_->consume_one(take) != 0; });
  }
};

// Boost.Interprocess's message queue, one each way. Its name is taken away as soon as the queue is
// there, which both processes then have by the fork.
namespace ipc = boost::interprocess;

template <class Message>
class BoostQueues {
 public:
  BoostQueues() {
    for (auto& queue : queues_) {
      const std::string name = "handoff-lab-" + std::to_string(getpid());
      queue = std::make_unique<ipc::message_queue>(ipc::create_only, name.c_str(),
                                                   places_for(sizeof(Message)), sizeof(Message));
      ipc::message_queue::remove(name.c_str());
    }
  }

  void open(Side side) {
    in_ = queues_[receives_by(side)].get();
    out_ = queues_[sends_by(side)].get();
  }
  template <class Make>
  void send(Make&& make) {
    make(*place_);
    out_->send(place_.get(), sizeof(Message), 0);
  }
  template <class Take>
  void receive(Take&& take) {
    ipc::message_queue::size_type size = 0;
    unsigned priority = 0;
    in_->receive(place_.get(), sizeof(Message), size, priority);
    if (size != sizeof(Message)) throw std::runtime_error("half a message");
    take(*place_);
  }

 private:
  std::array<std::unique_ptr<ipc::message_queue>, 2> queues_;
  std::unique_ptr<Message> place_ = std::make_unique<Message>();
  ipc::message_queue* in_ = nullptr;
  ipc::message_queue* out_ = nullptr;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"peer.boost_spsc", measure<SpscQueues>},
                                         {"peer.boost_message_queue", measure<BoostQueues>}})(task);
}

}  // namespace handoff::lab::processes
