// SPDX-License-Identifier: MIT
//
// Other people's pools in the words of the executor suite.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include "conformance/executor_suite.hpp"
#include "support/test.hpp"

namespace handoff::test { namespace {

struct Asio {
  class Executor {
   public:
    explicit Executor(std::size_t width) : pool_(width) {}
    ~Executor() { pool_.join(); }
    template <class F>
    bool execute(F function) {
      boost::asio::post(pool_, std::move(function));
      return true;
    }

   private:
    boost::asio::thread_pool pool_;
  };
};

// enqueue() copies closures, so they are shared here, and an arena does not wait for its own.
struct OneTbb {
  class Executor {
   public:
    explicit Executor(std::size_t width)
        : threads_(tbb::global_control::max_allowed_parallelism, width + 1),
          arena_(static_cast<int>(width), 0) {}
    ~Executor() {
      while (pending_ != 0) std::this_thread::yield();
    }
    template <class F>
    bool execute(F function) {
      ++pending_;
      arena_.enqueue([this, shared = std::make_shared<std::optional<F>>(std::move(function))] {
        (**shared)();
        shared->reset();
        --pending_;
      });
      return true;
    }

   private:
    tbb::global_control threads_;
    std::atomic<std::size_t> pending_{0};
    tbb::task_arena arena_;
  };
};

INSTANTIATE_TYPED_TEST_SUITE_P(Asio, ExecutorSuite, Asio);
INSTANTIATE_TYPED_TEST_SUITE_P(OneTbb, ExecutorSuite, OneTbb);

}}  // namespace handoff::test
