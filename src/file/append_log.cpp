// SPDX-License-Identifier: MIT
//
// The protocol of an AppendLog: which thread leads, which ones follow, and what each is told.
//
// Invariants (docs/design/append_log.md):
//   AL-1  At most one thread leads, and only it calls the writer of the files.
//   AL-2  A record is in the batch that fills until the batch is taken; then it is the leader's.
//         Batches are taken and settled in turns: while one is the leader's, the other one fills.
//   AL-3  durable_ is at most the last record of a batch whose sync has returned, and began after
//         the write of the batch had returned.
//   AL-4  A thread that was notified while nobody leads becomes the leader, unless its records are
//         settled. At the end of each turn one of the waiting threads of each kind is notified.
//   AL-5  After a failure nothing is written, and durable_ stays. So it is after a close that gives
//         records up: that is a failure, of which the Tally says expired or cancelled.
#include <handoff/file/append_log.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/gate.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/internal/thread_slot.hpp>
#include <handoff/sync/mutex.hpp>
#include <utility>
#include <vector>

#include "../sync/internal/seen_sanitizer.hpp"
#include "append_log_file.hpp"
#include "append_log_format.hpp"
#include "append_log_owed.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace detail {
namespace {

constexpr const char* kClosed = "it was closed";

// The log whose Futures this thread makes ready; null: none.
struct Telling;
using TellingSlot = sync::thread_slot<const void*, Telling>;

struct Batch {
  std::vector<std::byte> bytes;  // room for a head, then records
  std::uint64_t count = 0;
  OwedList owed;
  // The threads that wait for it without an end, at most `at_gate`; and those that wait up to one.
  sync::Gate gate;
  std::uint64_t at_gate = 0;
  sync::EventCount settled;

  void clear() noexcept {
    bytes.resize(std::min(bytes.size(), sizeof(BatchHead)));
    count = 0;
    at_gate = 0;
  }
};

}  // namespace

class AppendLogCore {
 public:
  AppendLogCore(std::string directory, const AppendLogOptions& options);

  enum class How : std::uint8_t { now, later, async };
  // Takes what is owed only if the record is accepted.
  AppendResult append(std::span<const std::byte> record, How how, OwedOwner& owed);
  AppendResult append(std::span<const std::byte> record, How how) {
    OwedOwner nothing;
    return append(record, how, nothing);
  }
  Future<AppendResult> append_async(std::span<const std::byte> record);
  AppendResult wait(std::uint64_t sequence, bool durable, const Until& until);
  AppendResult flush(const Until& until);
  FileResult trim(std::uint64_t sequence);
  Tally close(Closing how);
  Tally tally() const noexcept;

  const AppendLogCut& cut() const noexcept { return file_.cut(); }
  std::uint64_t first() const noexcept { return file_.first(); }
  std::uint64_t durable() const noexcept {
    return durable_.load(sync::order::relaxed);  // order: relaxed, racy by name
  }
  std::uint64_t last() const noexcept {
    const sync::SeenLock lock(mutex_);
    return last_;
  }
  AppendLogStatistics statistics() const noexcept {
    const sync::SeenLock lock(mutex_);
    return statistics_;
  }
  bool closed() const noexcept {
    const sync::SeenLock lock(mutex_);
    return closed_;
  }

 private:
  // What a leader has taken.
  struct Turn {
    Batch* batch = nullptr;  // null: the thread does not lead
    std::uint64_t last = 0;  // of all that is written after it
    bool syncs = false;
  };

  // What a thread does about its record: it leads, or waits with those of a batch.
  struct Place {
    Turn turn;
    Batch* with = nullptr;
    std::uint32_t changes = 0;  // what it has seen
    std::uint32_t gate = 0;
  };

  // How a wait ended.
  enum class Waited : std::uint8_t { done, failed, late, stopped, unknown };

  bool has_room(const Batch& batch, std::size_t bytes) const noexcept;
  void put(Batch& batch, std::span<const std::byte> record, std::uint64_t hash, OwedOwner& owed);
  Turn take() noexcept;
  void lead(const Turn& turn) noexcept;
  void settle(const Turn& turn, FileFailure&& failed) noexcept;
  void tell(OwedList owed) noexcept;
  void fail(FileFailure&& failure) noexcept;
  void tell_failure() noexcept;
  AppendResult failed() const noexcept;
  Place place_of(std::uint64_t sequence, bool durable) noexcept;
  AppendResult wait_at(Place place, std::uint64_t sequence, bool durable, const Until& until);
  Waited await(Place place, std::uint64_t sequence, bool durable, const Until& until);
  void change() noexcept;
  bool reached(std::uint64_t sequence, bool durable) const noexcept;
  bool changed_since(std::uint32_t seen) const noexcept;
  void start_thread();
  void serve() noexcept;
  AppendResult refused(int error, const char* why) const;

  const AppendLogOptions options_;
  AppendLogFile file_;  // the leader's, but for trim()
  std::uint64_t log_ = 0;  // its random number
  std::uint64_t opened_at_ = 0;  // the last record that was there

  mutable sync::Mutex mutex_;  // of what follows
  std::array<Batch, 2> batches_;
  unsigned filling_ = 0;
  bool leading_ = false;
  bool turn_syncs_ = false;  // the turn that is being led
  std::uint64_t last_ = 0;  // appended
  std::uint64_t taken_ = 0;  // ... and in a batch that was taken
  std::uint64_t wanted_ = 0;  // ... and somebody waits until this one is durable
  bool closed_ = false;
  bool stop_thread_ = false;
  FileFailure failure_;
  std::uint64_t Tally::* lost_ = &Tally::failed;  // what counts the records that it took
  AppendLogStatistics statistics_;

  // Written with the mutex held, read without.
  sync::atomic<std::uint64_t> written_{0};
  sync::atomic<std::uint64_t> durable_{0};
  sync::atomic<std::uint32_t> changes_{0};  // of the leader, and of what can be waited for

  sync::EventCount room_;  // appenders that wait for a batch
  sync::EventCount work_;  // the thread
  sync::Mutex start_mutex_;
  sync::atomic<bool> has_thread_{false};
  sync::Thread thread_;

  sync::Mutex trim_mutex_;
  sync::Mutex close_mutex_;
  bool is_over_ = false;
};

AppendLogCore::AppendLogCore(std::string directory, const AppendLogOptions& options)
    : options_(options), file_(std::move(directory), options) {
  if (options.max_record_bytes > RecordHead::kMost) {
    misuse("AppendLog: max_record_bytes is more than a record can have");
  }
  if (const FileFailure failed = file_.open(); failed.error != 0) raise(failed.exception());
  log_ = file_.log();
  opened_at_ = last_ = taken_ = file_.last();
  written_.store(last_, sync::order::relaxed);  // order: relaxed, nobody else knows this
  durable_.store(last_, sync::order::relaxed);  // order: as above
  statistics_.segments = file_.segments_begun();
  for (Batch& batch : batches_) {
    batch.bytes.reserve(sizeof(BatchHead) + options_.batch_bytes);
    batch.bytes.resize(sizeof(BatchHead));
  }
}

AppendResult AppendLogCore::refused(int error, const char* why) const {
  return AppendResult(file_.failed_step(why, error, ""));
}

bool AppendLogCore::has_room(const Batch& batch, std::size_t bytes) const noexcept {
  return batch.count == 0 || batch.bytes.size() + bytes <= sizeof(BatchHead) + options_.batch_bytes;
}

// Throws std::bad_alloc before anything is changed.
void AppendLogCore::put(Batch& batch, std::span<const std::byte> record, std::uint64_t hash,
                        OwedOwner& owed) {
  RecordHead head{.mark = RecordHead::kMark | record.size()};
  head.check = head.right_check(log_, last_ + 1, hash);
  const std::size_t all = sizeof head + static_cast<std::size_t>(padded(record.size()));
  batch.bytes.reserve(batch.bytes.size() + all);
  const auto raw = raw_bytes(head);
  const std::size_t end = batch.bytes.size() + all;
  batch.bytes.insert(batch.bytes.end(), raw.begin(), raw.end());
  batch.bytes.insert(batch.bytes.end(), record.begin(), record.end());
  batch.bytes.resize(end);  // zeros
  ++batch.count;
  ++last_;
  if (owed == nullptr) return;
  owed->sequence = last_;
  batch.owed.append(std::move(owed));
}

// Under the mutex, while nobody leads.
AppendLogCore::Turn AppendLogCore::take() noexcept {
  leading_ = true;
  Batch& batch = batches_[filling_];
  filling_ ^= 1U;
  taken_ = last_;
  // order: relaxed, it is written under the mutex only.
  turn_syncs_ =
      options_.sync == AppendLogSync::each_append || wanted_ > durable_.load(sync::order::relaxed);
  // order: relaxed, waiting threads are ordered by the EventCount's fences.
  changes_.fetch_add(1, sync::order::relaxed);
  return {&batch, last_, turn_syncs_};
}

void AppendLogCore::lead(const Turn& turn) noexcept {
  room_.notify_all();  // for the other batch
  FileFailure failed;
  if (turn.batch->count != 0) {
    // order: relaxed, only leaders change it, and the mutex is between them.
    const std::uint64_t durable = durable_.load(sync::order::relaxed);
    failed = file_.write(turn.batch->bytes, turn.batch->count, durable);
  }
  if (failed.error == 0 && turn.syncs) failed = file_.sync();
  settle(turn, std::move(failed));
}

void AppendLogCore::settle(const Turn& turn, FileFailure&& failed) noexcept {
  OwedList owed;
  Batch* next = nullptr;
  bool thread_may_be_next = false;
  bool gate_may_be_next = false;
  bool at_gate = false;
  bool closed = false;
  const bool done = failed.error == 0;
  {
    const sync::SeenLock lock(mutex_);
    next = &batches_[filling_];
    if (!done && failure_.error == 0) failure_ = std::move(failed);  // before anybody can lead
    if (failure_.error == 0) {
      // order: release pairs with the acquire in reached(): what the files have.
      written_.store(turn.last, sync::order::release);
      if (turn.syncs) durable_.store(turn.last, sync::order::release);  // order: as above
      statistics_.records += turn.batch->count;
      statistics_.batches += turn.batch->count != 0 ? 1U : 0U;
      statistics_.syncs += turn.syncs ? 1U : 0U;
      statistics_.bytes += turn.batch->count != 0 ? turn.batch->bytes.size() : 0U;
      statistics_.segments = file_.segments_begun();
      owed.append(std::move(turn.batch->owed));
    }
    at_gate = turn.batch->at_gate != 0;
    gate_may_be_next = next->at_gate != 0;
    turn.batch->clear();
    leading_ = false;
    change();
    thread_may_be_next = !next->owed.empty();
    closed = closed_;
  }
  if (!done) return tell_failure();
  // The next leader first: the device is idle until it writes. Those of the next batch, or those
  // that found no room in it, or the thread (AL-4).
  if (thread_may_be_next) work_.notify_one();
  next->settled.notify_one();
  if (gate_may_be_next) next->gate.wake_one();
  room_.notify_some(closed ? ~std::uint32_t{0} : 1);
  if (at_gate) turn.batch->gate.wake_all();
  turn.batch->settled.notify_all();
  tell(std::move(owed));
}

// Once, on the thread that led, or that failed.
void AppendLogCore::tell(OwedList owed) noexcept {
  const void* const outer = std::exchange(TellingSlot::get(), this);
  while (Owed* const one = owed.take().release()) {
    const std::uint64_t sequence = one->sequence;
    const bool done = reached(sequence, options_.sync == AppendLogSync::each_append);
    one->deliver([&]() -> AppendResult {
      const sync::TellAtEnd tell(static_cast<FutureState*>(one));
      return done ? AppendResult(sequence) : failed();
    });
  }
  TellingSlot::get() = outer;
}

void AppendLogCore::fail(FileFailure&& failure) noexcept {
  {
    const sync::SeenLock lock(mutex_);
    if (failure_.error == 0) failure_ = std::move(failure);
  }
  tell_failure();
}

// All that is not settled gets the first failure.
void AppendLogCore::tell_failure() noexcept {
  OwedList owed;
  {
    const sync::SeenLock lock(mutex_);
    for (Batch& batch : batches_) owed.append(std::move(batch.owed));
    change();
  }
  for (Batch& batch : batches_) {
    batch.gate.wake_all();
    batch.settled.notify_all();
  }
  room_.notify_all();
  work_.notify_all();
  tell(std::move(owed));
}

// A copy; without memory the name of the file is missing.
AppendResult AppendLogCore::failed() const noexcept {
  const sync::SeenLock lock(mutex_);
  FileFailure copy{.error = failure_.error,
                   .operation = failure_.operation,
                   .call = failure_.call,
                   .step = failure_.step,
                   .owner = failure_.owner,
                   .offset = failure_.offset};
  (void)attempt([&] { copy.file = failure_.file; });
  return AppendResult(std::move(copy));
}

bool AppendLogCore::reached(std::uint64_t sequence, bool durable) const noexcept {
  // order: acquire pairs with the releases in settle().
  return (durable ? durable_ : written_).load(sync::order::acquire) >= sequence;
}
// Under the mutex: there is news for all that wait.
void AppendLogCore::change() noexcept {
  changes_.fetch_add(1, sync::order::relaxed);  // order: relaxed, as in take()
  for (Batch& batch : batches_) batch.gate.change();
}
bool AppendLogCore::changed_since(std::uint32_t seen) const noexcept {
  // order: relaxed, of a condition that an EventCount asks.
  return changes_.load(sync::order::relaxed) != seen;
}

AppendResult AppendLogCore::append(std::span<const std::byte> record, How how, OwedOwner& owed) {
  if (record.size() > options_.max_record_bytes) {
    return refused(EMSGSIZE, "the record is longer than max_record_bytes");
  }
  const bool durable = options_.sync == AppendLogSync::each_append;
  const std::uint64_t hash = ByteHash().add(record).value();
  const std::size_t all = sizeof(RecordHead) + static_cast<std::size_t>(padded(record.size()));
  for (;;) {
    Place place;
    Turn& turn = place.turn;
    std::uint64_t sequence = 0;
    std::uint32_t seen = 0;
    {
      const sync::SeenLock lock(mutex_);
      if (closed_) return refused(ECANCELED, kClosed);
      if (failure_.error != 0) return AppendResult(FileFailure(failure_));
      seen = changes_.load(sync::order::relaxed);  // order: relaxed, under the mutex
      const bool room = has_room(batches_[filling_], all);
      if (room) {
        put(batches_[filling_], record, hash, owed);
        sequence = last_;
      }
      if (room && how == How::now) place = place_of(sequence, durable);
      else if (!leading_ && !room) turn = take();
      // order: relaxed, as in take(): for the thread.
      else if (how == How::async) changes_.fetch_add(1, sync::order::relaxed);
    }
    if (sequence != 0) {
      if (how == How::async) work_.notify_one();
      if (how != How::now) return AppendResult(sequence);
      return wait_at(place, sequence, durable, {});
    }
    if (turn.batch != nullptr) {
      lead(turn);
    } else {
      (void)room_.await([&] { return changed_since(seen); }, sync::no_deadline, {},
                        sync::Spin::never, "full");
    }
  }
}

Future<AppendResult> AppendLogCore::append_async(std::span<const std::byte> record) {
  start_thread();
  OwedOwner owed(RawBox<Owed>().make());
  Future<AppendResult> future = FutureAccess::make<AppendResult>(owed.get());
  AppendResult result = append(record, How::async, owed);
  if (owed != nullptr) {  // refused
    owed.release()->deliver([&]() -> AppendResult { return std::move(result); });
  }
  return future;
}

// Under the mutex. Leads where nobody does, else waits for the turn that settles it.
AppendLogCore::Place AppendLogCore::place_of(std::uint64_t sequence, bool durable) noexcept {
  if (durable) wanted_ = std::max(wanted_, sequence);
  if (!leading_) return {.turn = take()};
  // What the leader has settles it, or what comes then.
  const bool in_turn = sequence <= taken_ && (turn_syncs_ || !durable);
  Batch& with = batches_[in_turn ? filling_ ^ 1U : filling_];
  ++with.at_gate;
  return {.turn = {},
          .with = &with,
          .changes = changes_.load(sync::order::relaxed),  // order: relaxed, under the mutex
          .gate = with.gate.seen()};
}

// Begins with a place that it has, or looks for one.
AppendLogCore::Waited AppendLogCore::await(Place place, std::uint64_t sequence, bool durable,
                                           const Until& until) {
  sync::StopToken stop;
  bool has_stop = false;
  for (;; place = {}) {
    if (place.turn.batch == nullptr && place.with == nullptr) {
      if (reached(sequence, durable)) return Waited::done;
      const sync::SeenLock lock(mutex_);
      if (reached(sequence, durable)) return Waited::done;
      if (sequence > last_) return Waited::unknown;
      if (failure_.error != 0) return Waited::failed;
      place = place_of(sequence, durable);
    }
    if (place.turn.batch != nullptr) {
      lead(place.turn);
      continue;
    }
    if (!until.has_deadline() && !until.stop_possible()) {
      place.with->gate.wait(place.gate);
      continue;
    }
    if (!has_stop && until.stop_possible()) stop = until.stop_token();
    has_stop = true;
    const sync::Wakeup wakeup = place.with->settled.await(
        [&] { return reached(sequence, durable) || changed_since(place.changes); },
        until.deadline(), stop, sync::Spin::never, "io");
    if (wakeup == sync::Wakeup::timed_out) return Waited::late;
    if (wakeup == sync::Wakeup::stopped) return Waited::stopped;
  }
}

AppendResult AppendLogCore::wait_at(Place place, std::uint64_t sequence, bool durable,
                                    const Until& until) {
  switch (await(place, sequence, durable, until)) {
    case Waited::done: return AppendResult(sequence);
    case Waited::failed: return failed();
    case Waited::late: return refused(ETIME, "the wait is over, and the record not durable yet");
    case Waited::stopped: return refused(ECANCELED, "the wait was stopped");
    case Waited::unknown: break;
  }
  return refused(EINVAL, "there is no such record");
}

AppendResult AppendLogCore::wait(std::uint64_t sequence, bool durable, const Until& until) {
  return wait_at({}, sequence, durable, until);
}

AppendResult AppendLogCore::flush(const Until& until) { return wait(last(), true, until); }

FileResult AppendLogCore::trim(std::uint64_t sequence) {
  const sync::SeenLock one_at_a_time(trim_mutex_);
  if (closed()) return {file_.failed_step(kClosed, ECANCELED, ""), 0};
  FileResult result = file_.trim(sequence);
  // The directory's failure may have been told here only, and a new segment's name be lost by it.
  if (!result.ok() && result.failure().operation == FileOperation::sync) {
    fail(FileFailure(result.failure()));
  }
  return result;
}

// The thread.

void AppendLogCore::start_thread() {
  // order: relaxed, it is about the thread's start only; what it does comes by the mutex, and the
  // object is close()'s, under start_mutex_.
  if (has_thread_.load(sync::order::relaxed)) return;
  const sync::SeenLock lock(start_mutex_);
  if (has_thread_.load(sync::order::relaxed)) return;  // order: relaxed, under the mutex
  thread_ = sync::Thread({.name = "log"}, [this] { serve(); });
  has_thread_.store(true, sync::order::relaxed);  // order: see above
}

void AppendLogCore::serve() noexcept {
  for (;;) {
    Turn turn;
    std::uint32_t seen = 0;
    {
      const sync::SeenLock lock(mutex_);
      if (stop_thread_) return;
      seen = changes_.load(sync::order::relaxed);  // order: relaxed, under the mutex
      const bool owes = !batches_[filling_].owed.empty();
      if (!leading_ && failure_.error == 0 && owes) turn = take();
    }
    if (turn.batch != nullptr) {
      lead(turn);
      continue;
    }
    (void)work_.await([&] { return changed_since(seen); }, sync::no_deadline, {}, sync::Spin::never,
                      "idle");
  }
}

Tally AppendLogCore::close(Closing how) {
  if (TellingSlot::get() == this)
    misuse("AppendLog: close() by what follows a record waits for itself");
  const sync::SeenLock once(close_mutex_);
  if (std::exchange(is_over_, true)) return tally();
  std::uint64_t last = 0;
  {
    const sync::SeenLock lock(mutex_);
    closed_ = true;
    last = last_;
    changes_.fetch_add(1, sync::order::relaxed);  // order: relaxed, as in take()
  }
  room_.notify_all();
  if (how.begins_more && sync::clock::now() < how.deadline) {
    (void)await({}, last, true, Until(how.deadline));
  }
  FileFailure given_up = file_.failed_step(kClosed, how.begins_more ? ETIME : ECANCELED, "");
  for (;;) {  // a leader may be in its last turn, though it failed
    std::uint32_t seen = 0;
    {
      const sync::SeenLock lock(mutex_);
      if (!leading_) {
        if (failure_.error != 0 || reached(last, true)) break;
        failure_ = std::move(given_up);  // before anybody can lead
        lost_ = how.begins_more ? &Tally::expired : &Tally::cancelled;
        break;
      }
      seen = changes_.load(sync::order::relaxed);  // order: relaxed, under the mutex
    }
    (void)room_.await([&] { return changed_since(seen); }, sync::no_deadline, {},
                      sync::Spin::never);
  }
  if (!reached(last, true)) tell_failure();
  {
    const sync::SeenLock lock(start_mutex_);
    {
      const sync::SeenLock stop(mutex_);
      stop_thread_ = true;
      changes_.fetch_add(1, sync::order::relaxed);  // order: relaxed, as in take()
    }
    work_.notify_all();
    thread_.join();
  }
  if (reached(last, true)) file_.finish();
  const sync::SeenLock trimmed(trim_mutex_);
  file_.unlock();
  return tally();
}

Tally AppendLogCore::tally() const noexcept {
  const sync::SeenLock lock(mutex_);
  Tally tally{.accepted = last_ - opened_at_, .done = durable() - opened_at_};
  tally.*(failure_.error == 0 ? &Tally::pending : lost_) = tally.accepted - tally.done;
  if (tally.failed != 0) {
    (void)attempt([&] { tally.first_failure = std::make_exception_ptr(failure_.exception()); });
  }
  return tally;
}

}  // namespace detail

AppendLog::AppendLog(std::string directory, const AppendLogOptions& options)
    : core_(std::make_unique<detail::AppendLogCore>(std::move(directory), options)) {}
AppendLog::~AppendLog() { (void)close(); }

AppendResult AppendLog::append(std::span<const std::byte> record) {
  return core_->append(record, detail::AppendLogCore::How::now);
}
AppendResult AppendLog::append_later(std::span<const std::byte> record) {
  return core_->append(record, detail::AppendLogCore::How::later);
}
Future<AppendResult> AppendLog::append_async(std::span<const std::byte> record) {
  return core_->append_async(record);
}
AppendResult AppendLog::wait(std::uint64_t sequence, const Until& until) {
  return core_->wait(sequence, true, until);
}
AppendResult AppendLog::flush(const Until& until) { return core_->flush(until); }
FileResult AppendLog::trim(std::uint64_t sequence) { return core_->trim(sequence); }
Tally AppendLog::close(Closing how) { return core_->close(how); }
Tally AppendLog::tally() const noexcept { return core_->tally(); }
std::uint64_t AppendLog::first() const noexcept { return core_->first(); }
std::uint64_t AppendLog::durable() const noexcept { return core_->durable(); }
std::uint64_t AppendLog::last() const noexcept { return core_->last(); }
AppendLogStatistics AppendLog::statistics() const noexcept { return core_->statistics(); }
const AppendLogCut& AppendLog::cut() const noexcept { return core_->cut(); }

}}  // namespace handoff::HANDOFF_ABI
