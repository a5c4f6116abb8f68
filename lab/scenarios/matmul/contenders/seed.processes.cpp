// SPDX-License-Identifier: MIT
// The article's processes: started for each product, they claim rows from a counter in the memory
// that they share with the matrices. Nobody looks after them: the row of one that was killed is
// never computed, and the caller waits for ever.
//
// Here they are forks that have the memory; the article's execute a program that opens it by its
// name, which takes longer. Through plain pointers, as theirs, the compiler cannot know that C
// overlaps nothing: that is `kernel=naive`. The same with the promise is `kernel=naive_restrict`.

#include "peers/forks.hpp"
#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {
namespace {

// On one cache line, as in the article.
struct Counters {
  std::atomic<std::uint32_t> next_row{0};
  std::atomic<std::uint32_t> completed{0};
};

class Processes {
 public:
  explicit Processes(const Task& task) : task_(task) {}

  void run() {
    counters_->next_row.store(0, std::memory_order_relaxed);
    counters_->completed.store(0, std::memory_order_relaxed);
    std::vector<pid_t> workers;
    for (std::size_t i = 0; i < task_.width; ++i) workers.push_back(start());
    for (const pid_t worker : workers) peers::wait_for(worker);
    const std::size_t claims = (task_.m + claim_ - 1) / claim_;
    while (counters_->completed.load(std::memory_order_acquire) < claims) std::this_thread::yield();
  }

 private:
  pid_t start() {
    const pid_t worker = fork();
    if (worker < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (worker > 0) return worker;
    work();
    _exit(0);
  }

  void work() {
    for (;;) {
      const std::size_t first = counters_->next_row.fetch_add(static_cast<std::uint32_t>(claim_),
                                                              std::memory_order_relaxed);
      if (first >= task_.m) return;
      rows_(first, std::min(first + claim_, task_.m));
      counters_->completed.fetch_add(1, std::memory_order_release);
    }
  }

  const Task& task_;
  const RowKernel rows_ = task_.rows();
  const std::size_t claim_ = task_.claim_rows();
  const peers::Common<Counters> counters_;
};

}  // namespace

std::shared_ptr<std::byte> matrix_memory(std::size_t bytes) {
  const auto memory = std::make_shared<peers::SharedBytes>(bytes);
  return {memory, static_cast<std::byte*>(memory->get())};
}

Operation contender(const Task& task) {
  return [processes = std::make_shared<Processes>(task)] { processes->run(); };
}

}  // namespace handoff::lab::matmul
