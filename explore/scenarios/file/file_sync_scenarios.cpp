// SPDX-License-Identifier: MIT
//
// FileEngine: group commit (docs/design/file_engine.md). The tap knows what had been written when
// an fsync began.
#include <cerrno>
#include <handoff/file/file_engine.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "explore/scenario.hpp"
#include "explore/scenarios/file/file_scenarios.hpp"

namespace file_sync_scenarios { namespace {

namespace explore = handoff::explore;
using namespace handoff;
using detail::FileCallView;
using sync::order;
using namespace test;

// Knows what a sync covers: what was written when it began. A sync that fails loses that, as the
// kernel does: the pages count as clean, and each descriptor (100 and 101) hears of it once. What
// the threads tell each other here is relaxed: the engine must not need the tap's help.
class Disk final : public Tap {
 public:
  // The sync of this number, from 1 on, fails; 0: none.
  explicit Disk(int failing_sync = 0) : failing_(failing_sync) {}

  // Whether a sync covers the byte at `offset`; or one by descriptor 100.
  bool is_durable(std::uint64_t offset) const {
    return is_durable_by_100(offset) || (by_101_.load(order::relaxed) & bit(offset)) != 0;
  }
  bool is_durable_by_100(std::uint64_t offset) const {
    return (by_100_.load(order::relaxed) & bit(offset)) != 0;
  }
  // Of all syncs that have ended.
  int syncs() const { return syncs_.read(); }

 private:
  static std::uint64_t bit(std::uint64_t offset) { return std::uint64_t{1} << offset; }

  long write(const FileCallView& call) override {
    written_.fetch_or(bit(call.offset), order::relaxed);
    return static_cast<long>(call.bytes);
  }
  long sync(const FileCallView& call) override {
    seen_.write() = written_.load(order::relaxed);
    const bool fails = ++syncs_.write() == failing_;
    if (fails) lost_.write() = seen_.read();
    const bool had_failed = syncs_.read() > failing_ && failing_ != 0;
    bool& told = call.descriptor == 100 ? told_100_.write() : told_101_.write();
    return (fails || had_failed) && !std::exchange(told, true) ? -EIO : 0;
  }
  void synced(const FileCallView& call, long result) override {
    auto& durable = call.descriptor == 100 ? by_100_ : by_101_;
    if (result == 0) durable.fetch_or(seen_.read() & ~lost_.read(), order::relaxed);
  }

  const int failing_;
  sync::atomic<std::uint64_t> written_{0};
  // Of the one sync that is under way: the explorer finds it if there are two.
  sync::cell<std::uint64_t> seen_{0};
  sync::cell<std::uint64_t> lost_{0};
  sync::cell<bool> told_100_{false};
  sync::cell<bool> told_101_{false};
  sync::cell<int> syncs_{0};
  sync::atomic<std::uint64_t> by_100_{0};
  sync::atomic<std::uint64_t> by_101_{0};
};

void write_and_look(FileEngine& files, const Disk& disk, const OpenFile& file,
                    std::uint64_t offset) {
  explore::check(files.submit(write_durably(file, offset)).get().ok(), "nothing fails");
  explore::check(disk.is_durable(offset), "acknowledged after a sync that began behind it");
}

const Scenario durable_two("file_sync/durable_two", [] {
  Disk disk;
  FileEngine files(with(disk, FileBackend::caller));
  const OpenFile file = open_file(100, 1, disk);
  explore::Thread other([&] { write_and_look(files, disk, file, 1); });
  write_and_look(files, disk, file, 0);
  other.join();
  explore::outcome(static_cast<std::uint64_t>(disk.syncs()));
});

// The same by threads of the engine, which wake each other.
const HugeScenario durable_threads("file_sync/durable_two_by_threads", [] {
  Disk disk;
  FileEngine files(with(disk, FileBackend::thread_per_request, 2));
  const OpenFile file = open_file(100, 1, disk);
  Future<FileResult> first = files.submit(write_durably(file, 0));
  Future<FileResult> second = files.submit(write_durably(file, 1));
  explore::check(first.get().ok() && disk.is_durable(0), "acknowledged after its sync");
  explore::check(second.get().ok() && disk.is_durable(1), "acknowledged after its sync");
});

// While one syncs, two come: one of them syncs then, for both.
const LargeScenario durable_three("file_sync/durable_three", [] {
  Disk disk;
  FileEngine files(with(disk, FileBackend::caller));
  const OpenFile file = open_file(100, 1, disk);
  explore::Thread second([&] { write_and_look(files, disk, file, 1); });
  explore::Thread third([&] { write_and_look(files, disk, file, 2); });
  write_and_look(files, disk, file, 0);
  second.join();
  third.join();
  explore::outcome(static_cast<std::uint64_t>(disk.syncs()));
});

// Two descriptors of one file: the one that was opened first is synced for it.
const LargeScenario oldest_is_synced("file_sync/oldest_is_synced", [] {
  Disk disk;
  FileEngine files(with(disk, FileBackend::caller));
  const OpenFile old = open_file(100, 1, disk, 1);
  const OpenFile fresh = open_file(101, 1, disk, 2);
  const auto write = [&](const OpenFile& file, std::uint64_t offset) {
    explore::check(files.submit(write_durably(file, offset)).get().ok(), "nothing fails");
  };
  explore::Thread second([&] { write(fresh, 1); });
  explore::Thread third([&] {
    write(old, 2);
    explore::check(disk.is_durable_by_100(2), "not by one that was opened later");
  });
  write(fresh, 0);
  explore::check(disk.is_durable(0), "by its own, or an older one");
});

// Durable, or told of the failure.
bool write_or_fail(FileEngine& files, const Disk& disk, const OpenFile& file,
                   std::uint64_t offset) {
  const FileResult result = files.submit(write_durably(file, offset)).get();
  if (result.ok()) explore::check(disk.is_durable(offset), "by a sync that went well");
  else explore::check(result.failure().error == EIO, "the failure reaches it");
  return result.ok();
}

// A sync fails: all that it served hear of it, what was written before it began, and what comes
// later for that file.
const Scenario failed_sync("file_sync/failed_sync", [] {
  Disk disk(1);
  FileEngine files(with(disk, FileBackend::caller));
  const OpenFile file = open_file(100, 1, disk);
  bool ok = false;
  explore::Thread other([&] { ok = write_or_fail(files, disk, file, 1); });
  const bool mine = write_or_fail(files, disk, file, 0);
  other.join();
  explore::check(!ok && !mine, "neither was durable before the failure");
  explore::check(!write_or_fail(files, disk, file, 2), "what is lost stays lost");
});

// The second sync fails, which serves one or both of the others.
const LargeScenario second_sync_fails("file_sync/second_sync_fails", [] {
  Disk disk(2);
  FileEngine files(with(disk, FileBackend::caller));
  const OpenFile file = open_file(100, 1, disk);
  explore::Thread second([&] { (void)write_or_fail(files, disk, file, 1); });
  explore::Thread third([&] { (void)write_or_fail(files, disk, file, 2); });
  (void)write_or_fail(files, disk, file, 0);
  second.join();
  third.join();
  const std::uint64_t failed = files.close().failed;
  explore::check(failed <= 2, "the first sync served one");
  explore::outcome(failed);
});

// Two open files of one inode. What one has heard is news to the other one, and what a sync by the
// older one has heard is no news to a later one by it, for whichever it serves.
const LargeScenario told_once("file_sync/told_once", [] {
  Disk disk(1);
  FileEngine files(with(disk, FileBackend::caller));
  const OpenFile old = open_file(100, 1, disk, 1);
  const OpenFile fresh = open_file(101, 1, disk, 2);
  explore::Thread second([&] { (void)write_or_fail(files, disk, old, 1); });
  explore::Thread third([&] { (void)write_or_fail(files, disk, fresh, 2); });
  (void)write_or_fail(files, disk, old, 0);
  second.join();
  third.join();
  explore::outcome(files.close().failed);
});

// A sync beside a write: what ended before it was submitted is covered.
const LargeScenario sync_covers("file_sync/sync_covers", [] {
  Disk disk;
  FileEngine files(with(disk, FileBackend::thread_per_request, 2));
  const OpenFile file = open_file(100, 1, disk);
  Future<FileResult> written = files.submit(write_to(file, 0));
  Future<FileResult> synced = files.sync(file);
  explore::check(synced.get().ok(), "nothing fails");
  explore::check(disk.is_durable(0), "what was submitted before it is covered");
  explore::check(written.get().ok(), "nothing fails");
});

}}  // namespace file_sync_scenarios
