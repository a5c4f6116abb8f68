// SPDX-License-Identifier: MIT
//
// Letting requests in, beginning them in order, and telling what became of them.
#include "file_core.hpp"

#include <errno.h>
#include <fcntl.h>

#include <exception>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/internal/thread_slot.hpp>
#include <limits>
#include <system_error>
#include <utility>

#include "../core/internal/call_failed.hpp"
#include "../sync/internal/seen_sanitizer.hpp"
#include "open_file_state.hpp"
#include "path.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kSmall = 64 << 10;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

// The engine whose result this thread delivers; null: none.
const FileCore*& delivering() noexcept {
  return sync::thread_slot<const FileCore*, FileCore>::get();
}

PathOrder::Use use_of(const FileRequest& request) noexcept {
  if (request.barrier) return PathOrder::exclusive;
  switch (request.operation) {
    case FileOperation::read: {
      const bool range =
          !request.into.pieces().empty() || request.length != FileRequest::to_the_end;
      return range ? PathOrder::read_range : PathOrder::read_whole;
    }
    case FileOperation::stat: return PathOrder::read_range;
    case FileOperation::write:
      return request.truncate ? PathOrder::exclusive : PathOrder::write_range;
    case FileOperation::sync: return PathOrder::sync;
    case FileOperation::copy: return PathOrder::read_whole;  // of the source
    case FileOperation::append:
    case FileOperation::replace:
    case FileOperation::remove: break;
  }
  return PathOrder::exclusive;
}

PathOrder::Name name_of(const FileRequest& request) noexcept {
  if (request.file.valid()) return {{}, OpenFileAccess::state(request.file)};
  return {request.path, nullptr};
}

}  // namespace

FileCore::FileCore(FileEngineOptions&& options)
    : options_(std::move(options)), begin_until_(kAlways), chooser_(*this, options_) {
  if (options_.capacity == 0) {
    misuse("FileEngine: `capacity` is 1 or more; without a bound it is handoff::unbounded");
  }
  live_.before = live_.behind = &live_;
  (void)sync::spin_policy();  // the first call in a process allocates
  if (options_.bytes_per_second != 0) pace_.emplace(options_.bytes_per_second, options_.name);
  open_beneath();
}

FileCore::~FileCore() {
  (void)close(Closing::finish);
  if (beneath_ == AT_FDCWD) return;
  (void)perform_whole({.kind = FileCallKind::close, .descriptor = beneath_}, options_.tap);
}

void FileCore::open_beneath() {
  if (options_.beneath.empty()) return;
  const FileCall call{
      .kind = FileCallKind::open, .path = options_.beneath.c_str(), .flags = O_PATH | O_DIRECTORY};
  const long result = has_zero_byte(options_.beneath) ? -EINVAL : perform_whole(call, options_.tap);
  if (result < 0) {
    raise(call_failed(static_cast<int>(-result),
                      "FileEngine: beneath '" + escaped(options_.beneath) + "'"));
  }
  beneath_ = static_cast<int>(result);
}

Future<FileResult> FileCore::submit(FileRequest&& request) {
  FileTask* const task = FileTask::make(*this, std::move(request));
  Future<FileResult> future = FutureAccess::make<FileResult>(task);
  Status said = Status::closed;
  const KeptUntil& kept = task->request().until;
  const Until until(kept.deadline(), kept.stop_token());
  call_or([&] { said = accept(*task, until, true); }, [task] { task->drop(Status::stopped); });
  if (said != Status::ok) {
    task->drop(said);  // the Future has it still
    raise(NotRun(said, escaped(task->request().path).c_str()));
  }
  return future;
}

Status FileCore::post(FileRequest& request, FileEngine::Callback& callback, const Until& until,
                      bool may_wait) {
  if (!callback) misuse("FileEngine: post() needs a function; submit() needs none");
  FileTask* const task = FileTask::make(*this, std::move(request));
  task->callback = std::move(callback);
  const auto give_back = [&] {  // NOLINT(bugprone-use-after-move): they are given new values
    request = std::move(task->request_to_return());
    callback = std::move(task->callback);
    task->destroy();
  };
  Status said = Status::closed;
  call_or([&] { said = accept(*task, until, may_wait); }, give_back);
  if (said != Status::ok) give_back();
  return said;
}

// Under the mutex, which it gives up while it waits. `closed`, or why there is no room; ok: it may
// come in.
Status FileCore::find_room(FileTask& task, const Until& until, bool may_wait) {
  while (!closed_) {
    if (has_room() || delivering() == this) return Status::ok;
    if (options_.on_full == OnFull::run_here && may_wait) {
      task.runs_here = true;
      return Status::ok;
    }
    if (options_.on_full != OnFull::wait || !may_wait) {
      ++refused_;
      return Status::full;
    }
    const sync::Wakeup why = wait_for_room(until);
    if (why == sync::Wakeup::notified) continue;
    ++refused_;
    return status_of(why);
  }
  return Status::closed;
}

sync::Wakeup FileCore::wait_for_room(const Until& until) {
  const sync::StopToken stop = until.stop_token();  // may throw
  const Lending lending;
  const auto there = [this] {
    const sync::SeenLock lock(mutex_);
    return closed_ || has_room();
  };
  ++want_room_;
  mutex_.unlock();
  const sync::Wakeup why = room_.await(there, until.deadline(), stop, sync::spin_policy(), "full");
  mutex_.lock();
  --want_room_;
  return why;
}

// Under the mutex.
void FileCore::take_places(FileTask& task) {
  const FileRequest& request = task.request();
  const auto take = [&](const PathOrder::Name& name, PathOrder::Use use) {
    PathOrder::Place& place = task.places[task.place_count];
    place.owner = &task;
    if (!order_.enter(place, name, use)) ++task.waits_for;
    ++task.place_count;
  };
  if (request.operation != FileOperation::copy) return take(name_of(request), use_of(request));
  const PathOrder::Name source = name_of(request);
  const PathOrder::Name target{request.to, nullptr};
  call_or(
      [&] {
        take(target, PathOrder::exclusive);
        if (!(source == target)) take(source, use_of(request));
      },
      [&] {
        if (task.place_count == 0) return;
        // Nobody can have come behind it: the mutex is held.
        order_.leave(task.places[0], [](PathOrder::Place&) {});
      });
}

Status FileCore::accept(FileTask& task, const Until& until, bool may_wait) {
  bool begins = false;
  {
    const sync::SeenLock lock(mutex_);
    const Status said = find_room(task, until, may_wait);
    if (said != Status::ok) return said;
    take_places(task);
    begins = task.waits_for == 0;
    task.number = ++live_.number;
    task.before = live_.before;
    task.behind = &live_;
    task.before->behind = live_.before = &task;
    ++held_;
    ++tally_.accepted;
    probe::hand_over(probe::Kind::file, &task);
    chooser_.choose(task);
    if (pace_) task.set_paced();
    if (begins) reserve_ahead(task);
  }
  if (begins) launch(task);
  return Status::ok;
}

void FileCore::launch(FileTask& task) noexcept {
  if (!enters(task)) return;
  if (delivering() == this) task.driver->follow(task);
  else task.driver->start(task);
}

// Whether it may be started now. False: it is when it has a place, and is not touched any more.
bool FileCore::enters(FileTask& task) noexcept {
  if (!pace_ || task.has_place || chooser_.runs_in_caller(task)) return true;
  const FileRequest& request = task.request();
  switch (request.operation) {
    case FileOperation::sync:
    case FileOperation::remove:
    case FileOperation::stat: return true;  // they wait for no share
    case FileOperation::copy:
    case FileOperation::replace: break;
    case FileOperation::read:
    case FileOperation::write:
    case FileOperation::append:
      if (request.file.valid()) return true;
  }
  return pace_->enter(task);
}

int FileCore::whether_to_begin() const noexcept {
  // order: relaxed, the number is all there is. What happens after close() has set it, by the
  // mutex or otherwise, sees it.
  const std::int64_t until = begin_until_.load(sync::order::relaxed);
  if (until == kAlways) return 0;
  if (until == kNever) return ECANCELED;
  return sync::clock::now().time_since_epoch().count() >= until ? ETIME : 0;
}

// Under the mutex. What is larger than the limit runs alone: bytes_ may be above it.
bool FileCore::fit(std::uint64_t bytes) const noexcept {
  const std::uint64_t most = options_.bytes_in_flight;
  return bytes_ == 0 || (bytes_ < most && bytes <= most - bytes_);
}

// Under the mutex, which is held anyway: spares a small request that begins at once the lock in
// reserve(). Half of the bytes stay for those that ask.
void FileCore::reserve_ahead(FileTask& task) noexcept {
  const FileRequest& request = task.request();
  std::uint64_t bytes = 0;
  if (request.operation == FileOperation::read) bytes = request.into.bytes();
  if (request.operation == FileOperation::write) bytes = request.from.bytes();
  if (bytes == 0 || bytes > kSmall || !wants_bytes_.empty()) return;
  if (pace_) return;  // it may have to wait for a place, and what holds one may wait for bytes
  if (bytes_ + bytes > options_.bytes_in_flight / 2) return;
  bytes_ += bytes;
  task.reserved = task.reserved_ahead = bytes;
}

bool FileCore::reserve(FileRun& run, std::uint64_t bytes) noexcept {
  auto& task = static_cast<FileTask&>(run);
  if (bytes != 0 && std::exchange(task.reserved_ahead, 0) == bytes) return true;
  const sync::SeenLock lock(mutex_);
  if (bytes == 0 || (wants_bytes_.empty() && fit(bytes))) {
    bytes_ += bytes;
    task.reserved += bytes;
    return true;
  }
  task.wanted = bytes;
  wants_bytes_.push(run);
  return false;
}

bool FileCore::spend(FileRun& run, std::uint64_t bytes, bool park) noexcept {
  if (!pace_) return true;
  auto& task = static_cast<FileTask&>(run);
  if (!chooser_.runs_in_caller(task)) return pace_->spend(task, bytes, park);
  pace_->wait(task, bytes);
  return true;
}

// Under the mutex. Those that may begin now.
void FileCore::leave_places(FileTask& task, RunQueue& begins) noexcept {
  for (unsigned i = 0; i < task.place_count; ++i) {
    order_.leave(task.places[i], [&](PathOrder::Place& place) {
      auto& other = *static_cast<FileTask*>(place.owner);
      if (--other.waits_for == 0) begins.push(other);
    });
  }
}

// Under the mutex. Those that have their bytes now.
void FileCore::free_bytes(FileTask& task, RunQueue& begins) noexcept {
  bytes_ -= task.reserved;
  while (!wants_bytes_.empty()) {
    auto& other = static_cast<FileTask&>(*wants_bytes_.first());
    if (!fit(other.wanted)) break;
    bytes_ += other.wanted;
    other.reserved += other.wanted;
    begins.push(*wants_bytes_.pop());
  }
}

// Under the mutex.
void FileCore::count(FileTask& task) noexcept {
  const FileFailure& failure = task.outcome().failure();
  if (failure.error == 0) {
    ++tally_.done;
  } else if (!task.has_begun()) {
    ++(failure.error == ETIME ? tally_.expired : tally_.cancelled);
  } else if (tally_.failed++ == 0) {
    (void)attempt([&] { first_failure_ = failure; },
                  [&]() noexcept { first_failure_.error = failure.error; });
  }
}

void FileCore::deliver(FileTask& task) noexcept {
  const FileCore* const outer = std::exchange(delivering(), this);
  if (task.callback) {
    {
      auto callback = std::exchange(task.callback, nullptr);
      callback(std::move(task.outcome()));
    }
    task.destroy();
  } else {
    task.deliver([&task]() -> FileResult {
      const sync::TellAtEnd tell(static_cast<FutureState*>(&task));
      return std::move(task.outcome());
    });
  }
  delivering() = outer;
}

void FileCore::ended(FileRun& run) noexcept {
  auto& task = static_cast<FileTask&>(run);
  LiveNode mark;  // in its place until the result is delivered; the task may be gone then
  RunQueue begins;
  bool is_wanted = false;
  {
    const sync::SeenLock lock(mutex_);
    count(task);
    leave_places(task, begins);
    free_bytes(task, begins);
    --held_;
    is_wanted = want_room_ != 0;
    mark = static_cast<LiveNode&>(task);
    mark.before->behind = mark.behind->before = &mark;
  }
  if (is_wanted) room_.notify_one();
  if (FileRun* const next = pace_ ? pace_->leave(task) : nullptr) next->driver->start(*next);
  while (FileRun* const next = begins.pop()) {
    if (enters(static_cast<FileTask&>(*next))) next->driver->start(*next);
  }
  {
    const probe::Slice slice(probe::Kind::file, to_string(task.request().operation), &task);
    deliver(task);
  }
  {
    const sync::SeenLock lock(mutex_);
    mark.before->behind = mark.behind;
    mark.behind->before = mark.before;
    // Inside: the engine may be gone once this was seen.
    if (watch_ != 0) over_.notify_all();
  }
}

bool FileCore::is_over(std::uint64_t number) noexcept {
  const sync::SeenLock lock(mutex_);
  return live_.behind == &live_ || live_.behind->number > number;
}

// Counted, so that what ends need not tell when nobody listens.
sync::Wakeup FileCore::watch_until_over(std::uint64_t number, sync::Deadline deadline,
                                        const sync::StopToken& stop) noexcept {
  {
    const sync::SeenLock lock(mutex_);
    ++watch_;
  }
  const sync::Wakeup why =
      over_.await([&] { return is_over(number); }, deadline, stop, sync::spin_policy(), "io");
  const sync::SeenLock lock(mutex_);
  --watch_;
  return why;
}

Status FileCore::wait(const Until& until) {
  if (delivering() == this) misuse("FileEngine: wait() inside a callback would wait for itself");
  std::uint64_t last = 0;
  {
    const sync::SeenLock lock(mutex_);
    last = live_.number;
  }
  const sync::StopToken stop = until.stop_token();  // may throw
  const Lending lending;
  return status_of(watch_until_over(last, until.deadline(), stop));
}

Tally FileCore::close(Closing how) {
  if (delivering() == this) misuse("FileEngine: close() inside a callback would wait for itself");
  const auto moment = how.deadline.time_since_epoch().count();
  const std::int64_t until = !how.begins_more                    ? kNever
                             : how.deadline == sync::no_deadline ? kAlways
                                                                 : moment;
  bool first = false;
  {
    const sync::SeenLock lock(mutex_);
    first = !std::exchange(closed_, true);
    // order: relaxed, see whether_to_begin().
    if (first) begin_until_.store(until, sync::order::relaxed);
  }
  if (!first) {
    (void)over_.await([this] {
      const sync::SeenLock lock(mutex_);
      return drivers_ended_;
    });
    return tally();
  }
  room_.notify_all();
  {
    const Lending lending;
    (void)watch_until_over(~std::uint64_t{0}, sync::no_deadline, {});
  }
  // The results are there: who finds one missing under this lock is known to its driver by now.
  FileDriver::helping().lock();
  FileDriver::helping().unlock();
  if (pace_) pace_->close();  // first: its thread may be starting a run that is over by now
  chooser_.close();
  {
    const sync::SeenLock lock(mutex_);
    drivers_ended_ = true;
    over_.notify_all();
  }
  return tally();
}

Tally FileCore::tally() const noexcept {
  const sync::SeenLock lock(mutex_);
  Tally told = tally_;
  told.pending = told.accepted - told.done - told.failed - told.cancelled - told.expired;
  if (told.failed != 0) {
    (void)attempt([&] { told.first_failure = std::make_exception_ptr(first_failure_.exception()); },
                  [&]() noexcept { told.first_failure = std::current_exception(); });
  }
  return told;
}

std::uint64_t FileCore::refused() const noexcept {
  const sync::SeenLock lock(mutex_);
  return refused_;
}

FileChoice FileCore::choice() const {
  const sync::SeenLock lock(mutex_);
  return chooser_.choice();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
