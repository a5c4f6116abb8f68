// SPDX-License-Identifier: MIT
// oneTBB's bounded queue: any number of threads, polled or asleep. It has no batches.
#include <tbb/concurrent_queue.h>

#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
class OneTbb {
 public:
  explicit OneTbb(const Task& /*task*/) { queue_.set_capacity(capacity); }

  bool try_push(const Message& message) { return queue_.try_push(message); }
  bool try_pop(Message& message) { return queue_.try_pop(message); }
  template <class F>
  void await(F& f) {
    try {
      Message message{};
      queue_.pop(message);
      f(message);
    } catch (const tbb::user_abort&) {
    }
  }
  void close() { queue_.abort(); }

 private:
  tbb::concurrent_bounded_queue<Message> queue_;
};

}  // namespace

Operation contender(const Task& task) { return measure<OneTbb>(task); }

}  // namespace handoff::lab::messages
