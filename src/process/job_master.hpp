// SPDX-License-Identifier: MIT
//
// A ProcessPool as its own process has it: which job lies in which place, and the thread that hears
// of ends. To the master of its workers they are work of a word each.
//
// Concurrency: thread-safe, but for the destructor. The master is the thread's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/detail/claim_table.hpp>
#include <handoff/process/detail/process_job.hpp>
#include <handoff/process/process_pool_options.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/sync/stop_token.hpp>
#include <optional>
#include <vector>

#include "early_thread.hpp"
#include "job_life.hpp"
#include "loaded_code.hpp"
#include "process_master.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class JobMaster final : ProcessMaster::Work {
 public:
  // The options have been checked. Throws as ProcessPool does.
  explicit JobMaster(const ProcessPoolOptions& options);
  ~JobMaster();  // finishes

  std::int64_t owner() const noexcept { return owner_; }
  std::size_t width() const noexcept { return workers_.width(); }
  Tally tally() const;

  // A place, counted as accepted: publish() follows.
  Status reserve(JobCall call, const ProcessJobOptions& options, bool may_wait,
                 std::uint32_t& place);
  void publish(std::uint32_t place, ProcessJob& job, JobCall call, const void* arguments,
               std::size_t bytes, const ProcessJobOptions& options) noexcept;

  // By request_stop() of its Future. False: it has ended, or was stopped before.
  bool stop(const ProcessJob& job) noexcept;

  Status wait(const Until& until);
  Tally close(const Closing& closing);

 private:
  enum class Ending : std::uint8_t { none, done, threw, died, cancelled, expired, refused };

  // A job in its place; without one, nothing.
  struct Entry {
    ProcessJob* job = nullptr;
    std::uint64_t number = 0;
    KeptUntil until;
    std::optional<sync::StopCallback> on_stop;
    Ending never_open = Ending::none;  // else it was stopped or late before
    bool is_stopped = false;  // by its Future

    std::uint32_t deaths = 0;
    WorkerEnd end;  // of the last of these workers
    bool is_mended = false;

    void clear() noexcept;
  };

  // A job that is out of its place.
  struct Ended {
    ProcessJob* job = nullptr;
    Ending how = Ending::none;
    std::uint32_t deaths = 0;
    WorkerEnd end;
    alignas(64) std::array<std::byte, JobPlace::most_bytes> bytes;
  };

  Status try_reserve(std::uint32_t& place) noexcept;
  bool is_here() const noexcept;

  // The thread's.
  void dispatch() noexcept;
  bool bury(const TeamCrew::Death& death) noexcept override;
  void all_buried() noexcept override { life_.arena().board().ring(); }
  void look() noexcept override;
  void show_claims() noexcept override;
  bool is_there() const noexcept override { return has_jobs(); }
  void give_up() noexcept override;
  std::size_t take_ended(std::size_t from) noexcept;
  Ending ending_of(Entry& entry, std::size_t place) noexcept;
  Ending why_not_begin(const Entry& entry) const noexcept;
  void settle() noexcept;
  std::exception_ptr failure() const noexcept;
  bool plan() noexcept;
  bool has_jobs() const noexcept;
  ClaimTable word(std::size_t place) const noexcept {
    return JobBoard::job(life_.arena().words(), place);
  }
  Claim look_at(const Entry& entry, std::size_t place) const noexcept {
    return word(place).look(entry.number, workers_.width(), 0);
  }

  const ProcessPoolOptions options_;
  const std::int64_t owner_;
  const LoadedCode code_;  // before the fork
  JobLife life_;
  EarlyThread thread_;  // before the workers, which take what places there are
  ProcessMaster workers_;

  mutable sync::Mutex mutex_;
  // Guarded by the mutex.
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;  // places
  std::uint64_t number_ = 0;  // of the last job
  Tally tally_;
  std::optional<Closing> closing_;
  bool is_ending_ = false;
  sync::Deadline wakes_at_ = sync::no_deadline;  // the thread, by itself
  bool wants_jobs_ = false;  // the thread is to hear of each new one
  sync::ThreadId dispatcher_ = nullptr;  // the thread

  // The thread's own.
  Ended ended_;
  bool gives_up_ = false;
  std::uint64_t asked_for_ = 0;  // the last job that was there before workers were asked for
  bool must_ring_ = false;  // a word was mended

  sync::EventCount room_;  // a place was freed
  sync::EventCount idle_;  // nothing is unfinished
};

}}}  // namespace handoff::HANDOFF_ABI::detail
