// SPDX-License-Identifier: MIT
// What needs no library.
#include <sys/socket.h>

#include "peers/bare_ring.hpp"
#include "scenarios/processes/measure.hpp"

namespace handoff::lab::processes {
namespace {

// Messages of one size over descriptors that carry bytes, as a program does it that knows them: a
// message is written at once, since the other process waits for it; the reader takes all that has
// come, and hands it out one by one.
template <class Message>
class StreamWriter {
 public:
  template <class Make>
  void send(int descriptor, Make&& make) {
    make(*message_);
    const auto* bytes = reinterpret_cast<const std::byte*>(message_.get());
    for (std::size_t written = 0; written < sizeof(Message);) {
      const ssize_t n = write(descriptor, bytes + written, sizeof(Message) - written);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw std::runtime_error("cannot write to the other process");
      written += static_cast<std::size_t>(n);
    }
  }

 private:
  std::unique_ptr<Message> message_ = std::make_unique<Message>();
};

template <class Message>
class StreamReader {
 public:
  template <class Take>
  void receive(int descriptor, Take&& take) {
    const std::size_t end = (taken_ + 1) * sizeof(Message);
    auto* const bytes = reinterpret_cast<std::byte*>(messages_.get());
    while (there_ < end) {
      const ssize_t n = read(descriptor, bytes + there_, kMessages * sizeof(Message) - there_);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) throw std::runtime_error("cannot read from the other process");
      there_ += static_cast<std::size_t>(n);
    }
    take(messages_[taken_++]);
    if (there_ == end) there_ = taken_ = 0;
  }

 private:
  // 64 KiB, which a read takes at once, or one.
  static constexpr std::size_t kMessages = std::max<std::size_t>(65536 / sizeof(Message), 1);

  std::unique_ptr<Message[]> messages_ = std::make_unique<Message[]>(kMessages);
  std::size_t taken_ = 0;
  std::size_t there_ = 0;  // bytes
};

// The least that a message needs: a bare ring each way in memory of both processes, which knows its
// size, checks nothing of what the other process wrote, never sleeps and cannot be closed.
template <class Message>
class SpinRings : public EachWay<peers::BareRing<Message, places_for(sizeof(Message))>> {
 public:
  template <class Make>
  void send(Make&& make) {
    peers::retry_at_once([&] { return this->out_->try_push(make); });
  }
  template <class Take>
  void receive(Take&& take) {
    peers::retry_at_once([&] { return this->in_->try_pop(take); });
  }
};

// A pipe each way, as large as a user may make it. A message is a write of its own.
template <class Message>
class Pipes : Pinned {
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

// A pair of Unix sockets, SOCK_STREAM: as the messages have one size, nobody must keep them apart.
// A message is a write of its own; the reader may take several at once.
template <class Message>
class Sockets : Pinned {
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

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"limit.spin_ring", measure<SpinRings>},
                                         {"peer.pipe", measure<Pipes>},
                                         {"peer.unix_socket", measure<Sockets>}})(task);
}

}  // namespace handoff::lab::processes
