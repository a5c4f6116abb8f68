// SPDX-License-Identifier: MIT
//
// The master of worker processes: the one place where a death, a limit, a refill and a give-up are
// decided, for the run of a ProcessTeam and for the jobs of a ProcessPool.
//
// It waits for the kernel's word only: descriptors and time. Each time that it wakes its work looks
// at all words; what a worker tells is a reason to wake and nothing else, so a worker that dies
// between its last block and the bell is no special case.
//
// Concurrency: one thread at a time, but for wake(), width() and limit_look().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/process/detail/claim_table.hpp>
#include <handoff/process/process_team_options.hpp>
#include <handoff/sync/clock.hpp>
#include <system_error>
#include <vector>

#include "team_crew.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class ProcessMaster : public TeamCrew {
 public:
  // What the workers are there for. Its words are claims (claim_table.hpp).
  class Work {
   public:
    // The process of a slot is gone: what it had is given to others, or given up. False: it had
    // nothing, and was not to end.
    virtual bool bury(const Death& death) = 0;
    // All that had died are buried: workers that sleep have to look.
    virtual void all_buried() = 0;
    // Takes what has ended, and what is not to begin any more.
    virtual void look() = 0;
    // Calls see() for each word.
    virtual void show_claims() = 0;
    // Whether there is any.
    virtual bool is_there() const = 0;
    // What nobody is at will not be done.
    virtual void give_up() = 0;

   protected:
    ~Work() = default;
  };

  // As TeamCrew, for work of at most `words` words.
  ProcessMaster(const ProcessTeamOptions& options, WorkerLife& life, std::size_t words,
                int memory = -1);

  // Another work begins: what was before is forgotten. False: no worker is to be had.
  bool begin_work();
  // Sleeps as TeamCrew does.
  bool wait(sync::Deadline deadline) { return TeamCrew::wait(deadline, deaths_); }
  // After that: decides.
  void attend(Work& work);
  // When to attend() at the latest.
  sync::Deadline next_look(bool has_work) const noexcept;

  // A word of the work, by Work::show_claims().
  void see(std::size_t at, const Claim& claim) noexcept;
  // A worker has ended something of the work.
  void has_worked() noexcept;
  // Kills all workers. False: one is still there, as the system holds it back.
  bool end_all();

  // When attend() was called.
  sync::Deadline now() const noexcept { return now_; }
  // Work that begins now is looked at then, for its limit.
  sync::Deadline limit_look() const noexcept;
  // Of the work that was given up last, or had no worker.
  std::system_error why_given_up() const;

 private:
  // Since when a word has said that somebody is at it.
  struct Watched {
    std::uint64_t word = 0;
    sync::Deadline since;
  };

  void bury(Work& work);
  void look_at_limit(Work& work);
  void replace(Work& work);

  const std::chrono::nanoseconds limit_;  // 0: none
  std::vector<Death> deaths_;
  sync::Deadline now_;
  std::size_t idle_deaths_ = 0;  // of workers that were at nothing, since something was ended
  bool is_weary_ = false;  // too many of them: no new worker but for work
  int start_error_ = 0;  // why there is no worker
  int given_up_ = 0;  // the start_error_ of that moment; 0: all workers end
  sync::Deadline none_since_ = sync::no_deadline;  // since when there is none
  std::vector<Watched> watched_;  // by word; with a limit
  sync::Deadline watched_at_;
  bool has_free_ = false;  // at this look
  bool is_worked_at_ = false;
  sync::Deadline idle_since_ = sync::no_deadline;  // since when nobody is at any, and some are free
};

}}}  // namespace handoff::HANDOFF_ABI::detail
