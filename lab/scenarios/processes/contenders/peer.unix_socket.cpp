// SPDX-License-Identifier: MIT
// A pair of Unix sockets, SOCK_STREAM: as the messages have one size, nobody must keep them apart.
// A message is a write of its own; the reader may take several at once.
#include <array>
#include <stdexcept>

#include <sys/socket.h>
#include <unistd.h>

#include "scenarios/processes/measure.hpp"
#include "scenarios/processes/stream.hpp"

namespace handoff::lab::processes {
namespace {

template <class Message>
class Sockets {
 public:
  Sockets() {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) != 0) {
      throw std::runtime_error("no pair of sockets");
    }
    for (const int end : ends_) {
      const int bytes = 1 << 20;  // or what wmem_max leaves of it
      setsockopt(end, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    }
  }
  ~Sockets() {
    for (const int end : ends_) close(end);
  }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  void open(Side side) { own_ = ends_[side == Side::first ? 0 : 1]; }
  template <class Make>
  void send(Make&& make) {
    writer_.send(own_, make);
  }
  template <class Take>
  void receive(Take&& take) {
    reader_.receive(own_, take);
  }

 private:
  std::array<int, 2> ends_{};
  int own_ = -1;
  StreamWriter<Message> writer_;
  StreamReader<Message> reader_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Sockets>(task); }

}  // namespace handoff::lab::processes
