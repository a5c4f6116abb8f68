// SPDX-License-Identifier: MIT
// Open MPI: both processes are ranks of one job, which send and receive through shared memory.

#define OMPI_SKIP_MPICXX 1  // its C++ bindings are gone from the standard
#include <mpi.h>

#include "peers/mpi_job.hpp"
#include "scenarios/processes/measure.hpp"

namespace handoff::lab::processes {
namespace {

template <class Message>
class Ranks {
 public:
  void open(Side side) {
    rank_ = side == Side::first ? 0 : 1;
    job_.take_place(static_cast<std::size_t>(rank_));
  }
  void meet() const {
    require(MPI_Init(nullptr, nullptr), "MPI_Init");
    int rank = -1;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank != rank_ || size != 2) throw std::runtime_error("Open MPI: no job of two");
  }
  template <class Make>
  void send(Make&& make) {
    make(*place_);
    require(MPI_Send(place_.get(), sizeof(Message), MPI_BYTE, 1 - rank_, 0, MPI_COMM_WORLD),
            "MPI_Send");
  }
  template <class Take>
  void receive(Take&& take) {
    MPI_Status status;
    require(
        MPI_Recv(place_.get(), sizeof(Message), MPI_BYTE, 1 - rank_, 0, MPI_COMM_WORLD, &status),
        "MPI_Recv");
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes != sizeof(Message)) throw std::runtime_error("Open MPI: half a message");
    take(*place_);
  }

 private:
  static void require(int error, const char* what) {
    if (error != MPI_SUCCESS) throw std::runtime_error(std::string("Open MPI: ") + what);
  }

  peers::MpiJob job_{2};  // not finalized at the end: that waits for the other one
  int rank_ = -1;
  std::unique_ptr<Message> place_ = std::make_unique<Message>();
};

}  // namespace

Operation contender(const Task& task) { return measure<Ranks>(task); }

}  // namespace handoff::lab::processes
