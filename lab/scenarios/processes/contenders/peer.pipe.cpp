// SPDX-License-Identifier: MIT
// A pipe each way, as large as a user may make it. A message is a write of its own.
#include <array>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

#include "scenarios/processes/measure.hpp"
#include "scenarios/processes/stream.hpp"

namespace handoff::lab::processes {
namespace {

template <class Message>
class Pipes {
 public:
  Pipes() {
    for (auto& ends : pipes_) {
      if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
      constexpr int bytes = 1 << 20;  // pipe-max-size, unless it was changed
      static_cast<void>(fcntl(ends[1], F_SETPIPE_SZ, bytes));
    }
  }
  ~Pipes() {
    for (const auto& ends : pipes_) {
      for (const int end : ends) close(end);
    }
  }
  Pipes(const Pipes&) = delete;
  Pipes& operator=(const Pipes&) = delete;

  void open(Side side) {
    in_ = pipes_[receives_by(side)][0];
    out_ = pipes_[sends_by(side)][1];
  }
  template <class Make>
  void send(Make&& make) {
    writer_.send(out_, make);
  }
  template <class Take>
  void receive(Take&& take) {
    reader_.receive(in_, take);
  }

 private:
  std::array<std::array<int, 2>, 2> pipes_{};
  int in_ = -1;
  int out_ = -1;
  StreamWriter<Message> writer_;
  StreamReader<Message> reader_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Pipes>(task); }

}  // namespace handoff::lab::processes
