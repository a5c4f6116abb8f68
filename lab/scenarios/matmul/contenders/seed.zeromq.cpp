// SPDX-License-Identifier: MIT
// The article's counterexample: rows pushed through ZeroMQ to `width` workers, each with a socket
// of its own. Its context, threads and sockets are made once: what that takes is in the row's
// start.
#include <zmq.hpp>

#include "scenarios/matmul/row_messages.hpp"

namespace handoff::lab::matmul {
namespace {

constexpr auto address = "inproc://rows";

class ZeroMq : Pinned {
 public:
  explicit ZeroMq(const Task& task) : messages_(task), pushing_(context_, zmq::socket_type::push) {
    pushing_.set(zmq::sockopt::linger, 0);
    pushing_.bind(address);
    for (std::size_t i = 0; i < task.width; ++i) workers_.emplace_back([this] { work(); });
  }
  ~ZeroMq() { context_.shutdown(); }

  void run() {
    messages_.hand_over([this](const RowMessage& message) {
      return pushing_.send(zmq::const_buffer(&message, sizeof message)).has_value();
    });
  }

 private:
  void work() {
    zmq::socket_t pulling(context_, zmq::socket_type::pull);
    pulling.connect(address);
    zmq::message_t taken;
    try {
      while (pulling.recv(taken)) {
        RowMessage message;
        std::memcpy(&message, taken.data(), sizeof message);
        messages_.compute(message);
      }
    } catch (const zmq::error_t& error) {
      if (error.num() != ETERM) throw;
    }
  }

  RowMessages messages_;
  zmq::context_t context_;
  zmq::socket_t pushing_;
  std::vector<std::jthread> workers_;
};

}  // namespace

Operation contender(const Task& task) {
  return [zeromq = std::make_shared<ZeroMq>(task)] { zeromq->run(); };
}

}  // namespace handoff::lab::matmul
