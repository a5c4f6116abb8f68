// SPDX-License-Identifier: MIT
//
// The suites of the concept Bulk and of loops on ThreadTeam, on each mode of ThreadPool, and on a
// stranger's; that of loops on executors, good and bad; and Bulks that are wrong on purpose.
#include "conformance/bulk_suite.hpp"
#include "conformance/loop_suite.hpp"
#include "conformance/strangers.hpp"
#include "support/test.hpp"

namespace handoff::test { namespace {

struct Teams {
  using Bulk = ThreadTeam;
  static constexpr bool own_parts = true;
  static constexpr bool nests = false;
  static std::size_t members(std::size_t width) { return width; }
  static auto make(std::size_t width) {
    return std::make_unique<ThreadTeam>(ThreadTeamOptions{.width = width});
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(ThreadTeam, BulkSuite, Teams);
INSTANTIATE_TYPED_TEST_SUITE_P(ThreadTeam, LoopSuite, Teams);

struct Pools {
  static inline PoolMode mode;
  using Bulk = ThreadPool;
  static constexpr bool own_parts = true;
  static constexpr bool nests = true;
  static std::size_t members(std::size_t width) { return width + 1; }
  static auto make(std::size_t width) {
    return std::make_unique<ThreadPool>(ThreadPoolOptions{.mode = mode, .width = width});
  }
};
template <PoolMode kMode>
struct PoolsOf : Pools {
  using Same = Pools;
  static void choose() { mode = kMode; }
};
using Modes = testing::Types<PoolsOf<PoolMode::stealing>, PoolsOf<PoolMode::fixed>,
                             PoolsOf<PoolMode::active>, PoolsOf<PoolMode::cached>>;
INSTANTIATE_TYPED_TEST_SUITE_P(ThreadPool, BulkSuite, Modes);
INSTANTIATE_TYPED_TEST_SUITE_P(ThreadPool, LoopSuite, Modes);

template <class E, std::size_t helpers_each>
struct Executors {
  static constexpr bool own_parts = false;
  static constexpr bool nests = true;
  static std::size_t members(std::size_t width) { return 1 + width * helpers_each; }
  static auto make(std::size_t width) {
    if constexpr (std::is_constructible_v<E, std::size_t>) {
      return std::make_unique<E>(width);
    } else {
      return std::make_unique<E>();
    }
  }
};

struct Strangers : Executors<StrangersBulk, 0> {
  using Bulk = StrangersBulk;
};
INSTANTIATE_TYPED_TEST_SUITE_P(Stranger, BulkSuite, Strangers);

struct Refusing {
  template <class F>
  Status try_post(F&&) {
    return Status::full;
  }
  static std::size_t width() { return 4; }
};
struct Throwing : Refusing {
  template <class F>
  Status try_post(F&&) {
    throw std::bad_alloc();
  }
};
using LoopRunners =
    testing::Types<Strangers, Executors<StrangersExecutor, 1>, Executors<InlineExecutor, 0>,
                   Executors<Refusing, 0>, Executors<Throwing, 0>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Stranger, LoopSuite, LoopRunners);

// A right team with something wrong between it and the run.
class Wrong {
 public:
  using BulkStorage = ThreadTeam::BulkStorage;

  std::size_t width() const { return team_.width(); }
  template <class Body>
  Tally run(std::size_t count, const Body& body, const RunOptions& options = {}) {
    return team_.run(count, body, options);
  }
  Status start(std::size_t count, BulkWork& work, BulkStorage& storage,
               const RunOptions& options = {}) {
    return team_.start(count, work, storage, options);
  }

 protected:
  BulkStorage storage_;  // not the user's, which is gone once the user is told, and be it too early
  ThreadTeam team_{{.width = 2}};
};

// Passes calls on, changed.
struct Between : BulkWork {
  virtual ~Between() = default;
  void block(std::size_t first, std::size_t last) override { inner->block(first, last); }
  void ended(const Tally& tally) noexcept override { inner->ended(tally); }
  BulkWork* inner = nullptr;
};
template <class Step>
struct HoldsStep {
  Step step;
};
template <class Step>
struct WrongStart : HoldsStep<Step>, Wrong {  // the team ends before the step
  Status start(std::size_t count, BulkWork& work, BulkStorage&, const RunOptions& options = {}) {
    this->step.inner = &work;
    return team_.start(count, this->step, storage_, options);
  }
};

struct SkipsAnIndex : Between {
  void block(std::size_t first, std::size_t last) override {
    if (first == 0) ++first;
    if (first != last) inner->block(first, last);
  }
};
struct RepeatsAnIndex : Between {
  void block(std::size_t first, std::size_t last) override {
    inner->block(first, last);
    if (first == 0) inner->block(first, first + 1);
  }
};
struct TellsTwice : Between {
  void ended(const Tally& tally) noexcept override {
    inner->ended(tally);
    inner->ended(tally);
    told = true;
  }
  std::atomic<bool> told{false};
};
struct NeverTells : Between {
  void ended(const Tally&) noexcept override {}
};
struct TellsTooEarly : Between {
  void block(std::size_t first, std::size_t last) override {
    if (first == 0) inner->ended(Tally{.accepted = 100, .done = 100});
    inner->block(first, last);
  }
  void ended(const Tally&) noexcept override { over = true; }
  std::atomic<bool> over{false};
};
struct Miscounts : Between {
  void ended(const Tally& tally) noexcept override {
    Tally wrong = tally;
    --wrong.done;
    ++wrong.cancelled;
    inner->ended(wrong);
  }
};
struct HidesTheFailure : Between {
  void ended(const Tally& tally) noexcept override {
    Tally wrong = tally;
    wrong.first_failure = nullptr;
    inner->ended(wrong);
  }
};

const BulkPlan kPlan{.count = 100};
const BulkPlan kImpatient{.count = 100, .patience = std::chrono::milliseconds(500)};

template <class B>
BulkVerdict verdict_on(const BulkPlan& plan = kPlan) {
  BulkAudit audit(plan);
  B bulk;
  return audit.start(bulk);
}

TEST(BulkCanary, TheSuiteFindsEachFault) {
  EXPECT_EQ(verdict_on<Wrong>(), BulkVerdict{});
  EXPECT_EQ(verdict_on<WrongStart<Between>>(), BulkVerdict{});
  EXPECT_EQ(verdict_on<WrongStart<SkipsAnIndex>>().skipped, 1U);
  EXPECT_EQ(verdict_on<WrongStart<RepeatsAnIndex>>().repeated, 1U);
  EXPECT_EQ(verdict_on<WrongStart<NeverTells>>(kImpatient).untold, 1U);
  EXPECT_GT(verdict_on<WrongStart<Miscounts>>().miscounted, 0U);
  const BulkPlan throws{.count = 100, .throw_one_in = 100};
  EXPECT_GT(verdict_on<WrongStart<HidesTheFailure>>(throws).miscounted, 0U);
}

TEST(BulkCanary, ASecondCompletionIsFound) {
  BulkAudit audit(kPlan);
  WrongStart<TellsTwice> bulk;
  (void)audit.start(bulk);
  while (!bulk.step.told) std::this_thread::yield();
  EXPECT_EQ(audit.retold(), 1U);
}

TEST(BulkCanary, ACompletionBeforeTheLastBlockIsFound) {
  BulkAudit audit(kPlan);
  WrongStart<TellsTooEarly> bulk;
  const BulkVerdict early = audit.start(bulk);
  while (!bulk.step.over) std::this_thread::yield();
  EXPECT_NE(early, BulkVerdict{});
  EXPECT_GT(audit.unfinished(), 0U);
}

}}  // namespace handoff::test
