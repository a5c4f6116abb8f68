// SPDX-License-Identifier: MIT
// A pair of nng sockets (pair0) over ipc, at an abstract address: no file is left behind. Messages
// are written and read where the library has them.
#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>

#include "scenarios/processes/measure.hpp"

namespace handoff::lab::processes {
namespace {

template <class Message>
class NngPair : Pinned {
 public:
  ~NngPair() { nng_close(socket_); }

  // Its threads are started here, after the fork.
  void open(Side side) {
    require(nng_pair0_open(&socket_), "a socket");
    const int most = static_cast<int>(places_for(sizeof(Message)));
    require(nng_socket_set_int(socket_, NNG_OPT_SENDBUF, most), "its buffer");
    require(nng_socket_set_int(socket_, NNG_OPT_RECVBUF, most), "its buffer");
    require(nng_socket_set_size(socket_, NNG_OPT_RECVMAXSZ, 0), "any size");
    if (side == Side::first) {
      require(nng_listen(socket_, address_.c_str(), nullptr, 0), "listen");
    } else {
      require(nng_dial(socket_, address_.c_str(), nullptr, 0), "dial");
    }
  }
  template <class Make>
  void send(Make&& make) {
    nng_msg* message = nullptr;
    require(nng_msg_alloc(&message, sizeof(Message)), "a message");
    make(*static_cast<Message*>(nng_msg_body(message)));
    require(nng_sendmsg(socket_, message, 0), "send");
  }
  template <class Take>
  void receive(Take&& take) {
    nng_msg* message = nullptr;
    require(nng_recvmsg(socket_, &message, 0), "receive");
    if (nng_msg_len(message) != sizeof(Message)) throw std::runtime_error("nng: half a message");
    take(*static_cast<const Message*>(nng_msg_body(message)));
    nng_msg_free(message);
  }

 private:
  static void require(int error, const char* what) {
    if (error != 0) {
      throw std::runtime_error(std::string("nng: ") + what + ": " + nng_strerror(error));
    }
  }

  const std::string address_ = "abstract://handoff-lab-" + std::to_string(getpid());
  nng_socket socket_ = NNG_SOCKET_INITIALIZER;
};

}  // namespace

Operation contender(const Task& task) { return measure<NngPair>(task); }

}  // namespace handoff::lab::processes
