// SPDX-License-Identifier: MIT
// A pair of ZeroMQ sockets over ipc, at an abstract address: no file is left behind. Messages are
// written and read where the library has them.
#include <zmq.h>

#include "scenarios/processes/measure.hpp"

namespace handoff::lab::processes {
namespace {

template <class Message>
class ZeromqPair : Pinned {
 public:
  ~ZeromqPair() {
    if (socket_ != nullptr) zmq_close(socket_);
    if (context_ != nullptr) zmq_ctx_term(context_);
  }

  // Its thread is started here, after the fork.
  void open(Side side) {
    context_ = zmq_ctx_new();
    socket_ = context_ == nullptr ? nullptr : zmq_socket(context_, ZMQ_PAIR);
    require(socket_ != nullptr, "a socket");
    const int most = static_cast<int>(places_for(sizeof(Message)));
    const int linger = 0;  // what was not sent at the end is of no use
    require(zmq_setsockopt(socket_, ZMQ_SNDHWM, &most, sizeof most) == 0, "ZMQ_SNDHWM");
    require(zmq_setsockopt(socket_, ZMQ_RCVHWM, &most, sizeof most) == 0, "ZMQ_RCVHWM");
    require(zmq_setsockopt(socket_, ZMQ_LINGER, &linger, sizeof linger) == 0, "ZMQ_LINGER");
    if (side == Side::first) {
      require(zmq_bind(socket_, address_.c_str()) == 0, "bind");
    } else {
      require(zmq_connect(socket_, address_.c_str()) == 0, "connect");
    }
  }
  template <class Make>
  void send(Make&& make) {
    zmq_msg_t message;
    require(zmq_msg_init_size(&message, sizeof(Message)) == 0, "a message");
    make(*static_cast<Message*>(zmq_msg_data(&message)));
    while (zmq_msg_send(&message, socket_, 0) < 0) require(errno == EINTR, "send");
  }
  template <class Take>
  void receive(Take&& take) {
    zmq_msg_t message;
    zmq_msg_init(&message);
    while (zmq_msg_recv(&message, socket_, 0) < 0) require(errno == EINTR, "receive");
    require(zmq_msg_size(&message) == sizeof(Message), "a whole message");
    take(*static_cast<const Message*>(zmq_msg_data(&message)));
    zmq_msg_close(&message);
  }

 private:
  static void require(bool is_right, const char* what) {
    if (!is_right) throw std::runtime_error(std::string("ZeroMQ: ") + what);
  }

  const std::string address_ = "ipc://@handoff-lab-" + std::to_string(getpid());
  void* context_ = nullptr;
  void* socket_ = nullptr;
};

}  // namespace

Operation contender(const Task& task) { return measure<ZeromqPair>(task); }

}  // namespace handoff::lab::processes
