// SPDX-License-Identifier: MIT
//
// The suite of closes on pools, engines, logs and the rings of shared memory.
#include <handoff/core/future.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/file/append_log.hpp>
#include <handoff/file/append_log_reader.hpp>
#include <handoff/file/file_engine.hpp>
#include <handoff/graph/pipeline.hpp>
#include <handoff/pool/loop_executor.hpp>
#include <handoff/pool/serial_executor.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/process/process_pool.hpp>
#include <handoff/process/shared_broadcast.hpp>
#include <handoff/process/shared_byte_ring.hpp>
#include <handoff/process/shared_mpsc_ring.hpp>
#include <handoff/process/shared_ring.hpp>

#include "conformance/close_suite.hpp"
#include "support/test.hpp"
#include "unit/file/file_support.hpp"
#include "unit/process/shared_faces.hpp"

namespace handoff::test { namespace {

using namespace std::chrono_literals;

// ---- Pools and engines ----

template <PoolMode kMode, bool kFinishes, OnFull kOnFull>
struct OfPool : OfEngine<ThreadPool> {
  static constexpr unsigned ways_in = 4;

  OfPool(const ClosePlan& plan, CloseLog& log)
      : OfEngine(kFinishes, log,
                 ThreadPoolOptions{
                     .mode = kMode, .width = 2, .capacity = plan.capacity, .on_full = kOnFull}) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      auto task = [&log = log_, item] { log.handled(item); };
      if (way == 0) return engine_.try_post(std::move(task));
      try {
        if (way == 1) engine_.post(std::move(task));
        if (way == 2) (void)engine_.submit(std::move(task));
        if (way == 3) engine_.post(task, {.priority = Priority::high});
      } catch (const NotRun& refused) {
        return refused.status();
      }
      return Status::ok;
    });
  }
};

// ---- A strand, and a loop with an owner ----

struct PooledStrand {
  explicit PooledStrand(std::size_t capacity)
      : pool({.width = 2, .capacity = capacity}), strand(pool) {}
  Tally close(const Closing& closing) { return strand.close(closing); }
  Tally tally() const { return strand.tally(); }

  ThreadPool pool;
  SerialExecutor<ThreadPool> strand;
};

template <class Executor>
std::uint64_t offer_tasks(Executor& executor, CloseLog& log, unsigned way,
                          std::span<CloseItem> items) {
  return one_by_one(items, [&](CloseItem& item) {
    auto task = [&log, item] { log.handled(item); };
    if (way == 0) return executor.try_post(std::move(task));
    try {
      if (way == 1) executor.post(std::move(task));
      if (way == 2) (void)executor.submit(std::move(task));
    } catch (const NotRun& refused) {
      return refused.status();
    }
    return Status::ok;
  });
}

template <bool kFinishes>
struct OfStrand : OfEngine<PooledStrand> {
  static constexpr unsigned ways_in = 3;

  OfStrand(const ClosePlan& plan, CloseLog& log) : OfEngine(kFinishes, log, plan.capacity) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return offer_tasks(engine_.strand, log_, way, items);
  }
};

// ---- A pipeline that is pushed ----

struct PooledPipeline {
  struct Keep {
    void operator()(CloseItem& item) const { log->handled(item); }
    CloseLog* log;
  };
  using Line = decltype(Pipeline(std::declval<ThreadPool&>(), PipelineOptions(),
                                 Pushed<CloseItem>(), serial_stage(Keep())));

  PooledPipeline(std::size_t tokens, OnFull on_full, CloseLog& log)
      : pool({.width = 2}),
        line(pool, {.tokens = tokens, .on_full = on_full}, Pushed<CloseItem>(),
             serial_stage(Keep{&log})) {}
  Tally close(const Closing& closing) { return line.close(closing); }
  Tally tally() const { return line.tally(); }

  ThreadPool pool;
  Line line;
};

template <bool kFinishes, OnFull kOnFull>
struct OfPipeline : OfEngine<PooledPipeline> {
  static constexpr unsigned ways_in = 3;

  OfPipeline(const ClosePlan& plan, CloseLog& log)
      : OfEngine(kFinishes, log, plan.capacity, kOnFull, log) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      if (way == 0) return engine_.line.try_push(std::move(item));
      return way == 1 ? engine_.line.push(std::move(item))
                      : engine_.line.push(std::move(item), 100us);
    });
  }
};

class OfLoop {
 public:
  static constexpr unsigned producers = 3, consumers = 1;
  static constexpr CloseBy by = CloseBy::anybody;
  static constexpr unsigned ways_in = 3, ways_out = 2;

  OfLoop(const ClosePlan&, CloseLog& log) : log_(log) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return offer_tasks(loop_, log_, way, items);
  }
  void serve(unsigned, unsigned way) {
    for (Status status = Status::ok; status != Status::closed;) {
      status = loop_.wait(way == 0 ? Until() : Until(100us));
      if (status == Status::ok) (void)(way == 0 ? loop_.drain() : loop_.drain_for(0s));
    }
  }
  void close() { loop_.shut(); }
  std::uint64_t dropped() {
    EXPECT_TRUE(loop_.tally().balanced());
    EXPECT_EQ(loop_.tally().pending, 0U);
    return 0;
  }

 private:
  CloseLog& log_;
  LoopExecutor loop_;
};

// Each request that was accepted is told its result, also one that is dropped.
template <bool kFinishes, FileBackend kBackend>
struct OfFileEngine : OfEngine<FileEngine> {
  static constexpr unsigned ways_in = 3;

  OfFileEngine(const ClosePlan& plan, CloseLog& log)
      : OfEngine(kFinishes, log,
                 FileEngineOptions{.width = 2, .capacity = plan.capacity, .backend = kBackend}) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      FileRequest request{.operation = FileOperation::stat, .path = "/"};
      FileEngine::Callback told = [&log = log_, item](FileResult&&) { log.handled(item); };
      if (way == 0) return engine_.try_post(std::move(request), std::move(told));
      if (way == 1) return engine_.post(std::move(request), std::move(told));
      return engine_.post(std::move(request), std::move(told), 100us);
    });
  }
  std::uint64_t dropped() { return 0; }
};

struct JobNumber {
  std::uint32_t number;
};
std::uint32_t same_number(const JobNumber& job) { return job.number; }

template <bool kFinishes>
struct OfProcessPool : OfEngine<ProcessPool> {
  static constexpr unsigned ways_in = 2;

  OfProcessPool(const ClosePlan& plan, CloseLog& log)
      : OfEngine(kFinishes, log, ProcessPoolOptions{.width = 1, .capacity = plan.capacity}) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      Future<std::uint32_t> result;
      const JobNumber job{item.number};
      if (way == 0) {
        const Status said = engine_.try_submit<&same_number>(result, job);
        if (said != Status::ok) return said;
      } else {
        try {
          result = engine_.submit<&same_number>(job);
        } catch (const NotRun& refused) {
          return refused.status();
        }
      }
      const std::lock_guard lock(mutex_);
      results_.push_back(std::move(result));
      return Status::ok;
    });
  }
  std::uint64_t dropped() {
    std::uint64_t cancelled = 0;
    for (Future<std::uint32_t>& result : results_) {
      try {
        log_.handled(CloseItem(result.get()));
      } catch (const NotRun&) {
        ++cancelled;
      }
    }
    EXPECT_EQ(engine_.tally().cancelled, cancelled);
    return cancelled;
  }

 private:
  std::mutex mutex_;
  std::vector<Future<std::uint32_t>> results_;
};

// ---- A log: what was acknowledged is read again ----

class OfAppendLog : public ServesItself {
 public:
  static constexpr unsigned ways_in = 3;

  OfAppendLog(const ClosePlan&, CloseLog& log) : log_(log) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      const std::string text = std::to_string(item.number);
      const auto said = [&] {
        if (way == 0) return records_.append(text);
        if (way == 1) return records_.append_later(text);
        return records_.append_async(text).get();
      }();
      return said.ok() ? Status::ok : Status::closed;
    });
  }
  void close() { (void)records_.close(); }
  std::uint64_t dropped() {
    for (const AppendLogRecord& record : AppendLogReader(folder_ / "log")) {
      log_.handled(CloseItem(static_cast<std::uint32_t>(std::stoul(std::string(record.text())))));
    }
    return 0;
  }

 private:
  CloseLog& log_;
  Folder folder_{fast_place()};
  AppendLog records_{folder_ / "log", {.preallocate = false}};
};

// ---- Rings of shared memory ----

template <class Face>
class OfSharedRing {
 public:
  static constexpr unsigned producers = Face::producers, consumers = 1;
  static constexpr CloseBy by = Face::has_end ? CloseBy::producer : CloseBy::anybody;
  static constexpr unsigned ways_in = 3, ways_out = 2;

  // Where none waits there is room for all.
  OfSharedRing(const ClosePlan& plan, CloseLog& log)
      : log_(log), made_(Face::waits ? plan.capacity : CloseLog::kMost) {
    for (std::size_t slot = 0; slot < producers; ++slot) out_[slot].emplace(made_.ring, slot);
  }

  std::uint64_t offer(unsigned self, unsigned way, std::span<CloseItem> items) {
    auto& out = *out_[self];
    return one_by_one(items, [&](CloseItem& item) {
      if (way == 0) return out.try_push(item.number);
      return way == 1 ? out.push(item.number) : out.push(item.number, 100us);
    });
  }
  void serve(unsigned, unsigned way) {
    const Until until = way == 0 ? Until() : Until(100us);
    std::uint64_t number = 0;
    for (Status status = Status::ok; status != Status::closed;) {
      status = in_.pop(number, until);
      if (status == Status::ok) log_.handled(CloseItem(static_cast<std::uint32_t>(number)));
    }
  }
  void close() { Face::close(made_.ring); }
  std::uint64_t dropped() { return 0; }

 private:
  CloseLog& log_;
  typename Face::Made made_;
  std::optional<typename Face::Producer> out_[producers];
  typename Face::Consumer in_{made_.ring};
};

using Pools = testing::Types<
    OfPool<PoolMode::stealing, true, OnFull::wait>, OfPool<PoolMode::stealing, false, OnFull::wait>,
    OfPool<PoolMode::fixed, true, OnFull::run_here>, OfPool<PoolMode::fixed, false, OnFull::reject>,
    OfPool<PoolMode::active, true, OnFull::wait>, OfPool<PoolMode::active, false, OnFull::reject>,
    OfPool<PoolMode::cached, true, OnFull::run_here>, OfPool<PoolMode::cached, false, OnFull::wait>,
    OfPool<PoolMode::stealing, true, OnFull::run_here>,
    OfPool<PoolMode::stealing, false, OnFull::reject>>;
using Engines =
    testing::Types<OfFileEngine<true, FileBackend::pool>, OfFileEngine<false, FileBackend::pool>,
                   OfFileEngine<true, FileBackend::io_thread>,
                   OfFileEngine<false, FileBackend::caller>, OfProcessPool<true>,
                   OfProcessPool<false>, OfAppendLog>;
using SharedRings =
    testing::Types<OfSharedRing<OneToOne>, OfSharedRing<ManyToOne>, OfSharedRing<OneToMany>,
                   OfSharedRing<BytesInCpp>, OfSharedRing<BytesInC>, OfSharedRing<ItemsInC>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Pools, CloseSuite, Pools);
using OneAtATime =
    testing::Types<OfStrand<true>, OfStrand<false>, OfLoop, OfPipeline<true, OnFull::wait>,
                   OfPipeline<false, OnFull::wait>, OfPipeline<true, OnFull::run_here>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Engines, CloseSuite, Engines);
INSTANTIATE_TYPED_TEST_SUITE_P(OneAtATime, CloseSuite, OneAtATime);
INSTANTIATE_TYPED_TEST_SUITE_P(SharedRings, CloseSuite, SharedRings);

}}  // namespace handoff::test
