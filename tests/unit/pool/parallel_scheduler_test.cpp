// SPDX-License-Identifier: MIT
//
// A backend of C++26's std::execution::parallel_scheduler on any Bulk: the mapping of
// docs/adr/0017-bulk-and-parallel-scheduler.md, as a program. The standard's classes are modelled
// where they are not there yet.
#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;

// What std::execution::parallel_scheduler_replacement declares, with try_query() for a stop token
// only.
struct ReceiverProxy {
  virtual void set_value() noexcept = 0;
  virtual void set_error(std::exception_ptr error) noexcept = 0;
  virtual void set_stopped() noexcept = 0;
  virtual bool stop_requested() noexcept = 0;

 protected:
  ~ReceiverProxy() = default;
};
struct BulkItemReceiverProxy : ReceiverProxy {
  virtual void execute(std::size_t first, std::size_t last) noexcept = 0;

 protected:
  ~BulkItemReceiverProxy() = default;
};
using Storage = std::span<std::byte>;

// The backend, whole. The bulk outlives what is scheduled.
template <Bulk B>
class Backend {
 public:
  explicit Backend(B& bulk) : bulk_(bulk) {}

  // A run over no index: its end comes on a member.
  void schedule(ReceiverProxy& receiver, Storage storage) noexcept {
    begin(0, receiver, storage, [](ReceiverProxy&, std::size_t, std::size_t) noexcept {});
  }
  void schedule_bulk_chunked(std::size_t count, BulkItemReceiverProxy& receiver,
                             Storage storage) noexcept {
    const auto block = [](ReceiverProxy& given, std::size_t first, std::size_t last) noexcept {
      static_cast<BulkItemReceiverProxy&>(given).execute(first, last);
    };
    begin(count, receiver, storage, block);
  }
  void schedule_bulk_unchunked(std::size_t count, BulkItemReceiverProxy& receiver,
                               Storage storage) noexcept {
    const auto block = [](ReceiverProxy& given, std::size_t first, std::size_t last) noexcept {
      for (; first != last; ++first) {
        static_cast<BulkItemReceiverProxy&>(given).execute(first, first + 1);
      }
    };
    begin(count, receiver, storage, block);
  }

 private:
  using Block = void (*)(ReceiverProxy& receiver, std::size_t first, std::size_t last) noexcept;

  // In the storage of the operation state; elsewhere if that is too small.
  class Operation final : public BulkWork {
   public:
    Operation(ReceiverProxy& receiver, Block what, bool allocated) noexcept
        : receiver_(receiver), block_(what), allocated_(allocated) {}
    void block(std::size_t first, std::size_t last) override {
      if (!receiver_.stop_requested()) {
        block_(receiver_, first, last);
      } else {
        stopped_.store(true, std::memory_order_relaxed);
      }
    }
    void ended(const Tally& tally) noexcept override {
      const bool stopped = stopped_.load(std::memory_order_relaxed) || tally.done != tally.accepted;
      ReceiverProxy& receiver = end();
      stopped ? receiver.set_stopped() : receiver.set_value();
    }
    // The storage is given back before the receiver hears.
    ReceiverProxy& end() noexcept {
      ReceiverProxy& receiver = receiver_;
      if (allocated_) {
        delete this;
      } else {
        std::destroy_at(this);
      }
      return receiver;
    }
    typename B::BulkStorage kept;

   private:
    ReceiverProxy& receiver_;
    const Block block_;
    const bool allocated_;
    std::atomic<bool> stopped_{false};
  };

  static Operation* make(ReceiverProxy& receiver, Storage storage, Block block) {
    void* place = storage.data();
    std::size_t room = storage.size();
    if (std::align(alignof(Operation), sizeof(Operation), place, room) != nullptr) {
      return ::new (place) Operation(receiver, block, false);
    }
    return new Operation(receiver, block, true);
  }

  void begin(std::size_t count, ReceiverProxy& receiver, Storage storage, Block block) noexcept {
    Operation* operation = nullptr;
    try {
      operation = make(receiver, storage, block);
      if (bulk_.start(count, *operation, operation->kept, RunOptions{}) == Status::ok) return;
    } catch (...) {
      if (operation != nullptr) (void)operation->end();
      return receiver.set_error(std::current_exception());
    }
    operation->end().set_stopped();  // closed
  }

  B& bulk_;
};

enum class End : int { none, value, error, stopped };

struct Receiver final : BulkItemReceiverProxy {
  explicit Receiver(std::size_t count) : times(count) {}
  void set_value() noexcept override { finish(End::value); }
  void set_error(std::exception_ptr) noexcept override { finish(End::error); }
  void set_stopped() noexcept override { finish(End::stopped); }
  bool stop_requested() noexcept override { return stop; }
  void execute(std::size_t first, std::size_t last) noexcept override {
    longest = last - first > longest ? last - first : longest.load();
    for (std::size_t i = first; i < last; ++i) ++times[i];
    if (stops) stop = true;
  }
  void finish(End how) noexcept {
    ++ends;
    on = std::this_thread::get_id();
    end = how;
  }
  End await() const {
    while (end == End::none) std::this_thread::yield();
    return end;
  }
  std::vector<std::atomic<int>> times;
  std::atomic<std::size_t> longest{0};
  std::atomic<bool> stop{false};
  std::atomic<bool> stops{false};
  std::atomic<int> ends{0};
  std::thread::id on;
  std::atomic<End> end{End::none};
};

template <class B>
B make();
template <>
ThreadTeam make<ThreadTeam>() {
  return ThreadTeam({.width = 3});
}
template <>
ThreadPool make<ThreadPool>() {
  return ThreadPool({.width = 3});
}

template <class B>
class ParallelSchedulerTest : public testing::Test {
 protected:
  B bulk = make<B>();
  Backend<B> backend{bulk};
  alignas(std::max_align_t) std::array<std::byte, 256> bytes{};
};
using Bulks = testing::Types<ThreadTeam, ThreadPool>;
TYPED_TEST_SUITE(ParallelSchedulerTest, Bulks);

TYPED_TEST(ParallelSchedulerTest, SchedulesOnAMember) {
  Receiver receiver(0);
  this->backend.schedule(receiver, this->bytes);
  EXPECT_EQ(receiver.await(), End::value);
  EXPECT_NE(receiver.on, std::this_thread::get_id());
  EXPECT_EQ(receiver.ends, 1);
}

TYPED_TEST(ParallelSchedulerTest, ChunksCoverTheShape) {
  for (const std::size_t count : {0U, 1U, 1000U}) {
    Receiver receiver(count);
    this->backend.schedule_bulk_chunked(count, receiver, this->bytes);
    EXPECT_EQ(receiver.await(), End::value);
    EXPECT_NE(receiver.on, std::this_thread::get_id());
    for (const auto& times : receiver.times) ASSERT_EQ(times, 1);
    EXPECT_EQ(receiver.longest > 1, count > 1);
  }
}

TYPED_TEST(ParallelSchedulerTest, UnchunkedIsOneByOne) {
  Receiver receiver(1000);
  this->backend.schedule_bulk_unchunked(1000, receiver, this->bytes);
  EXPECT_EQ(receiver.await(), End::value);
  for (const auto& times : receiver.times) ASSERT_EQ(times, 1);
  EXPECT_EQ(receiver.longest, 1U);
}

TYPED_TEST(ParallelSchedulerTest, StopsWhenItsReceiverDoes) {
  Receiver receiver(1000);
  receiver.stops = true;
  this->backend.schedule_bulk_chunked(1000, receiver, this->bytes);
  EXPECT_EQ(receiver.await(), End::stopped);
  EXPECT_EQ(receiver.ends, 1);
}

TYPED_TEST(ParallelSchedulerTest, TakesMemoryOnlyWhereTheStorageIsTooSmall) {
  // The least of many runs: a thread takes memory of its own when it works for the first time.
  const auto taken = [this](std::span<std::byte> storage) {
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (int round = 0; round < 30; ++round) {
      Receiver receiver(10);
      const std::size_t before = test::calls(test::Call::allocation);
      this->backend.schedule_bulk_chunked(10, receiver, storage);
      EXPECT_EQ(receiver.await(), End::value);
      least = std::min(least, test::calls(test::Call::allocation) - before);
    }
    return least;
  };
  EXPECT_EQ(taken(this->bytes), 0U);
  EXPECT_EQ(taken({}), 1U);
  Receiver none(10);
  test::fail_after(test::Call::allocation, 0, 0);
  this->backend.schedule_bulk_chunked(10, none, {});
  EXPECT_TRUE(test::stop_failing(test::Call::allocation));
  EXPECT_EQ(none.await(), End::error);
}

TEST(ParallelScheduler, AClosedPoolSaysStopped) {
  ThreadPool pool({.width = 1});
  (void)pool.close();
  Backend backend(pool);
  Receiver receiver(10);
  std::array<std::byte, 256> bytes{};
  backend.schedule_bulk_chunked(10, receiver, bytes);
  EXPECT_EQ(receiver.await(), End::stopped);
  EXPECT_EQ(receiver.ends, 1);
}

}  // namespace
