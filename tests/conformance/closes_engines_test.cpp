// SPDX-License-Identifier: MIT
//
// The suite of closes on pools, engines, logs and the rings of shared memory.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <handoff/core/future.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/file/append_log.hpp>
#include <handoff/file/append_log_reader.hpp>
#include <handoff/file/file_engine.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/process/process_pool.hpp>
#include <handoff/process/shared_broadcast.hpp>
#include <handoff/process/shared_byte_ring.hpp>
#include <handoff/process/shared_mpsc_ring.hpp>
#include <handoff/process/shared_ring.hpp>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/close_suite.hpp"
#include "unit/file/file_support.hpp"

namespace handoff::test { namespace {

using namespace std::chrono_literals;

// ---- Pools and engines ----

template <bool kFinishes, OnFull kOnFull>
class OfPool {
 public:
  static constexpr unsigned producers = 3, consumers = 0;
  static constexpr CloseBy by = CloseBy::others;
  static constexpr unsigned ways_in = 4, ways_out = 1;
  static constexpr std::size_t rounds_divided_by = 4;

  OfPool(const ClosePlan& plan, CloseLog& log)
      : log_(log), pool_({.width = 2, .capacity = plan.capacity, .on_full = kOnFull}) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      auto task = [&log = log_, item] { log.handled(item); };
      if (way == 0) return pool_.try_post(std::move(task));
      try {
        if (way == 1) pool_.post(std::move(task));
        if (way == 2) (void)pool_.submit(std::move(task));
        if (way == 3) pool_.post(task, {.priority = Priority::high});
      } catch (const NotRun& refused) {
        return refused.status();
      }
      return Status::ok;
    });
  }
  void serve(unsigned, unsigned) {}
  void close() { (void)pool_.close(kFinishes ? Closing::finish : Closing::abandon); }
  std::uint64_t dropped() {
    EXPECT_TRUE(pool_.tally().balanced());
    return pool_.tally().cancelled;
  }

 private:
  CloseLog& log_;
  ThreadPool pool_;
};

// Each request that was accepted is told its result, also one that is dropped.
template <bool kFinishes, FileBackend kBackend>
class OfFileEngine {
 public:
  static constexpr unsigned producers = 3, consumers = 0;
  static constexpr CloseBy by = CloseBy::others;
  static constexpr unsigned ways_in = 3, ways_out = 1;
  static constexpr std::size_t rounds_divided_by = 20;

  OfFileEngine(const ClosePlan& plan, CloseLog& log)
      : log_(log), engine_({.backend = kBackend, .width = 2, .capacity = plan.capacity}) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      FileRequest request{.operation = FileOperation::stat, .path = "/"};
      FileEngine::Callback told = [&log = log_, item](FileResult&&) { log.handled(item); };
      if (way == 0) return engine_.try_post(std::move(request), std::move(told));
      if (way == 1) return engine_.post(std::move(request), std::move(told));
      return engine_.post(std::move(request), std::move(told), 100us);
    });
  }
  void serve(unsigned, unsigned) {}
  void close() { (void)engine_.close(kFinishes ? Closing::finish : Closing::abandon); }
  std::uint64_t dropped() { return 0; }

 private:
  CloseLog& log_;
  FileEngine engine_;
};

struct JobNumber {
  std::uint32_t number;
};
std::uint32_t same_number(const JobNumber& job) { return job.number; }

template <bool kFinishes>
class OfProcessPool {
 public:
  static constexpr unsigned producers = 3, consumers = 0;
  static constexpr CloseBy by = CloseBy::others;
  static constexpr unsigned ways_in = 2, ways_out = 1;
  static constexpr std::size_t rounds_divided_by = 50;

  OfProcessPool(const ClosePlan& plan, CloseLog& log)
      : log_(log), pool_({.width = 1, .capacity = plan.capacity}) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      Future<std::uint32_t> result;
      if (way == 0) {
        const Status said = pool_.template try_submit<&same_number>(JobNumber{item.number}, result);
        if (said != Status::ok) return said;
      } else {
        try {
          result = pool_.template submit<&same_number>(JobNumber{item.number});
        } catch (const NotRun& refused) {
          return refused.status();
        }
      }
      const std::lock_guard lock(mutex_);
      results_.push_back(std::move(result));
      return Status::ok;
    });
  }
  void serve(unsigned, unsigned) {}
  void close() { (void)pool_.close(kFinishes ? Closing::finish : Closing::abandon); }
  std::uint64_t dropped() {
    std::uint64_t cancelled = 0;
    for (Future<std::uint32_t>& result : results_) {
      try {
        log_.handled(CloseItem(result.get()));
      } catch (const NotRun&) {
        ++cancelled;
      }
    }
    EXPECT_EQ(pool_.tally().cancelled, cancelled);
    return cancelled;
  }

 private:
  CloseLog& log_;
  ProcessPool pool_;
  std::mutex mutex_;
  std::vector<Future<std::uint32_t>> results_;
};

// ---- A log: what was acknowledged is read again ----

class OfAppendLog {
 public:
  static constexpr unsigned producers = 3, consumers = 0;
  static constexpr CloseBy by = CloseBy::others;
  static constexpr unsigned ways_in = 3, ways_out = 1;
  static constexpr std::size_t rounds_divided_by = 10;

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
  void serve(unsigned, unsigned) {}
  void close() { (void)records_.close(); }
  std::uint64_t dropped() {
    for (const AppendLogRecord& record : AppendLogReader(folder_ / "log")) {
      log_.handled(CloseItem(static_cast<std::uint32_t>(std::stoul(std::string(record.text())))));
    }
    return 0;
  }

 private:
  CloseLog& log_;
  FileFolder folder_{fast_place()};
  AppendLog records_{folder_ / "log", {.preallocate = false}};
};

// ---- Rings of shared memory ----

// As a mapping is: zero, and it begins at a page.
class ZeroPages {
 public:
  explicit ZeroPages(std::size_t bytes) : pages_((bytes + sizeof(Page) - 1) / sizeof(Page)) {}
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(pages_)); }

 private:
  struct alignas(4096) Page {
    std::byte bytes[4096];
  };
  std::vector<Page> pages_;
};

// `Ends`: make(capacity), a Producer each, a Consumer; by which calls they push and pop.
template <class Ends>
class OfSharedRing {
 public:
  static constexpr unsigned producers = Ends::producers, consumers = 1;
  static constexpr CloseBy by = Ends::by;
  static constexpr unsigned ways_in = 3, ways_out = 2;

  OfSharedRing(const ClosePlan& plan, CloseLog& log) : log_(log), ends_(plan.capacity) {}

  std::uint64_t offer(unsigned self, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) { return ends_.push(self, way, item.number); });
  }
  void serve(unsigned, unsigned way) {
    const Until until = way == 0 ? Until() : Until(100us);
    std::uint32_t number = 0;
    for (Status status = Status::ok; status != Status::closed;) {
      status = ends_.pop(number, until);
      if (status == Status::ok) log_.handled(CloseItem(number));
    }
  }
  void close() { ends_.close(); }
  std::uint64_t dropped() { return 0; }

 private:
  CloseLog& log_;
  Ends ends_;
};

// By way 0, 1 or 2.
template <class Producer>
Status push_by(Producer& out, unsigned way, const std::uint32_t& number) {
  if (way == 0) return out.try_push(number);
  return way == 1 ? out.push(number) : out.push(number, 100us);
}

struct RingEnds {
  using Ring = SharedRing<std::uint32_t>;
  static constexpr unsigned producers = 1;
  static constexpr CloseBy by = CloseBy::anybody;
  explicit RingEnds(std::size_t capacity)
      : pages(Ring::bytes_for(capacity)), ring(Ring::create(pages.bytes(), capacity)) {}
  Status push(unsigned, unsigned way, std::uint32_t number) { return push_by(out, way, number); }
  Status pop(std::uint32_t& number, const Until& until) { return in.pop(number, until); }
  void close() { ring.close(); }
  ZeroPages pages;
  Ring ring;
  Ring::Producer out{ring};
  Ring::Consumer in{ring};
};

struct MpscEnds {
  using Ring = SharedMpscRing<std::uint32_t>;
  static constexpr unsigned producers = 3;
  static constexpr CloseBy by = CloseBy::anybody;
  explicit MpscEnds(std::size_t capacity)
      : pages(Ring::bytes_for(capacity, producers)),
        ring(Ring::create(pages.bytes(), capacity, producers)) {}
  Status push(unsigned self, unsigned way, std::uint32_t number) {
    return push_by(out[self], way, number);
  }
  Status pop(std::uint32_t& number, const Until& until) { return in.pop(number, until); }
  void close() { ring.close(); }
  ZeroPages pages;
  Ring ring;
  Ring::Producer out[producers]{{ring, 0}, {ring, 1}, {ring, 2}};
  Ring::Consumer in{ring};
};

struct ByteEnds {
  static constexpr unsigned producers = 1;
  static constexpr CloseBy by = CloseBy::anybody;
  explicit ByteEnds(std::size_t capacity)
      : pages(SharedByteRing::bytes_for(64 * capacity)),
        ring(SharedByteRing::create(pages.bytes(), 64 * capacity)) {}
  Status push(unsigned, unsigned way, const std::uint32_t& number) {
    const auto record = std::as_bytes(std::span(&number, 1));
    if (way == 0) return out.try_push(record);
    return way == 1 ? out.push(record) : out.push(record, 100us);
  }
  Status pop(std::uint32_t& number, const Until& until) {
    std::span<const std::byte> record;
    const Status status = in.peek(record, until);
    if (status == Status::ok) {
      std::memcpy(&number, record.data(), sizeof number);
      in.release();
    }
    return status;
  }
  void close() { ring.close(); }
  ZeroPages pages;
  SharedByteRing ring;
  SharedByteRing::Producer out{ring};
  SharedByteRing::Consumer in{ring};
};

// With room for all, as it never waits.
struct BroadcastEnds {
  using Ring = SharedBroadcast<std::uint32_t>;
  static constexpr unsigned producers = 1;
  static constexpr CloseBy by = CloseBy::producer;
  explicit BroadcastEnds(std::size_t) : ring(Ring::create(pages.bytes(), CloseLog::kMost)) {}
  Status push(unsigned, unsigned, std::uint32_t number) { return out.push(number); }
  Status pop(std::uint32_t& number, const Until& until) { return in.pop(number, until); }
  void close() { out.close(); }
  ZeroPages pages{Ring::bytes_for(CloseLog::kMost)};
  Ring ring;
  Ring::Producer out{ring};
  Ring::Consumer in{ring};
};

using Pools = testing::Types<OfPool<true, OnFull::wait>, OfPool<false, OnFull::wait>,
                             OfPool<true, OnFull::run_here>, OfPool<false, OnFull::reject>>;
using Engines =
    testing::Types<OfFileEngine<true, FileBackend::pool>, OfFileEngine<false, FileBackend::pool>,
                   OfFileEngine<true, FileBackend::io_thread>,
                   OfFileEngine<false, FileBackend::caller>, OfProcessPool<true>,
                   OfProcessPool<false>, OfAppendLog>;
using SharedRings = testing::Types<OfSharedRing<RingEnds>, OfSharedRing<MpscEnds>,
                                   OfSharedRing<ByteEnds>, OfSharedRing<BroadcastEnds>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Pools, CloseSuite, Pools);
INSTANTIATE_TYPED_TEST_SUITE_P(Engines, CloseSuite, Engines);
INSTANTIATE_TYPED_TEST_SUITE_P(SharedRings, CloseSuite, SharedRings);

}}  // namespace handoff::test
