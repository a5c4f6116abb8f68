// SPDX-License-Identifier: MIT
//
// The bandwidth share by the explorer's clock: what is granted never exceeds it; what is parked is
// started once, in its order, with all that was done to it before; and nothing waits for ever.
#include "file/pace.hpp"

#include <fcntl.h>
#include <handoff/file/file_engine.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/mutex.hpp>

#include "explore/scenario.hpp"
#include "explore/scenarios/file/file_scenarios.hpp"
#include "file/driver.hpp"
#include "file/file_task.hpp"

namespace pace_scenarios { namespace {

namespace explore = handoff::explore;
using namespace handoff;
using detail::FileDriver;
using detail::FilePace;
using detail::FileRun;
using detail::FileServices;
using detail::FileTask;
using std::chrono::milliseconds;
using std::chrono::seconds;
using namespace test;

class Services final : public FileServices {
 public:
  detail::FileTap* tap() const noexcept override { return nullptr; }
  int beneath() const noexcept override { return AT_FDCWD; }
  int whether_to_begin() const noexcept override { return 0; }
  bool reserve(FileRun&, std::uint64_t) noexcept override { return true; }
  bool spend(FileRun&, std::uint64_t, bool) noexcept override { return true; }
  bool join_sync(FileRun&) noexcept override { return true; }
  int begin_sync(FileRun&) noexcept override { return -1; }
  void end_sync(FileRun&, int) noexcept override {}
};

// Tasks that ask for a byte each, and what became of them. The driver takes what is started.
class Shared final : public FileDriver {
 public:
  static constexpr std::size_t kMost = 3;

  explicit Shared(std::size_t count) : begun_(sync::clock::now()), count_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      tasks_[i] = FileTask::make(services_, {.operation = FileOperation::write});
      tasks_[i]->driver = this;
    }
  }
  ~Shared() override {
    waits_->destroy();
    for (std::size_t i = 0; i < count_; ++i) tasks_[i]->destroy();
  }

  // One byte for the task `i`, now or later.
  void ask(FilePace& pace, std::size_t i) {
    asked_[i].write() = static_cast<int>(i) + 1;
    if (pace.spend(*tasks_[i], 1, true)) granted(i);
  }
  void start(FileRun& run) noexcept override {
    for (std::size_t i = 0; i < count_; ++i) {
      if (tasks_[i] == &run) granted(i);
    }
  }
  void close() noexcept override {}
  // One byte for another one, on this thread.
  void wait(FilePace& pace) const { pace.wait(*waits_, 1); }

  void wait_for_all() {
    (void)all_.await([this] {
      const sync::Lock lock(mutex_);
      return grants_ == count_;
    });
  }
  // Whether `a` had its share before `b`.
  bool before(std::size_t a, std::size_t b) {
    const sync::Lock lock(mutex_);
    return place_[a] < place_[b];
  }

 private:
  void granted(std::size_t i) noexcept {
    explore::check(asked_[i].read() == static_cast<int>(i) + 1, "what was done before is seen");
    {
      const sync::Lock lock(mutex_);
      explore::check(place_[i] == 0, "once");
      // A byte takes a second, and the first one goes at once.
      explore::check(sync::clock::now() >= begun_ + seconds(grants_), "not more than the share");
      place_[i] = ++grants_;
    }
    all_.notify_all();
  }

  Services services_;
  const sync::Deadline begun_;
  const std::size_t count_;
  std::array<FileTask*, kMost> tasks_{};
  FileTask* const waits_ = FileTask::make(services_, {.operation = FileOperation::write});
  std::array<sync::cell<int>, kMost> asked_;
  sync::Mutex mutex_;
  sync::EventCount all_;
  std::size_t grants_ = 0;
  std::array<std::size_t, kMost> place_{};
};

// Two threads ask, one of them twice: its tasks keep their order.
const Scenario parked("pace/parked_in_order", [] {
  Shared shared(3);
  FilePace pace(1, "p");
  explore::Thread other([&] { shared.ask(pace, 2); });
  shared.ask(pace, 0);
  shared.ask(pace, 1);
  shared.wait_for_all();
  explore::check(shared.before(0, 1), "first come, first served");
  explore::outcome(shared.before(2, 0) ? 0 : shared.before(2, 1) ? 1 : 2);
});

// One waits on its own thread beside one that is parked.
const HugeScenario waits("pace/wait_beside_parked", [] {
  Shared shared(2);
  FilePace pace(1, "p");
  shared.ask(pace, 0);
  explore::Thread other([&] { shared.wait(pace); });
  shared.ask(pace, 1);
  other.join();
  shared.wait_for_all();
});

// Two wait on their own threads.
const HugeScenario two_wait("pace/two_wait", [] {
  const Shared shared(0);
  FilePace pace(1, "p");
  const sync::Deadline begun = sync::clock::now();
  explore::Thread other([&] { shared.wait(pace); });
  shared.wait(pace);
  shared.wait(pace);
  explore::check(sync::clock::now() >= begun + seconds(1), "not more than the share");
});

// Its thread may be starting the last one when it closes, and may not have begun at all.
const Scenario closes("pace/close_behind_the_last", [] {
  Shared shared(2);
  {
    FilePace pace(1, "p");
    explore::Thread other([&] { shared.ask(pace, 1); });
    shared.ask(pace, 0);
    shared.wait_for_all();
    pace.close();
  }
  const FilePace idle(1, "q");
});

void sleep_until(sync::Deadline moment) {
  sync::EventCount nobody;
  (void)nobody.await([] { return false; }, moment);
}

// Of the time in which nothing was spent 20 ms are kept: two bytes, and one goes ahead.
const Scenario burst("pace/burst", [] {
  FilePace pace(100, "p");
  Services services;
  FileTask* const task = FileTask::make(services, {.operation = FileOperation::write});
  const auto spends = [&] { return pace.spend(*task, 1, false); };
  explore::check(spends() && !spends(), "nothing is kept yet");
  sleep_until(sync::clock::now() + seconds(100));
  explore::check(spends() && spends() && spends() && !spends(), "20 ms are kept, and no more");
  sleep_until(sync::clock::now() + milliseconds(10));
  explore::check(spends() && !spends(), "then as it comes");
  task->destroy();
});

// ---- With an engine -----------------------------------------------------------------------------

// Two writes with a share, and a close that comes while the second one is parked.
void engine_closes(FileBackend backend) {
  Tap tap;
  FileEngineOptions options = with(tap, backend);
  options.bytes_per_second = 1;
  FileEngine files(options);
  Future<FileResult> first = files.submit(write_to(open_file(100, 1, tap), 0));
  Future<FileResult> second = files.submit(write_to(open_file(101, 2, tap), 0));
  explore::check(files.close().done == 2, "a share ends nothing");
  explore::check(first.get().ok() && second.get().ok(), "nothing fails");
}
const Scenario closes_by_thread(
    "pace/engine_closes", [] { engine_closes(FileBackend::io_thread); }, Size::large);
const Scenario closes_by_caller("pace/engine_closes_caller",
                                [] { engine_closes(FileBackend::caller); });

}}  // namespace pace_scenarios
