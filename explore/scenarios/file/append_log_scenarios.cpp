// SPDX-License-Identifier: MIT
//
// AppendLog: the scenarios of docs/design/append_log.md. A tap answers all calls; it knows which
// records a sync has covered, and looks whether two threads write at once.
#include <handoff/file/append_log.hpp>

#include <sys/uio.h>
#include <cerrno>
#include <cstring>
#include <handoff/file/detail/file_tap.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/gate.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/sync/stop_token.hpp>

#include "explore/scenario.hpp"
#include "file/append_log_format.hpp"

namespace append_log_scenarios { namespace {

namespace explore = handoff::explore;
using namespace handoff;
using detail::BatchHead;
using detail::FileCallKind;
using detail::FileCallView;
using sync::order;
using namespace test;

class Disk final : public detail::FileTap {
 public:
  // The sync of this number, from 1 on, fails; 0: none.
  explicit Disk(int failing_sync = 0) : failing_(failing_sync) {}

  Verdict before(const FileCallView& call) noexcept override {
    switch (call.kind) {
      case FileCallKind::open: return {Verdict::answer, 100};
      case FileCallKind::write: return {Verdict::answer, write(call)};
      case FileCallKind::fdatasync: return {Verdict::answer, sync()};
      case FileCallKind::unlink:
        explore::check(locks_.read() < 2, "nothing is removed that another writer may have");
        return {Verdict::answer, 0};
      case FileCallKind::other:
        if (std::string_view(call.name) == "fcntl") ++locks_.write();  // taken, and given back
        return {Verdict::answer, 0};
      default: return {Verdict::answer, 0};
    }
  }
  void after(const FileCallView& /*call*/, long /*result*/) noexcept override {}

  // The last record that a sync has covered. Relaxed: the log itself must not need its help.
  [[nodiscard]] std::uint64_t synced() const { return synced_.load(order::relaxed); }
  // The last one that was handed to the file.
  [[nodiscard]] std::uint64_t handed() const { return handed_.load(order::relaxed); }
  [[nodiscard]] int syncs() const { return syncs_.read(); }

  std::function<void()> at_first_batch;  // before it is handed over; empty: nothing

 private:
  long write(const FileCallView& call) noexcept {
    BatchHead head;
    const bool header = call.offset == 0;  // of the segment
    if (!header && call.bytes >= sizeof head) {
      std::memcpy(&head, call.pieces[0].iov_base, sizeof head);
      if ((head.mark & detail::kMarks) == BatchHead::kMark && head.mark != BatchHead::kMark) {
        explore::check(!failed_.read(), "nothing is written after a failure");
        explore::check(head.first == written_.read() + 1, "in its order");
        explore::check(head.durable <= synced(), "what it calls durable is");
        if (written_.read() == 0 && at_first_batch) at_first_batch();
        written_.write() = head.first + (head.mark & ~detail::kMarks) - 1;
        handed_.store(written_.read(), order::relaxed);
      }
    }
    return static_cast<long>(call.bytes);
  }
  long sync() noexcept {
    explore::check(!failed_.read(), "nothing is synced after a failure");
    if (++syncs_.write() == failing_) {
      failed_.write() = true;
      return -EIO;
    }
    synced_.store(written_.read(), order::relaxed);
    return 0;
  }

  const int failing_;
  // The leader's: the explorer finds it if there are two.
  sync::cell<std::uint64_t> written_{0};
  sync::cell<int> syncs_{0};
  sync::cell<bool> failed_{false};
  sync::cell<int> locks_{0};  // a race too, if a trim comes beside the end of the lock
  sync::atomic<std::uint64_t> synced_{0};
  sync::atomic<std::uint64_t> handed_{0};
};

AppendLogOptions with(Disk& disk, AppendLogSync how = AppendLogSync::each_append) {
  return {.sync = how, .batch_bytes = 64, .tap = &disk};
}

// What was acknowledged was synced.
void append(AppendLog& log, const Disk& disk) {
  const AppendResult result = log.append("x");
  explore::check(result.ok(), "nothing fails");
  explore::check(disk.synced() >= result.value(), "acknowledged after its sync");
}

// A crowd at a gate: all see the change, whether they slept or were about to.
const Scenario gate("append_log/gate", [] {
  sync::Mutex mutex;
  sync::Gate gate;
  sync::cell<bool> open(false);
  const auto pass = [&] {
    for (;;) {
      std::uint32_t seen = 0;
      {
        const sync::Lock lock(mutex);
        if (open.read()) return;
        seen = gate.seen();
      }
      gate.wait(seen);
    }
  };
  explore::Thread second(pass);
  explore::Thread third(pass);
  {
    const sync::Lock lock(mutex);
    open.write() = true;
    gate.change();
  }
  gate.wake_all();
});

const Scenario two_append("append_log/two_append", [] {
  Disk disk;
  AppendLog log("log", with(disk));
  explore::Thread other([&] { append(log, disk); });
  append(log, disk);
  other.join();
  explore::check(log.durable() == 2, "both");
  explore::outcome(static_cast<std::uint64_t>(disk.syncs()));
});

// While one leads, two come: one of them leads then, for both.
const LargeScenario three_append("append_log/three_append", [] {
  Disk disk;
  AppendLog log("log", with(disk));
  explore::Thread second([&] { append(log, disk); });
  explore::Thread third([&] { append(log, disk); });
  append(log, disk);
  second.join();
  third.join();
  explore::check(log.durable() == 3, "all");
  explore::outcome(static_cast<std::uint64_t>(disk.syncs()));
});

// One appends again and again: a follower is not forgotten behind it.
const LargeScenario in_turns("append_log/in_turns", [] {
  Disk disk;
  AppendLog log("log", with(disk));
  explore::Thread other([&] {
    append(log, disk);
    append(log, disk);
  });
  append(log, disk);
  append(log, disk);
  other.join();
  explore::check(log.durable() == 4, "all");
});

// A batch has room for two records: an append that finds none waits for the next one, or leads.
const LargeScenario full_batch("append_log/full_batch", [] {
  Disk disk;
  AppendLog log("log", with(disk));
  const auto two = [&] {
    log.append_later("x").check();
    log.append_later("y").check();
  };
  explore::Thread other(two);
  two();
  log.append_later("z").check();
  other.join();
  explore::check(log.flush().ok(), "nothing fails");
  explore::check(disk.synced() == 5, "all");
  explore::outcome(static_cast<std::uint64_t>(disk.syncs()));
});

// A sync fails: all that it should have covered and all that comes hears of it.
const Scenario failed_sync("append_log/failed_sync", [] {
  Disk disk(1);
  AppendLog log("log", with(disk));
  const auto fails = [&] {
    const AppendResult result = log.append("x");
    explore::check(result.failure().error == EIO, "the failure reaches all");
  };
  explore::Thread other(fails);
  fails();
  other.join();
  explore::check(log.durable() == 0, "nothing is");
  const Tally tally = log.close();
  explore::check(tally.done == 0 && tally.balanced(), "none was acknowledged");
  explore::outcome(tally.failed);
});

const Scenario second_sync_fails("append_log/second_sync_fails", [] {
  Disk disk(2);
  AppendLog log("log", with(disk));
  const auto may_fail = [&] {
    const AppendResult result = log.append("x");
    if (result.ok()) explore::check(disk.synced() >= result.value(), "after its sync");
    else explore::check(result.failure().error == EIO, "the failure reaches it");
    return result.ok();
  };
  bool ok = false;
  explore::Thread other([&] { ok = may_fail(); });
  const bool mine = may_fail();
  other.join();
  explore::check(ok || mine, "the first sync went well");
  explore::outcome(log.durable());
});

// A waiter that leaves takes no news along: the others still get a leader.
const LargeScenario late_waiter("append_log/late_waiter", [] {
  Disk disk;
  AppendLog log("log", with(disk));
  explore::Thread hasty([&] {
    const std::uint64_t mine = log.append_later("x").value();
    const AppendResult result = log.wait(mine, std::chrono::milliseconds(1));
    explore::check(result.ok() || result.failure().error == ETIME, "durable, or late");
    if (result.ok()) explore::check(disk.synced() >= mine, "after its sync");
    explore::outcome(result.ok());
  });
  explore::Thread patient([&] { append(log, disk); });
  append(log, disk);
});

// Of a record that another thread appends.
const Scenario wait_for_another("append_log/wait_for_another", [] {
  Disk disk;
  AppendLog log("log", with(disk));
  explore::Thread other([&] {
    const AppendResult result = log.wait(1);
    if (result.ok()) explore::check(disk.synced() == 1, "durable after its sync");
    else explore::check(result.failure().error == EINVAL, "not there yet");
    explore::outcome(result.ok());
  });
  append(log, disk);
});

// Written by each append, synced only on request.
const Scenario on_request("append_log/on_request", [] {
  Disk disk;
  AppendLog log("log", with(disk, AppendLogSync::on_request));
  const auto write = [&](std::string_view record) {
    const std::uint64_t sequence = log.append(record).value();
    explore::check(disk.handed() >= sequence, "it is in the file");
    return sequence;
  };
  explore::Thread other([&] { (void)write("x"); });
  const std::uint64_t mine = write("y");
  explore::check(log.wait(mine).ok(), "nothing fails");
  explore::check(disk.synced() >= mine, "durable after its sync");
  other.join();
  explore::check(log.flush().value() == 2, "both");
  explore::check(disk.synced() == 2, "both are durable");
});

// A record that is settled before its thread waits for it.
const Scenario settled_early("append_log/settled_early", [] {
  Disk disk;
  AppendLog log("log", with(disk, AppendLogSync::on_request));
  std::optional<explore::Thread> other;
  disk.at_first_batch = [&] {
    other.emplace([&] {
      const std::uint64_t sequence = log.append("x").value();
      explore::check(disk.handed() >= sequence, "it is in the file");
    });
    explore::Thread([] {}).join();  // lets the other one begin, or not yet
  };
  const std::uint64_t mine = log.append("y").value();
  explore::check(log.wait(mine).ok(), "nothing fails");  // may lead for the other one
  other->join();
});

// A close beside an append: accepted and durable, or refused.
const Scenario close_beside("append_log/close", [] {
  Disk disk;
  AppendLog log("log", with(disk));
  bool ok = false;
  explore::Thread other([&] {
    const AppendResult result = log.append("x");
    ok = result.ok();
    if (!ok) explore::check(result.failure().error == ECANCELED, "refused");
  });
  log.append_later("y").check();
  const Tally tally = log.close();
  explore::check(tally.done == tally.accepted, "all that was accepted is durable");
  other.join();
  explore::check(tally.accepted == (ok ? 2u : 1u), "what was refused is not counted");
  explore::check(disk.synced() == tally.accepted, "durable");
  explore::outcome(ok);
});

// A trim ends before the lock does, or does nothing.
const Scenario close_and_trim("append_log/close_and_trim", [] {
  Disk disk;
  AppendLogOptions options = with(disk);
  options.segment_bytes = 64;
  AppendLog log("log", options);
  append(log, disk);
  append(log, disk);  // in a second segment
  bool ok = false;
  explore::Thread other([&] {
    const FileResult result = log.trim(2);
    ok = result.ok();
    if (!ok) explore::check(result.failure().error == ECANCELED, "refused");
  });
  (void)log.close();
  other.join();
  explore::check(log.first() == (ok ? 2u : 1u), "removed or not");
  explore::outcome(ok);
});

// The log's thread leads if no caller waits.
const LargeScenario async("append_log/async", [] {
  Disk disk;
  AppendLog log("log", with(disk));
  Future<AppendResult> future = log.append_async("x");
  append(log, disk);
  const AppendResult result = future.get();
  explore::check(result.ok() && disk.synced() >= result.value(), "told after its sync");
  log.close();
});

// What was owed is told at the close, or when all failed.
const LargeScenario async_close("append_log/async_close", [] {
  Disk disk(1);
  AppendLog log("log", with(disk));
  Future<AppendResult> future = log.append_async("x");
  const Tally tally = log.close();
  explore::check(future.get().failure().error == EIO, "the failure is told");
  explore::check(tally.failed == 1 && tally.balanced(), "counted");
});

}}  // namespace append_log_scenarios
