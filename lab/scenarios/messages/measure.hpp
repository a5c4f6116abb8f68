// SPDX-License-Identifier: MIT
// Measures a contender in `messages`. Its Queue<Message> is made from a task, has room for about
// `capacity` messages, and has
//
//   bool try_publish(const Content&)         makes the message in its place; or
//   bool try_push(const Message&)            copies it in. False while it is full
//   std::size_t try_publish_batch(const Content& first, std::size_t count)       in place; or
//   std::size_t try_push_batch(std::span<Message>)   how many of the first it took; if it has this
//   std::size_t visit(f)                     calls f(message) on what is there, in its place; or
//   std::size_t try_pop_batch(std::span<Message>), or
//   bool try_pop(Message&)                   copies it out
//   void await(f)                            sleeps until there is one, which it may give to f; for
//                                            a while, or until close(); without it it cannot sleep
//   void close()                             ends await()
//   auto producer(i), consumer(i)            what has these, for one thread (peers/queue_ends.hpp)
//
// Where the contender calls a handler it has `listen(f)`, which tells it which, and either
// `std::size_t process()`, by which a consumer lets it call f for what is there, or threads of its
// own. Where a producer's messages may overtake each other it has `unordered`, a constant; where
// each takes tens of microseconds it has `slow`, and is sent fewer. How many threads may use it
// stands in CMakeLists.txt (WHEN).
#pragma once

#include "scenarios/messages/receivers.hpp"

namespace handoff::lab::messages {

// The contender, its receivers, and the threads that send. This thread is the first of those; the
// others are started for each operation, but are there before its time begins.
template <class Message, class Queue>
class Traffic {
 public:
  explicit Traffic(const Task& task)
      : task_(task), queue_(checked(task)), receivers_(task, queue_) {}

  // All messages as fast as they go.
  void saturate(Burst& burst) {
    line_.draw();
    receivers_.books().begin();
    {
      std::vector<std::jthread> others;
      for (std::size_t p = 1; p < task_.producers; ++p) {
        others.emplace_back([this, p] {
          auto&& producer = peers::producer_of(queue_, p);
          line_.await_word();
          send_share(producer, p);
        });
      }
      auto&& producer = peers::producer_of(queue_, 0);
      line_.await(others.size());
      burst.timed([&] {
        line_.give_word();
        send_share(producer, 0);
        receivers_.await(expected_ += kMessages * task_.copies());
      });
    }
    end(burst, kMessages);
  }

  // Each message at its moment, whether the one before has come or not; what holds up the producer
  // is in the latencies of all that were due meanwhile.
  void keep_pace(Burst& burst) {
    if (peak_ns_ == 0) peak_ns_ = measured_peak_ns();
    const double spacing_ns = peak_ns_ * 100 / task_.load;
    receivers_.books().begin();
    send_paced(spacing_ns);
    end(burst, paced_messages);
    burst.figure("max", static_cast<double>(burst.latencies().most()));
    burst.figure("peak_ns", peak_ns_);
    burst.figure("spacing_ns", spacing_ns);
  }

 private:
  static constexpr std::size_t kMessages =
      requires { Queue::slow; } ? slow_messages : saturating_messages;

  static const Task& checked(const Task& task) {
    using Producer =
        std::remove_reference_t<decltype(peers::producer_of(std::declval<Queue&>(), 0))>;
    using Consumer =
        std::remove_reference_t<decltype(peers::consumer_of(std::declval<Queue&>(), 0))>;
    constexpr bool own_threads = Receivers<Message, Queue>::kOwnThreads;
    constexpr bool waits = requires(Consumer& consumer, Ignore& ignore) { consumer.await(ignore); };
    if (task.batches && !Sender<Message, Producer>::kBatches) {
      throw Unavailable("it has no batches");
    }
    if (task.sleeps && !waits && !own_threads) throw Unavailable("it has no way to sleep");
    return task;
  }

  template <class Producer>
  void send_share(Producer& producer, std::size_t p) {
    Sender<Message, Producer> sender(producer);
    const std::size_t share = share_of(p, task_.producers, kMessages);
    if constexpr (Sender<Message, Producer>::kBatches) {
      if (task_.batches) {
        for (std::size_t first = 0; first < share; first += batch) {
          sender.send_batch({p, first}, std::min(batch, share - first));
        }
        return;
      }
    }
    for (std::size_t i = 0; i < share; ++i) sender.send({p, i});
  }

  void send_paced(double spacing_ns) {
    auto&& producer = peers::producer_of(queue_, 0);
    Sender<Message, std::remove_reference_t<decltype(producer)>> sender(producer);
    const std::uint64_t start = peers::clock_ns();
    std::uint64_t now = start;
    for (std::size_t i = 0; i < paced_messages; ++i) {
      const auto since = static_cast<std::int64_t>(static_cast<double>(i) * spacing_ns);
      const std::uint64_t due = start + static_cast<std::uint64_t>(since);
      while (now < due) now = peers::clock_ns();
      sender.send({0, i, due});
    }
    receivers_.await(expected_ += paced_messages);
  }

  // The least time between messages at which the contender keeps pace. That is more than they take
  // when all are due at once: a consumer that has caught up fetches each message by itself, one
  // that lags behind many together.
  double measured_peak_ns() {
    double lags = ns_of_message(0);
    double keeps = lags * 8;
    for (int halving = 0; halving < 8; ++halving) {
      const double between = std::sqrt(lags * keeps);
      (ns_of_message(between) <= between * 1.02 ? keeps : lags) = between;
    }
    return keeps;
  }

  // The middle one of some operations. They count in the answer like any other.
  double ns_of_message(double spacing_ns) {
    std::array<double, 5> each{};
    for (double& ns : each) {
      receivers_.books().begin();
      const std::uint64_t start = peers::clock_ns();
      send_paced(spacing_ns);
      ns = static_cast<double>(peers::clock_ns() - start) / paced_messages;
      Burst none;
      receivers_.books().end(none, paced_messages, *task_.output);
    }
    std::nth_element(each.begin(), each.begin() + each.size() / 2, each.end());
    return each[each.size() / 2];
  }

  void end(Burst& burst, std::size_t messages) {
    burst.items(static_cast<double>(messages));
    receivers_.books().end(burst, messages, *task_.output);
  }

  const Task& task_;
  double peak_ns_ = 0;  // none until it is measured
  std::uint64_t expected_ = 0;  // to be received, since the launch
  peers::StartLine line_;
  alignas(peers::kApart) Queue queue_;
  Receivers<Message, Queue> receivers_;
};

namespace detail {

template <class Message, class Queue>
Operation operation(const Task& task) {
  const auto traffic = std::make_shared<Traffic<Message, Queue>>(task);
  if constexpr (Message::kSize == paced_bytes) {
    if (is_latency(task.metric)) return [traffic](Burst& burst) { traffic->keep_pace(burst); };
  }
  return [traffic](Burst& burst) { traffic->saturate(burst); };
}

}  // namespace detail

template <template <class> class Queue>
Operation measure(const Task& task) {
  switch (task.bytes) {
    case 8: return detail::operation<Message<8>, Queue<Message<8>>>(task);
    case 72: return detail::operation<Message<72>, Queue<Message<72>>>(task);
    default: return detail::operation<Message<1024>, Queue<Message<1024>>>(task);
  }
}

}  // namespace handoff::lab::messages
