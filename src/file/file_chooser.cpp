// SPDX-License-Identifier: MIT
//
// Choosing a driver, and measuring the choices.
#include "file_chooser.hpp"

#include <algorithm>
#include <handoff/core/detail/attempt.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <system_error>

#include "open_file_state.hpp"
#include "ring_driver.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::size_t kRingWidth = 64;
constexpr std::size_t kThreadsAtOnce = 64;
constexpr std::uint32_t kAlone = 32;
constexpr double kShort = 300'000;  // ns: more is nothing for a thread that only hands over
constexpr double kBetter = 0.9;     // a way that is tried has to be so much faster
constexpr double kHopeless = 2;     // so much slower, and its round ends
constexpr double kClear = 1.3;      // ... and it is tried again much later
constexpr std::uint32_t kEnough = 16;  // requests that show it
constexpr double kRound = 500'000;     // ns: a wake-up of 50 us is no more than some percent
constexpr std::uint32_t kRoundMost = 1024;
constexpr std::uint32_t kWinsToChange = 2;
constexpr std::uint32_t kGapMost = 1U << 20;
constexpr double kMiB = 1 << 20;

enum Size : std::size_t { small, medium, large };
enum Action : std::size_t { reads, writes, names };

Action action_of(FileOperation operation) noexcept {
  switch (operation) {
    case FileOperation::read: return reads;
    case FileOperation::remove:
    case FileOperation::stat:
    case FileOperation::sync: return names;
    default: return writes;
  }
}
Size size_of(std::uint64_t bytes) noexcept {
  if (bytes < std::uint64_t{64} << 10) return small;
  return bytes < std::uint64_t{1} << 20 ? medium : large;
}

// What a kind is, in its number.
struct Traits {
  std::size_t action;
  std::size_t size;
  std::size_t durable;
  std::size_t access;  // 0: by path; 1: an open file; 2: direct
  std::size_t depth;  // 0: one at a time; 1: up to 16; 2: more
};
std::size_t number_of(const Traits& traits) noexcept {
  return (((traits.action * 3 + traits.size) * 2 + traits.durable) * 3 + traits.access) * 3 +
         traits.depth;
}
Traits traits_of(std::size_t number) noexcept {
  return {.action = number / 54,
          .size = number / 18 % 3,
          .durable = number / 9 % 2,
          .access = number / 3 % 3,
          .depth = number % 3};
}

std::size_t access_of(const FileRequest& request) noexcept {
  if (!request.file.valid()) return request.direct ? 2 : 0;
  return OpenFileAccess::state(request.file)->direct ? 2 : 1;
}

std::int64_t now_ns() noexcept { return sync::clock::now().time_since_epoch().count(); }

std::size_t width_of(const FileEngineOptions& options) noexcept {
  switch (options.backend) {
    case FileBackend::caller:
    case FileBackend::io_thread: return 1;
    case FileBackend::thread_per_request:
      return options.width != 0 ? options.width : kThreadsAtOnce;
    case FileBackend::io_uring: return options.width != 0 ? options.width : kRingWidth;
    case FileBackend::automatic:
    case FileBackend::pool: break;
  }
  if (options.width != 0) return options.width;
  // Threads that wait for a device cost nothing: twice as many as can run.
  return std::clamp<std::size_t>(std::size_t{2} * sync::recent_cpu_budget().width(), 4, 16);
}

std::string in_microseconds(double ns) {
  std::string text = std::to_string(ns / 1000);
  return text.substr(0, text.find('.') + 2) + " us";
}

}  // namespace

FileChooser::FileChooser(FileHost& host, const FileEngineOptions& options)
    : host_(host), options_(options), backend_(options.backend), width_(width_of(options)) {
  const FileDriverOptions wanted{.width = width_, .name = options.name, .tap = options.tap};
  caller_ = make_caller_driver(host, wanted);
  switch (backend_) {
    case FileBackend::caller: break;
    case FileBackend::automatic:
    case FileBackend::io_thread:
    case FileBackend::pool: threads_ = make_pool_driver(host, wanted); break;
    case FileBackend::thread_per_request:
      threads_ = make_thread_per_request_driver(host, wanted);
      break;
    case FileBackend::io_uring:
      ring_ = make_ring_driver(host, wanted, ring_error_);
      if (ring_ == nullptr) {
        raise(std::system_error(ring_error_, std::generic_category(),
                                "FileEngine: io_uring is not to be had here"));
      }
      break;
  }
}

FileDriver* FileChooser::fixed_driver() noexcept {
  if (backend_ == FileBackend::caller) return caller_.get();
  return backend_ == FileBackend::io_uring ? ring_.get() : threads_.get();
}

void FileChooser::make_ring() noexcept {
  const auto make = [this] {
    ring_ = make_ring_driver(
        host_, {.width = kRingWidth, .name = options_.name, .tap = options_.tap}, ring_error_);
  };
  const bool whole = attempt(make, [this]() noexcept { ring_error_ = EAGAIN; });
  if (whole && ring_ == nullptr && ring_error_ == 0) ring_error_ = ENOSYS;
}

FileDriver* FileChooser::driver_of(Way way) noexcept {
  if (way == by_caller) return caller_.get();
  if (way == by_ring && ring_ == nullptr && ring_error_ == 0) make_ring();
  return way == by_ring && ring_ != nullptr ? ring_.get() : threads_.get();
}

std::uint64_t FileChooser::bytes_of(const FileRequest& request) const noexcept {
  if (request.operation == FileOperation::copy) return std::uint64_t{1} << 20;
  if (action_of(request.operation) == names) return 0;
  if (action_of(request.operation) == writes) return request.from.bytes();
  if (!request.into.pieces().empty()) return request.into.bytes();
  return std::min(request.length, static_cast<std::uint64_t>(whole_bytes_));
}

std::size_t FileChooser::kind_of(const FileTask& task, std::size_t held) const noexcept {
  const FileRequest& request = task.request();
  return number_of({.action = action_of(request.operation),
                    .size = size_of(bytes_of(request)),
                    .durable = request.durable ? 1U : 0U,
                    .access = access_of(request),
                    .depth = held <= 1    ? 0U
                             : held <= 16 ? 1U
                                          : 2U});
}

// Before anything is known. What waits for the device goes to the kernel; what is copied in the
// page cache, or takes several calls about names, to several CPUs.
FileChooser::Way FileChooser::by_rule(const FileTask& task, std::size_t kind) const noexcept {
  if (ring_error_ != 0) return by_pool;
  const Traits traits = traits_of(kind);
  if (traits.action == names) return by_pool;
  if (traits.size == large) return task.request().direct ? by_ring : by_pool;
  // Most file systems let a thread write into the page cache, also for a ring; and what is read
  // from there is copied by several CPUs, unless it is little and comes one at a time. Should it
  // come from the device, a ring with many at once is seen to be better by far.
  const bool alone = traits.size == small && traits.depth == 0;
  if (traits.access == 1 && (traits.action == writes || !alone)) return by_pool;
  return traits.access != 0 ? by_ring : by_pool;
}

bool FileChooser::may_run_in_caller(const FileTask& task, const Kind& kind,
                                    std::size_t held) const noexcept {
  const FileRequest& request = task.request();
  return held == 1 && alone_ >= kAlone && in_caller_ < kAlone && !request.durable &&
         !task.callback && request.operation != FileOperation::copy &&
         size_of(bytes_of(request)) == small && kind.service_ns > 0 && kind.service_ns < kShort &&
         options_.bytes_per_second == 0;
}

void FileChooser::begin_round(Kind& kind, bool is_large, std::size_t held) noexcept {
  const auto at_once = static_cast<std::uint32_t>(std::min<std::size_t>(held, 1024));
  kind.way = kind.phase == Phase::trial ? next_to_try(kind) : kind.usual;
  // Short, but long enough that what was under way before does not count.
  kind.size = std::max(is_large ? 4U : 32U, at_once * 2);
  const double known = kind.ns[kind.usual];
  if (!is_large && known > 0) {
    const double lasts = std::min<double>(kRound / known, kRoundMost);
    kind.size = std::max(kind.size, static_cast<std::uint32_t>(lasts));
  }
  kind.skip = is_large ? 0 : std::max(kind.size / 4, at_once);
  kind.runs = true;
  ++kind.round;
  kind.begun = kind.out = kind.ended = 0;
  kind.units = 0;
  kind.busy_ns = 0;
}

FileChooser::Way FileChooser::next_to_try(const Kind& kind) const noexcept {
  for (const Way way : {by_pool, by_ring}) {
    const bool there = way != by_ring || ring_error_ == 0;
    if (there && way != kind.usual) return way;
  }
  return kind.usual;
}

void FileChooser::rest(Kind& kind) noexcept {
  kind.phase = Phase::rest;
  kind.until_pair = kind.gap;
}

void FileChooser::end_round(Kind& kind) noexcept {
  kind.runs = false;
  if (kind.units <= 0) return;
  const double took = static_cast<double>(kind.busy_ns) / kind.units;
  kind.ns[kind.way] = took;
  if (kind.phase == Phase::usual) {
    const bool first = kind.gap == 0;
    if (first) kind.gap = kind.size * 8;
    const bool alone = next_to_try(kind) == kind.usual;
    if (first || alone) return rest(kind);
    kind.phase = Phase::trial;
    return;
  }
  kind.gap =
      std::max(kind.gap, kind.size * 8);  // the first round did not know how long it had to be
  const double usual = kind.ns[kind.usual];
  if (kind.way != kind.usual && took < usual * kBetter) {
    kind.phase = Phase::usual;  // again, at once
    if (++kind.wins < kWinsToChange) return;
    kind.usual = kind.way;
    kind.gap = kind.size * 8;
  } else {
    kind.gap = std::min(kind.gap * (took > usual * kClear ? 4 : 2), kGapMost);
  }
  kind.wins = 0;
  rest(kind);
}

void FileChooser::choose(FileTask& task, std::size_t held) noexcept {
  task.choice = 0;
  task.begun_ns = 0;
  if (task.runs_here) {
    task.driver = caller_.get();
    return;
  }
  if (backend_ != FileBackend::automatic) {
    task.driver = fixed_driver();
    return;
  }
  if (held > 1) alone_ = 0;
  else if (last_was_async_ && alone_ < kAlone) ++alone_;
  const std::size_t number = kind_of(task, held);
  Kind& kind = kinds_[number];
  last_kind_ = number;
  if (!kind.known) {
    kind.usual = by_rule(task, number);
    kind.known = true;
  }
  task.choice = number + 1;
  // The caller's thread has no callbacks.
  if (traits_of(number).depth == 0 && !task.callback) task.begun_ns = now_ns();
  if (may_run_in_caller(task, kind, held)) {
    ++in_caller_;
    last_was_async_ = false;
    task.driver = caller_.get();
    return;
  }
  in_caller_ = 0;
  last_was_async_ = true;
  if (kind.phase == Phase::rest && kind.until_pair-- == 0) kind.phase = Phase::usual;
  if (kind.phase == Phase::rest) {
    task.driver = driver_of(kind.usual);
    return;
  }
  task.driver = take_time(task, kind, traits_of(number).size == large, held);
}

// Of one that belongs to a pair.
FileDriver* FileChooser::take_time(FileTask& task, Kind& kind, bool is_large,
                                   std::size_t held) noexcept {
  if (!kind.runs) begin_round(kind, is_large, held);
  if (kind.skip > 0) {
    --kind.skip;
  } else if (kind.begun < kind.size) {
    if (task.begun_ns == 0) task.begun_ns = now_ns();
    ++kind.begun;
    if (kind.out++ == 0) kind.busy_since = task.begun_ns;
    task.choice |= std::uint64_t{kind.round} << 32 | std::uint64_t{1} << 31;
  }
  return driver_of(kind.way);
}

void FileChooser::ended(FileTask& task) noexcept {
  if (task.choice == 0) return;
  const std::size_t number = (task.choice & 0xffff) - 1;
  Kind& kind = kinds_[number];
  const Traits traits = traits_of(number);
  if (task.request().operation == FileOperation::read && task.request().into.pieces().empty()) {
    const auto bytes = static_cast<double>(task.outcome().bytes_before_failure());
    whole_bytes_ = whole_bytes_ * 0.75 + bytes * 0.25;
  }
  if (task.begun_ns == 0) return;
  if (traits.depth == 0) {
    const auto took = static_cast<double>(now_ns() - task.begun_ns);
    kind.service_ns = kind.service_ns == 0 ? took : kind.service_ns * 0.9 + took * 0.1;
    if (task.driver == caller_.get()) {
      double& known = kind.ns[by_caller];
      known = known == 0 ? took : known * 0.95 + took * 0.05;
    }
  }
  const bool in_round = (task.choice >> 31 & 1) != 0 && task.choice >> 32 == kind.round;
  if (in_round && kind.runs) time_is_taken(task, kind, traits.size == large);
}

void FileChooser::time_is_taken(FileTask& task, Kind& kind, bool is_large) noexcept {
  const std::uint64_t bytes = task.outcome().bytes_before_failure();
  kind.units += is_large ? static_cast<double>(bytes) / kMiB : 1.0;
  ++kind.ended;
  const bool trial_shows = kind.phase == Phase::trial && kind.ended >= kEnough;
  if (--kind.out != 0 && kind.ended != kind.size && !trial_shows) return;
  const std::int64_t now = now_ns();
  kind.busy_ns += now - kind.busy_since;
  kind.busy_since = now;
  const bool hopeless = trial_shows && static_cast<double>(kind.busy_ns) >
                                           kHopeless * kind.ns[kind.usual] * kind.units;
  if (kind.ended == kind.size || hopeless) end_round(kind);
}

FileChoice FileChooser::choice() const {
  FileChoice told;
  told.backend = backend_;
  told.width = width_;
  told.io_uring_error = ring_ != nullptr ? 0 : ring_error_ != 0 ? ring_error_ : ring_refusal();
  told.io_uring_possible = told.io_uring_error == 0;
  told.why = "the program asked for it";
  if (backend_ != FileBackend::automatic) return told;
  told.backend = FileBackend::pool;
  told.why = "a pool of threads until something is known";
  if (last_kind_ == kKinds) return told;
  const Kind& kind = kinds_[last_kind_];
  const Traits traits = traits_of(last_kind_);
  const bool here = in_caller_ > 0;
  const Way way = here ? by_caller : kind.usual;
  constexpr std::array backends{FileBackend::caller, FileBackend::pool, FileBackend::io_uring};
  told.backend = backends[way];
  told.width = way == by_caller ? 1 : way == by_ring ? kRingWidth : width_;
  constexpr std::array<const char*, 3> sizes{"small", "medium", "large"};
  constexpr std::array<const char*, 3> actions{"reads", "writes", "requests about names"};
  constexpr std::array<const char*, 3> depths{"one at a time", "up to 16 at once", "many at once"};
  told.why = std::string(sizes[traits.size]) + (traits.durable != 0 ? " durable " : " ") +
             actions[traits.action] + ", " + depths[traits.depth] + ", by " +
             to_string(told.backend) + ":";
  bool measured = false;
  for (std::size_t i = 0; i < kWays; ++i) {
    if (kind.ns[i] == 0) continue;
    told.why += std::string(measured ? ", " : " ") + to_string(backends[i]) + " " +
                in_microseconds(kind.ns[i]);
    measured = true;
  }
  if (measured) told.why += traits.size == large ? " a MiB" : " a request";
  else told.why += " by rule, nothing was measured yet";
  if (!told.io_uring_possible) {
    told.why += "; no io_uring: " + std::generic_category().message(told.io_uring_error);
  }
  return told;
}

void FileChooser::close() noexcept {
  for (FileDriver* const driver : {caller_.get(), threads_.get(), ring_.get()}) {
    if (driver != nullptr) driver->close();
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
