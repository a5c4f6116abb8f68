// SPDX-License-Identifier: MIT
//
// Pools of threads: tasks, groups of them, loops, timers.
#include <coroutine>
#include <handoff/core/inline_executor.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/pool/blocking.hpp>
#include <handoff/pool/coroutine.hpp>
#include <handoff/pool/loop_executor.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/per_worker.hpp>
#include <handoff/pool/serial_executor.hpp>
#include <handoff/pool/submit_std.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/pool/with_timeout.hpp>
#include <string>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;
using handoff::PoolMode;
using handoff::ThreadPool;

struct Mode {
  const char* name;
  PoolMode mode;
};
constexpr Mode kModes[] = {{"stealing", PoolMode::stealing},
                           {"fixed", PoolMode::fixed},
                           {"active", PoolMode::active},
                           {"cached", PoolMode::cached}};

handoff::ThreadPoolOptions pool_of(std::size_t width, PoolMode mode = PoolMode::stealing) {
  handoff::ThreadPoolOptions options;
  options.width = width;
  options.mode = mode;
  return options;
}

struct Fire {  // a coroutine that nobody waits for
  struct promise_type {
    Fire get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
Fire hop(ThreadPool& pool) { co_await pool.schedule(); }

}  // namespace

HANDOFF_COUNT_CASE(pool_post) {
  for (const Mode& mode : kModes) {
    for (const std::size_t width : {1U, 4U}) {
      ThreadPool pool(pool_of(width, mode.mode));
      const std::string of = std::string(mode.name) + ", width " + std::to_string(width);
      hot_and_asleep("ThreadPool.post + run/" + of + ", ", [&] { pool.post([] {}); });
    }
  }
}

HANDOFF_COUNT_CASE(pool_post_options) {
  ThreadPool pool(pool_of(1));
  hot_and_asleep("ThreadPool.post + run/high priority, width 1, ",
                 [&] { pool.post([] {}, {.priority = handoff::Priority::high}); });
  hot_and_asleep("ThreadPool.post + run/for one worker, width 1, ",
                 [&] { pool.post([] {}, {.worker = 0}); });
  hot_and_asleep("ThreadPool.post + run/a closure of 128 bytes, width 1, ", [&] {
    struct Large {
      char bytes[128];
      void operator()() const { keep(bytes); }
    };
    pool.post(Large{});
  });
}

HANDOFF_COUNT_CASE(pool_post_alone) {
  for (const Mode& mode : kModes) {
    ThreadPool pool(pool_of(1, mode.mode));
    rounds([&](bool counts) {
      for (int i = 0; i < 16; ++i) {
        const Counted counted(std::string("ThreadPool.post/many, ") + mode.name, counts);
        pool.post([] {});
      }
      settle();
    });
  }
}

HANDOFF_COUNT_CASE(pool_producers) {
  for (const Mode& mode : kModes) {
    ThreadPool pool(pool_of(1, mode.mode));
    Helper one, two;
    rounds([&](bool counts) {
      const std::function<void()> produce = [&] {
        for (int i = 0; i < 16; ++i) {
          const Counted counted(std::string("ThreadPool.post/two producers, racing, ") + mode.name,
                                counts);
          pool.post([] {});
        }
      };
      race(one, produce, two, produce);
      settle();
    });
  }
}

HANDOFF_COUNT_CASE(pool_full) {
  handoff::ThreadPoolOptions options = pool_of(1);
  options.capacity = 4;
  ThreadPool pool(options);
  pool.pause();
  while (pool.try_post([] {}) == handoff::Status::ok) {
  }
  note_rounds("ThreadPool.try_post/full", [&] { (void)pool.try_post([] {}); });
  pool.resume();
}

HANDOFF_COUNT_CASE(pool_submit) {
  ThreadPool pool(pool_of(1));
  hot_and_asleep("ThreadPool.submit + run + get/width 1, ", [&] {
    auto future = pool.submit([] { return 1; });
    settle();
    keep(future.get());
  });
  rounds([&](bool counts) {
    const CountedOfAll counted("ThreadPool.submit + get/the caller runs it", counts);
    keep(pool.submit([] { return 1; }).get());
    settle();
  });
  hot_and_asleep("submit_std.submit + run + get/width 1, ", [&] {
    auto future = handoff::submit_std(pool, [] { return 1; });
    settle();
    keep(future.get());
  });
  hot_and_asleep("ThreadPool.schedule/width 1, ", [&] { hop(pool); });
}

HANDOFF_COUNT_CASE(pool_timers) {
  ThreadPool pool(pool_of(1));
  rounds([&](bool counts) {
    let_all_sleep();
    const CountedOfAll counted("ThreadPool.post_after + run/asleep", counts);
    pool.post_after(std::chrono::milliseconds(1), [] {});
    sleep_for(2'000'000);
    let_all_sleep();
  });
  rounds([&](bool counts) {
    const CountedOfAll counted("TimerHandle.post_after + cancel/hot", counts);
    pool.post_after(std::chrono::hours(1), [] {}).cancel();
    let_all_sleep();
  });
  rounds([&](bool counts) {
    pool.pause();
    auto future = pool.submit([] { return 1; });
    let_all_sleep();
    const CountedOfAll counted("with_timeout.make + run + get/asleep", counts);
    auto in_time = handoff::with_timeout(pool, std::move(future), std::chrono::hours(1));
    pool.resume();
    let_all_sleep();
    keep(in_time.get());
  });
}

HANDOFF_COUNT_CASE(pool_groups) {
  ThreadPool pool(pool_of(1));
  pool.post([&] {
    note_rounds("TaskGroup.run + wait/one task, on a worker, alone", [&] {
      handoff::TaskGroup group(pool);
      group.run([] {});
      group.wait();
    });
    note_rounds("TaskGroup.run + wait/one task, shared, on a worker, alone", [&] {
      handoff::TaskGroup group(pool, {.shared = true});
      group.run([] {});
      group.wait();
    });
    handoff::PerWorker<int> numbers(pool);
    note_rounds("PerWorker.here/hot", [&] { ++numbers.here(); });
    note_rounds("blocking.enter + leave/nobody is needed", [&] { handoff::blocking([] {}); });
  });
  settle();
  hot_and_asleep("TaskGroup.run + wait/one task, from outside, ", [&] {
    handoff::TaskGroup group(pool);
    group.run([] {});
    settle();
    group.wait();
  });
}

HANDOFF_COUNT_CASE(pool_loops) {
  for (const std::size_t width : {1U, 4U}) {
    ThreadPool pool(pool_of(width));
    const std::string of = "/64 blocks, width " + std::to_string(width) + ", ";
    hot_and_asleep("ThreadPool.run" + of,
                   [&] { pool.run(64, [](handoff::IndexRange) { give_turn(); }, {.block = 1}); });
    hot_and_asleep("ThreadPool.parallel_for" + of, [&] {
      handoff::parallel_for(pool, 0, 64, [](handoff::IndexRange) { give_turn(); }, {.block = 1});
    });
  }
  ThreadPool pool(pool_of(4));
  let_all_sleep();
  note_rounds("ThreadPool.run/1024 indices, the caller alone", [&] {
    pool.run(1024, [](handoff::IndexRange range) { keep(range); }, {.block = 1});
  });
}

HANDOFF_COUNT_CASE(pool_life) {
  for (const Mode& mode : kModes) {
    rounds([&](bool counts) {
      const CountedOfAll counted(std::string("ThreadPool.start + stop/width 4, ") + mode.name,
                                 counts);
      ThreadPool pool(pool_of(4, mode.mode));
      let_all_sleep();
    });
    ThreadPool pool(pool_of(4, mode.mode));
    let_all_sleep();
    const CountedOfAll counted(std::string("ThreadPool.idle/ten seconds, ") + mode.name);
    sleep_for(10'000'000'000);
  }
}

HANDOFF_COUNT_CASE(serial_executor) {
  handoff::InlineExecutor here;
  handoff::SerialExecutor strand(here);
  note_rounds("SerialExecutor.post + run/alone", [&] { strand.post([] {}); });
  rounds([&](bool counts) {
    strand.post([&] {
      for (int i = 0; i < 15; ++i) {
        const Counted counted("SerialExecutor.post/behind others", counts);
        strand.post([] {});
      }
    });
  });
  rounds([&](bool counts) {
    const Counted counted("SerialExecutor.post + run/by a task, 16 a turn", counts, 16);
    strand.post([&] {
      for (int i = 0; i < 15; ++i) strand.post([] {});
    });
  });
  note_rounds("SerialExecutor.submit + get/alone",
              [&] { (void)strand.submit([] { return 1; }).get(); });
  ThreadPool pool(pool_of(1));
  handoff::SerialExecutor on_pool(pool);
  hot_and_asleep("SerialExecutor.post + run/pool, width 1, ", [&] { on_pool.post([] {}); });
}

HANDOFF_COUNT_CASE(loop_executor) {
  handoff::LoopExecutor loop;
  (void)loop.descriptor();
  rounds([&](bool counts) {
    note("LoopExecutor.post/the owner may sleep", counts, [&] { loop.post([] {}); });
    for (int i = 0; i < 15; ++i) {
      note("LoopExecutor.post/behind others", counts, [&] { loop.post([] {}); });
    }
    const Counted counted("LoopExecutor.drain/16 tasks", counts, 16);
    (void)loop.drain();
  });
  note_rounds("LoopExecutor.drain/nothing", [&] { (void)loop.drain(); });
  Helper owner;
  rounds([&](bool counts) {
    note_asleep(
        owner, counts, "LoopExecutor.wait/asleep", [&] { (void)loop.wait(); },
        "LoopExecutor.post/the owner sleeps in wait()", [&] { loop.post([] {}); });
    owner.run([&] { (void)loop.drain(); });
  });
}
