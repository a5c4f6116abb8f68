// SPDX-License-Identifier: MIT
// What a contender of `messages` is given, and its two ends as the measurement uses them: by
// whichever of the calls that measure.hpp names the contender has.
#pragma once

#include "harness/contender.hpp"
#include "peers/threads.hpp"
#include "scenarios/messages/work.hpp"

namespace handoff::lab::messages {

struct Task {
  explicit Task(const Parameters& parameters) : given(parameters) {}

  Parameters given;
  std::string metric = given.text("metric");
  std::size_t producers = given.number("producers", 1);
  std::size_t consumers = given.number("consumers", 1);
  std::size_t bytes = given.number("bytes", paced_bytes);  // of a message
  // Producers publish as many as `batch` at once, or one at a time.
  bool batches = given.text("publish", "single") == "batch";
  // A consumer that waits in vain, or it never does.
  bool sleeps = given.text("consumer", "spins") == "sleeps";
  // Of a latency: percent of the highest rate at which it keeps pace.
  double load = static_cast<double>(given.number("load", 100));
  Answer* output = nullptr;

  // Whether each side is one thread.
  [[nodiscard]] bool one_each() const { return producers == 1 && consumers == 1; }
  // How often each message is received.
  [[nodiscard]] std::size_t copies() const { return metric == "broadcast" ? consumers : 1; }
};

// A contender's own: sends all messages once. The task outlives it.
Operation contender(const Task& task);

// Stands for what is called on a message, to ask what a contender has.
struct Ignore {
  template <class Message>
  void operator()(const Message& /*message*/) const {}
};

// A producer's end. What is refused is tried again: it is no message until it is taken.
template <class Message, class Producer>
class Sender {
 public:
  static constexpr bool kInPlace =
      requires(Producer& producer) { producer.try_publish(Content{}); };
  static constexpr bool kBatchInPlace =
      requires(Producer& producer) { producer.try_publish_batch(Content{}, batch); };
  static constexpr bool kBatches = kBatchInPlace || requires(Producer& producer) {
    producer.try_push_batch(std::span<Message>());
  };

  explicit Sender(Producer& producer) : producer_(producer) {}

  void send(const Content& content) {
    if constexpr (kInPlace) {
      peers::retry([&] { return producer_.try_publish(content); });
    } else {
      const Message message(content);
      peers::retry([&] { return producer_.try_push(message); });
    }
  }

  void send_batch(const Content& first, std::size_t count)
    requires kBatches
  {
    if constexpr (!kBatchInPlace) fill(first, count);
    for (std::size_t sent = 0; sent < count;) {
      peers::retry([&] {
        const std::size_t more = try_send(first, sent, count);
        sent += more;
        return more != 0;
      });
    }
  }

 private:
  void fill(const Content& first, std::size_t count) {
    if (buffer_.empty()) buffer_.resize(batch);
    for (std::size_t i = 0; i < count; ++i) buffer_[i].write(first.after(i));
  }
  std::size_t try_send(const Content& first, std::size_t sent, std::size_t count) {
    if constexpr (kBatchInPlace) {
      return producer_.try_publish_batch(first.after(sent), count - sent);
    } else {
      return producer_.try_push_batch(std::span(buffer_).subspan(sent, count - sent));
    }
  }

  Producer& producer_;
  std::vector<Message> buffer_;
};

// A consumer's end: takes what is there, about a batch at most, and calls enter(message) on each.
template <class Message, class Consumer>
class Taker {
 public:
  explicit Taker(Consumer& consumer) : consumer_(consumer) {}

  template <class Enter>
  std::size_t take(Enter& enter) {
    if constexpr (requires { consumer_.process(); }) {
      return consumer_.process();  // which calls what it was told to call
    } else if constexpr (requires { consumer_.visit(enter); }) {
      return consumer_.visit(enter);
    } else if constexpr (requires { consumer_.try_pop_batch(std::span<Message>()); }) {
      const std::size_t count = consumer_.try_pop_batch(buffer_of(batch));
      for (std::size_t i = 0; i < count; ++i) enter(buffer_[i]);
      return count;
    } else {
      Message& message = buffer_of(1).front();
      std::size_t count = 0;
      for (; count < batch && consumer_.try_pop(message); ++count) enter(message);
      return count;
    }
  }

 private:
  std::span<Message> buffer_of(std::size_t size) {
    if (buffer_.empty()) buffer_.resize(size);
    return buffer_;
  }

  Consumer& consumer_;
  std::vector<Message> buffer_;
};

}  // namespace handoff::lab::messages
