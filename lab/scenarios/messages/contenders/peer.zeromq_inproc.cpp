// SPDX-License-Identifier: MIT
// ZeroMQ between threads: each producer pushes through a socket of its own, to which each
// consumer's is connected; messages are made and read in ZeroMQ's memory. It has no batches.
#include <zmq.hpp>

#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
class Zeromq {
 public:
  explicit Zeromq(const Task& task) : producers_(task.producers) {
    for (std::size_t p = 0; p < task.producers; ++p) {
      zmq::socket_t& socket = pushing_.emplace_back(context_, zmq::socket_type::push);
      socket.set(zmq::sockopt::sndhwm, half_of_share());
      socket.set(zmq::sockopt::linger, 0);
      socket.bind(address(p));
    }
  }

  class Producer {
   public:
    explicit Producer(zmq::socket_t& socket) : socket_(socket) {}
    bool try_publish(const Content& content) {
      zmq::message_t made(sizeof(Message));
      ::new (made.data()) Message(content);
      return socket_.send(made, zmq::send_flags::dontwait).has_value();
    }

   private:
    zmq::socket_t& socket_;
  };
  Producer producer(std::size_t which) { return Producer(pushing_[which]); }

  class Consumer {
   public:
    explicit Consumer(Zeromq& queue) : socket_(queue.context_, zmq::socket_type::pull) {
      socket_.set(zmq::sockopt::rcvhwm, queue.half_of_share());
      for (std::size_t p = 0; p < queue.producers_; ++p) socket_.connect(address(p));
    }

    template <class F>
    std::size_t visit(F& f) {
      std::size_t count = 0;
      while (count < batch && receive(f, zmq::recv_flags::dontwait)) ++count;
      return count;
    }
    template <class F>
    void await(F& f) {
      receive(f, zmq::recv_flags::none);
    }

   private:
    // False while there is none, and once the context has been shut down.
    template <class F>
    bool receive(F& f, zmq::recv_flags flags) {
      try {
        if (!socket_.recv(taken_, flags)) return false;
      } catch (const zmq::error_t& error) {
        if (error.num() == ETERM) return false;
        throw;
      }
      f(*static_cast<const Message*>(taken_.data()));
      return true;
    }

    zmq::socket_t socket_;
    zmq::message_t taken_;
  };
  Consumer consumer() { return Consumer(*this); }

  void close() { context_.shutdown(); }

 private:
  static std::string address(std::size_t producer) {
    return "inproc://" + std::to_string(producer);
  }
  // The marks of both ends together are what may be under way from one producer.
  [[nodiscard]] int half_of_share() const {
    return static_cast<int>(std::max<std::size_t>(1, capacity / 2 / producers_));
  }

  const std::size_t producers_;
  zmq::context_t context_;
  std::vector<zmq::socket_t> pushing_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Zeromq>(task); }

}  // namespace handoff::lab::messages
