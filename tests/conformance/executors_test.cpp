// SPDX-License-Identifier: MIT
//
// The suite of the executor tier on each mode of ThreadPool, by each of its ways in, on message
// workers, on strands and a loop, on the inline executor and on a stranger's; and pools that are
// wrong on purpose, which it must find.
#include "conformance/executor_suite.hpp"
#include "conformance/strangers.hpp"
#include "support/test.hpp"

namespace handoff::test { namespace {

// A pool's tasks, posted with the options that `given` says for each; without any if it is null.
struct Posted {
  static inline PoolMode mode;
  static inline TaskOptions (*given)(ThreadPool& pool);
  class Executor {
   public:
    explicit Executor(std::size_t width) : pool_({.mode = mode, .width = width}) {}
    template <class F>
    bool execute(F function) {
      if (given == nullptr) return pool_.try_post(std::move(function)) == Status::ok;
      return pool_.try_post(std::move(function), given(pool_)) == Status::ok;
    }

   private:
    ThreadPool pool_;
  };
};
template <PoolMode kMode, auto kGiven>
struct By : Posted {
  using Same = Posted;
  static void choose() {
    mode = kMode;
    given = kGiven;
  }
};

using Given = TaskOptions (*)(ThreadPool&);
constexpr Given kPlain = nullptr;
constexpr Given kHigh = [](ThreadPool&) { return TaskOptions{.priority = Priority::high}; };
constexpr Given kLow = [](ThreadPool&) { return TaskOptions{.priority = Priority::low}; };
std::atomic<std::size_t> next_worker{0};
constexpr Given kPinned = [](ThreadPool& pool) {
  return TaskOptions{.worker = next_worker++ % pool.width()};
};

struct Timed {  // by the timers, at once
  static inline PoolMode mode;
  class Executor {
   public:
    explicit Executor(std::size_t width) : pool_({.mode = mode, .width = width}) {}
    // Those of a timed task whose moment has not come when the pool closes are cancelled: wait.
    ~Executor() {
      while (pool_.tally().pending != 0) std::this_thread::yield();
    }
    template <class F>
    bool execute(F function) {
      (void)pool_.post_after(std::chrono::seconds(0), std::move(function));
      return true;
    }

   private:
    ThreadPool pool_;
  };
};
template <PoolMode kMode>
struct AtOnce : Timed {
  using Same = Timed;
  static void choose() { mode = kMode; }
};

using Modes = testing::Types<By<PoolMode::stealing, kPlain>, By<PoolMode::fixed, kPlain>,
                             By<PoolMode::active, kPlain>, By<PoolMode::cached, kPlain>>;
INSTANTIATE_TYPED_TEST_SUITE_P(ThreadPool, ExecutorSuite, Modes);

using Ways = testing::Types<
    By<PoolMode::stealing, kHigh>, By<PoolMode::fixed, kHigh>, By<PoolMode::active, kHigh>,
    By<PoolMode::cached, kHigh>, By<PoolMode::stealing, kLow>, By<PoolMode::fixed, kLow>,
    By<PoolMode::active, kLow>, By<PoolMode::cached, kLow>, By<PoolMode::stealing, kPinned>,
    By<PoolMode::fixed, kPinned>, By<PoolMode::active, kPinned>, By<PoolMode::cached, kPinned>,
    AtOnce<PoolMode::stealing>, AtOnce<PoolMode::fixed>, AtOnce<PoolMode::active>,
    AtOnce<PoolMode::cached>>;
INSTANTIATE_TYPED_TEST_SUITE_P(ThreadPoolWays, ExecutorSuite, Ways);

// Message workers whose messages are functions, with and without keys.
struct Function {
  UniqueFunction<void()> call;
  std::uint64_t key = 0;
};
struct NoKey {};
struct ByKey {
  static std::uint64_t key(const Function& function) { return function.key; }
};
template <class Policies>
struct Published {
  static inline std::size_t capacity;
  class Executor {
   public:
    explicit Executor(std::size_t width)
        : workers_({.width = width, .capacity = capacity}, [](Function& f) { f.call(); }) {}
    template <class F>
    bool execute(F function) {
      return workers_.publish(Function{std::move(function), next_.fetch_add(1)}) == Status::ok;
    }

   private:
    std::atomic<std::uint64_t> next_{0};
    BasicMessageWorkers<Policies, Function> workers_;
  };
};
template <class Policies, std::size_t kCapacity>
struct Messages : Published<Policies> {
  using Same = Published<Policies>;
  static void choose() { Same::capacity = kCapacity; }
};
using MessageWays = testing::Types<Messages<NoKey, 1024>, Messages<NoKey, 4>, Messages<ByKey, 1024>,
                                   Messages<ByKey, 4>>;
INSTANTIATE_TYPED_TEST_SUITE_P(MessageWorkers, ExecutorSuite, MessageWays);

INSTANTIATE_TYPED_TEST_SUITE_P(Inline, ExecutorSuite, OfConcept<InlineExecutor>);
INSTANTIATE_TYPED_TEST_SUITE_P(Stranger, ExecutorSuite, OfConcept<StrangersExecutor>);

// A strand, whatever is under it.
template <class E, auto kMake>
struct StrandOn {
  class Executor {
   public:
    explicit Executor(std::size_t width) : under_(kMake(width)), strand_(*under_) {}
    template <class F>
    bool execute(F function) {
      return strand_.try_post(std::move(function)) == Status::ok;
    }
    std::size_t width() const { return strand_.width(); }

   private:
    std::unique_ptr<E> under_;
    SerialExecutor<E> strand_;
  };
};
template <PoolMode mode>
constexpr auto kPool = [](std::size_t width) {
  return std::make_unique<ThreadPool>(ThreadPoolOptions{.mode = mode, .width = width});
};
constexpr auto kStranger = [](std::size_t width) {
  return std::make_unique<StrangersExecutor>(width);
};
constexpr auto kInline = [](std::size_t) { return std::make_unique<InlineExecutor>(); };

// A loop whose owner does nothing else.
struct ServedLoop {
  class Executor {
   public:
    explicit Executor(std::size_t) {}
    ~Executor() {
      loop_.shut();
      owner_.join();
    }
    template <class F>
    bool execute(F function) {
      return loop_.try_post(std::move(function)) == Status::ok;
    }
    std::size_t width() const { return loop_.width(); }

   private:
    LoopExecutor loop_;
    std::thread owner_{[this] {
      while (loop_.wait() == Status::ok) (void)loop_.drain();
    }};
  };
};
using OneAtATime = testing::Types<
    StrandOn<ThreadPool, kPool<PoolMode::stealing>>, StrandOn<ThreadPool, kPool<PoolMode::fixed>>,
    StrandOn<StrangersExecutor, kStranger>, StrandOn<InlineExecutor, kInline>, ServedLoop>;
INSTANTIATE_TYPED_TEST_SUITE_P(OneAtATime, ExecutorSuite, OneAtATime);

TEST(ExecutorConcept, ARefusedFunctionIsUntouched) {
  for (const PoolMode mode :
       {PoolMode::stealing, PoolMode::fixed, PoolMode::active, PoolMode::cached}) {
    ThreadPool closed({.mode = mode, .width = 1});
    (void)closed.close();
    EXPECT_TRUE(refuses_untouched(closed));
    ThreadPool full({.mode = mode, .width = 1, .capacity = 1, .on_full = OnFull::reject});
    full.pause();
    full.post([] {});
    EXPECT_TRUE(refuses_untouched(full));
  }
  StrangersExecutor stranger(1);
  stranger.close();
  EXPECT_TRUE(refuses_untouched(stranger));
  SerialExecutor strand(stranger);
  EXPECT_TRUE(refuses_untouched(strand)) << "for its executor";
  (void)strand.close();
  EXPECT_TRUE(refuses_untouched(strand));
  LoopExecutor loop;
  loop.shut();
  EXPECT_TRUE(refuses_untouched(loop));
}

TEST(ExecutorConcept, LoopsEndOnIt) {
  InlineExecutor here;
  EXPECT_TRUE(loops_each_once(here));
  StrangersExecutor stranger(2);
  EXPECT_TRUE(loops_each_once(stranger));
  stranger.close();
  EXPECT_TRUE(loops_each_once(stranger));
  ThreadPool pool({.width = 2});
  EXPECT_TRUE(loops_each_once(pool));
  SerialExecutor strand(pool);
  EXPECT_TRUE(loops_each_once(strand));
  LoopExecutor loop;  // that nobody drains: the caller does it all
  EXPECT_TRUE(loops_each_once(loop));
}

// A right pool, and a wrong one around it that goes wrong at one call.
class Wrong {
 public:
  template <class F>
  bool execute(F function) {
    return pool_.try_post(std::move(function)) == Status::ok;
  }

 protected:
  bool is_the_one() { return ++calls_ == 50; }

  ThreadPool pool_{{.width = 2}};
  std::atomic<std::size_t> calls_{0};
};

struct Loses : Wrong {
  template <class F>
  bool execute(F function) {
    return is_the_one() || Wrong::execute(std::move(function));
  }
};

struct Repeats : Wrong {
  template <class F>
  bool execute(F function) {
    if (is_the_one()) function();
    return Wrong::execute(std::move(function));
  }
};

struct Refuses : Wrong {
  template <class F>
  bool execute(F function) {
    return !is_the_one() && Wrong::execute(std::move(function));
  }
};

// Calls what it has moved from.
struct Tears : Wrong {
  template <class F>
  bool execute(F function) {
    if (!is_the_one()) return Wrong::execute(std::move(function));
    const F stolen = std::move(function);
    return Wrong::execute(std::move(function));
  }
};

struct Keeps : Wrong {
  template <class F>
  bool execute(F function) {
    if (is_the_one()) kept = std::make_shared<F>(std::move(function));
    if (kept == nullptr || calls_ != 50) return Wrong::execute(std::move(function));
    return Wrong::execute([also = std::static_pointer_cast<F>(kept)] { (*also)(); });
  }
  std::shared_ptr<void> kept;
};

template <class Executor>
ExecutorVerdict verdict_on() {
  Executor executor;
  const ExecutorPlan plan{
      .submitters = 1, .roots_each = 100, .of_a_root = 1, .patience = std::chrono::seconds(1)};
  return ExecutorAudit(executor, plan).run();
}

TEST(ExecutorCanary, TheSuiteFindsEachFault) {
  EXPECT_EQ(verdict_on<Wrong>(), ExecutorVerdict{});
  EXPECT_EQ(verdict_on<Loses>(), ExecutorVerdict{.lost = 1});
  EXPECT_EQ(verdict_on<Repeats>(), ExecutorVerdict{.repeated = 1});
  EXPECT_EQ(verdict_on<Refuses>(), ExecutorVerdict{.refused = 1});
  EXPECT_EQ(verdict_on<Tears>(), ExecutorVerdict{.unseen = 1});
  EXPECT_EQ(verdict_on<Keeps>(), ExecutorVerdict{.kept = 1});
}

// Takes the function and refuses it.
struct TakesAndRefuses {
  template <class F>
  Status try_post(F&& function) {
    const std::decay_t<F> taken(std::forward<F>(function));
    return Status::full;
  }
  std::size_t width() const { return 1; }
};
// Calls it and refuses it.
struct CallsAndRefuses {
  template <class F>
  Status try_post(F&& function) {
    function();
    return Status::full;
  }
  std::size_t width() const { return 1; }
};

TEST(ExecutorCanary, ARefusalThatTouchesTheFunctionIsFound) {
  TakesAndRefuses takes;
  EXPECT_FALSE(refuses_untouched(takes));
  CallsAndRefuses calls;
  EXPECT_FALSE(refuses_untouched(calls));
  InlineExecutor takes_all;
  EXPECT_FALSE(refuses_untouched(takes_all));
}

}}  // namespace handoff::test
