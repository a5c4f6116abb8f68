// SPDX-License-Identifier: MIT
// Forked workers that take blocks from one counter in shared memory, between two barriers: what is
// written by hand. What a worker that dies has taken is never done, and the barrier waits for it.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <vector>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "harness/protocol.hpp"
#include "scenarios/spawn/children.hpp"
#include "scenarios/spawn/claims.hpp"

namespace handoff::lab::spawn { namespace {

class Counting {
 public:
  explicit Counting(std::size_t width) {
    void* const place =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    shared_ = new (place) Shared;
    make(shared_->begin, width + 1);
    make(shared_->end, width + 1);
    workers_.reserve(width);
    while (workers_.size() < width) {
      const pid_t worker = fork();
      if (worker == 0) work();
      if (worker < 0) {
        end();
        throw std::runtime_error("no child");
      }
      workers_.push_back(worker);
    }
  }
  ~Counting() { end(); }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

  void run(const Rows& rows) {
    shared_->rows = rows;
    shared_->next.store(0, std::memory_order_relaxed);  // order: the barriers have it
    pthread_barrier_wait(&shared_->begin);
    pthread_barrier_wait(&shared_->end);
  }

 private:
  struct Shared {
    pthread_barrier_t begin{};
    pthread_barrier_t end{};
    Rows rows{};
    alignas(128) std::atomic<std::size_t> next{0};
  };
  static_assert(std::atomic<std::size_t>::is_always_lock_free);

  static void make(pthread_barrier_t& barrier, std::size_t count) {
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    const int error = pthread_barrier_init(&barrier, &shared, static_cast<unsigned>(count));
    pthread_barrierattr_destroy(&shared);
    if (error != 0) throw std::runtime_error("no barrier between processes");
  }
  [[noreturn]] void work() const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(protocol::command_fd);  // the coordinator must see when the contender closes it
    for (;;) {
      pthread_barrier_wait(&shared_->begin);
      const Rows rows = shared_->rows;
      for (std::size_t first = take(); first < rows.count; first = take()) {
        rows.do_block(first, std::min(first + kBlock, rows.count));
      }
      pthread_barrier_wait(&shared_->end);
    }
  }
  [[nodiscard]] std::size_t take() const {
    // order: each block is taken once; what is done at it, the barriers have
    return shared_->next.fetch_add(kBlock, std::memory_order_relaxed);
  }
  void end() {
    for (const pid_t worker : workers_) end_child(worker);
    munmap(shared_, sizeof(Shared));
  }

  Shared* shared_;
  std::vector<pid_t> workers_;
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_claims<spawn::Counting>(parameters);
}
