// SPDX-License-Identifier: MIT
// BS::thread_pool: `width` threads on one queue, and a caller that only waits.
#pragma once

#include <BS_thread_pool.hpp>

#include "peers/job.hpp"

namespace handoff::lab::peers {

class BsThreadPool {
 public:
  explicit BsThreadPool(std::size_t width) : pool_(width) {}

  template <class F>
  void execute(F job) {
    pool_.detach_task([job] { static_cast<void>(job()); });
  }
  void wait() { pool_.wait(); }
  std::future<std::uint64_t> submit(Job job) { return pool_.submit_task(job); }

  // A block a thread, which is its choice.
  template <class Body>
  void loop(std::size_t count, const Body& body) {
    pool_.detach_blocks(std::size_t{0}, count, [&body](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) body(i);
    });
    pool_.wait();
  }

 private:
  BS::light_thread_pool pool_;
};

}  // namespace handoff::lab::peers
