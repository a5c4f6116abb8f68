// SPDX-License-Identifier: MIT
// The ranks of an Open MPI job as a contender's members: the contender is rank 0, and its forks are
// the others. They have all that it had when it was made; what to do then comes by a broadcast.
#pragma once

#define OMPI_SKIP_MPICXX 1  // its C++ bindings are gone from the standard
#include <mpi.h>

#include "peers/forks.hpp"
#include "peers/job.hpp"
#include "peers/mpi_job.hpp"

namespace handoff::lab::peers {

// A Member is made on each rank, which initialises MPI, and has run(order).
template <class Member, class Order>
class RankCrew : Pinned {
  static_assert(std::is_trivially_copyable_v<Order>);

 public:
  template <class... Arguments>
  explicit RankCrew(std::size_t ranks, const Arguments&... arguments) : job_(ranks) {
    Board::share(ranks);
    const pid_t parent = getpid();
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      const pid_t child = fork();
      if (child < 0) throw std::runtime_error("no process for a rank");
      if (child == 0) live(rank, parent, arguments...);
      others_.push_back(child);
    }
    enter(0, arguments...);
  }
  ~RankCrew() {
    Message end{};
    send(end);
    member_.reset();
    for (const pid_t other : others_) wait_for(other);
  }

  void run(const Order& order) {
    Message message{true, order};
    send(message);
    member_->run(order);
  }
  Member& member() { return *member_; }

 private:
  struct Message {
    bool goes_on;
    Order order;
  };

  template <class... Arguments>
  void enter(std::size_t rank, const Arguments&... arguments) {
    job_.take_place(rank);
    Board::enter(rank);
    member_.emplace(arguments...);
  }

  template <class... Arguments>
  [[noreturn]] void live(std::size_t rank, pid_t parent, const Arguments&... arguments) {
    live_as_child();
    if (getppid() != parent) _exit(1);
    try {
      enter(rank, arguments...);
      for (Message message{};;) {
        send(message);
        if (!message.goes_on) break;
        member_->run(message.order);
      }
      member_.reset();
      _exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %zu: %s\n", rank, error.what());
    }
    kill(parent, SIGABRT);  // it waits for this rank, perhaps for ever
    _exit(1);
  }

  static void send(Message& message) {
    MPI_Bcast(&message, sizeof message, MPI_BYTE, 0, MPI_COMM_WORLD);
  }

  MpiJob job_;
  std::optional<Member> member_;
  std::vector<pid_t> others_;
};

// For members that do not leave that to somebody else. Nobody finalises: the launcher looks at
// stand-ins, and these processes end together.
struct PlainRank {
  PlainRank() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  int rank = 0;
  int ranks = 1;
};

// A part of a loop's indices, and what to do with it: a body as it was in memory.
struct LoopOrder {
  template <class Body>
  LoopOrder(std::size_t all, const Body& body) : count(all) {
    static_assert(std::is_trivially_copyable_v<Body> && sizeof(Body) <= sizeof bytes);
    std::memcpy(bytes, &body, sizeof body);
    call = [](const LoopOrder& order, std::size_t first, std::size_t last) {
      const Body& copy = *reinterpret_cast<const Body*>(order.bytes);
      for (std::size_t i = first; i < last; ++i) copy(i);
    };
  }
  LoopOrder() = default;
  void run(std::size_t first, std::size_t last) const { call(*this, first, last); }

  void (*call)(const LoopOrder& order, std::size_t first, std::size_t last) = nullptr;
  std::size_t count = 0;
  alignas(std::max_align_t) std::byte bytes[48] = {};
};

// Loops by such members. Masters: ranks that hand out work and do none.
template <class Member, std::size_t masters = 0>
class RankLoops {
 public:
  explicit RankLoops(std::size_t width) : crew_(width + masters) {}
  template <class Body>
  void loop(std::size_t count, const Body& body) {
    crew_.run(LoopOrder(count, body));
  }

 private:
  RankCrew<Member, LoopOrder> crew_;
};

}  // namespace handoff::lab::peers
