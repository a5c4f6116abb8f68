// SPDX-License-Identifier: MIT
// nng between threads: each producer pushes through a socket of its own, to which each consumer's
// is connected; messages are made and read in nng's memory. It has no batches.
#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <nng/protocol/pipeline0/push.h>

#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {
namespace {

void require(int result) {
  if (result != 0) throw std::runtime_error(nng_strerror(result));
}

class Socket : Pinned {
 public:
  explicit Socket(int (*open)(nng_socket*)) { require(open(&socket_)); }
  ~Socket() { close(); }

  void close() { nng_close(socket_); }  // closed twice it is closed
  void set(const char* option, std::size_t value) {
    require(nng_socket_set_int(socket_, option, static_cast<int>(value)));
  }
  operator nng_socket() const { return socket_; }

 private:
  nng_socket socket_{};
};

template <class Message>
class Nng {
 public:
  static constexpr bool slow = true;  // several of its threads hand each message on

  explicit Nng(const Task& task)
      : buffered_(std::max<std::size_t>(1, capacity / 2 / task.producers)) {
    for (std::size_t p = 0; p < task.producers; ++p) {
      pushing_.push_back(std::make_unique<Socket>(nng_push0_open));
      pushing_.back()->set(NNG_OPT_SENDBUF, buffered_);
      require(nng_listen(*pushing_.back(), address(p).c_str(), nullptr, 0));
    }
    for (std::size_t c = 0; c < task.consumers; ++c) {
      pulling_.push_back(std::make_unique<Socket>(nng_pull0_open));
      for (std::size_t p = 0; p < task.producers; ++p) {
        require(nng_dial(*pulling_.back(), address(p).c_str(), nullptr, 0));
      }
    }
  }

  class Producer {
   public:
    explicit Producer(const Socket& socket) : socket_(socket) {}
    // Waits for room: a producer that polls for it takes the CPU that nng's own threads need.
    bool try_publish(const Content& content) {
      nng_msg* made = nullptr;
      require(nng_msg_alloc(&made, sizeof(Message)));
      ::new (nng_msg_body(made)) Message(content);
      require(nng_sendmsg(socket_, made, 0));
      return true;
    }

   private:
    const Socket& socket_;
  };
  Producer producer(std::size_t which) { return Producer(*pushing_[which]); }

  class Consumer {
   public:
    explicit Consumer(const Socket& socket) : socket_(socket) {}

    template <class F>
    std::size_t visit(F& f) {
      std::size_t count = 0;
      while (count < batch && receive(f, NNG_FLAG_NONBLOCK)) ++count;
      return count;
    }
    template <class F>
    void await(F& f) {
      receive(f, 0);
    }

   private:
    // False while there is none, and once the socket has been closed.
    template <class F>
    bool receive(F& f, int flags) {
      nng_msg* taken = nullptr;
      const int result = nng_recvmsg(socket_, &taken, flags);
      if (result == NNG_EAGAIN || result == NNG_ECLOSED) return false;
      require(result);
      f(*static_cast<const Message*>(nng_msg_body(taken)));
      nng_msg_free(taken);
      return true;
    }

    const Socket& socket_;
  };
  Consumer consumer(std::size_t which) { return Consumer(*pulling_[which]); }

  void close() {
    for (const auto& socket : pulling_) socket->close();
  }

 private:
  static std::string address(std::size_t producer) {
    return "inproc://" + std::to_string(producer);
  }

  const std::size_t buffered_;
  std::vector<std::unique_ptr<Socket>> pushing_;
  std::vector<std::unique_ptr<Socket>> pulling_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Nng>(task); }

}  // namespace handoff::lab::messages
