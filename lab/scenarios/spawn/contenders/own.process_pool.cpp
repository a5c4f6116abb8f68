// SPDX-License-Identifier: MIT
// This library's pool of processes: its workers stay, and each job has a Future.
#include <deque>

#include <handoff/process/process_pool.hpp>

#include "scenarios/spawn/jobs.hpp"

namespace handoff::lab::spawn { namespace {

class Pool {
 public:
  void begin(Number number) { futures_.push_back(pool_.submit<do_job>(number)); }
  Answer end() {
    const Answer answer = futures_.front().get();
    futures_.pop_front();
    return answer;
  }

 private:
  ProcessPool pool_{{.capacity = kInFlight}};
  std::deque<Future<Answer>> futures_;
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_jobs<spawn::Pool>(parameters);
}
