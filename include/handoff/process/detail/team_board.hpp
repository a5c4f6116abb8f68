// SPDX-License-Identifier: MIT
//
// What a team of processes shares beside its claims: the run that is on, and the bell for workers
// that sleep.
//
// For: the inside of ProcessTeam. Not for: threads.
// It lies in shared memory, zeroed or constructed there, and holds no pointer into it. The master
// calls open() and ring(); each worker is in serve() all its life.
//
// Invariants
//   TB-1  The job is written only between runs. A worker copies it and then claims; only a claim
//         makes the copy good, because a block of the run was free then (CT-3), so the run was on.
//         What it copied of a job that was being written is thrown away with the failed claim.
//   TB-2  A worker sleeps only on a bell that it has read before its last pass. Whatever frees a
//         block rings the bell afterwards.
//   TB-3  The early workers, as many as can run at a time, have a bell of their own. A run that
//         begins rings that one only. The master rings both once an early worker is gone, and once
//         blocks take long: it looks at the clock, and waits for no worker's word.
//   TB-4  A worker that spins before it sleeps looks at its bell and at nothing else: what it does
//         not see there it finds when it goes to sleep. It spins only where a CPU is left for the
//         master, whose CPU is that of the worker that has told of the end, where there is no
//         other.
//
// Concurrency: see above. Blocks: serve(), between runs. Allocates, throws: never, but for what the
// work does. Proof: docs/design/process_team.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/process/detail/claim_table.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/park.hpp>
#include <handoff/sync/internal/relaxed.hpp>
#include <handoff/sync/internal/work_patience.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What is to be done, without the arguments.
struct TeamJob {
  std::uint64_t count = 0;  // indices
  std::uint64_t block = 1;  // indices in a block; the last may have fewer
  std::uint64_t kernel = 0;  // the address of its BlockCall, the same in all processes of the team
  std::uint64_t bytes = 0;  // of the arguments

  std::uint64_t blocks() const noexcept {
    return block == 0 ? 0 : count / block + (count % block != 0);
  }
  IndexRange range_of(std::size_t at) const noexcept {
    const std::uint64_t begin = at * block;
    return {static_cast<std::size_t>(begin),
            static_cast<std::size_t>(count - begin < block ? count : begin + block)};
  }
};

// Where the words lie, in each process at its own address.
struct TeamWords {
  static constexpr std::size_t most_bytes = 4096;  // of arguments
  static constexpr std::size_t most_arguments = most_bytes / sizeof(std::uint64_t);

  std::span<ClaimWord> arguments;  // at most most_arguments
  std::span<ClaimWord> blocks;  // of the largest run
  std::span<ClaimWord> ended = {};  // notes for these (CT-6), or none

  // The claims of a run of `count` blocks.
  ClaimTable table(std::size_t count) const noexcept {
    return ClaimTable(blocks.first(count),
                      ended.first(detail::min(ended.size(), ClaimTable::groups_for(count))));
  }
};

enum class Ring : std::uint8_t { early, all };

// Which workers spin for the next run before they sleep (TB-4).
enum class Patience : std::uint32_t { none, but_the_last, all };

// How workers wait between runs.
struct TeamWaits {
  std::uint32_t early = ~std::uint32_t{0};  // the number of slots that early workers have (TB-3)
  Patience patience = Patience::none;
};

class TeamBoard {
 public:
  explicit TeamBoard(TeamWaits waits = {}) noexcept
      : early_(waits.early), patience_(waits.patience) {}

  // Begins run `run` (1 and up, each once): writes the job and frees all its blocks. `arguments`
  // has job.bytes; there are words for them and for the blocks.
  void open(std::uint64_t run, const TeamJob& job, const void* arguments,
            const TeamWords& words) noexcept {
    const std::uint64_t parts[] = {job.count, job.block, job.kernel, job.bytes};
    for (std::size_t i = 0; i < job_parts; ++i) put(job_[i], parts[i]);
    const auto* const bytes = static_cast<const char*>(arguments);
    for (std::size_t at = 0; at < job.bytes; at += sizeof(std::uint64_t)) {
      std::uint64_t part = 0;
      std::memcpy(&part, bytes + at, detail::min<std::size_t>(sizeof part, job.bytes - at));
      put(words.arguments[at / sizeof part], part);
    }
    words.table(job.blocks()).open(run);
    // order: release, the partner is the load in serve(): job, arguments and words come with it.
    run_.store(run, sync::order::release);
  }

  // Wakes workers that sleep.
  void ring(Ring whom) noexcept {
    ring(bells_[0]);
    if (whom == Ring::all) ring(bells_[1]);
  }

  // Ends serve() in all workers that are between runs, or come there.
  void dismiss() noexcept {
    dismissed_.set(1);
    ring(Ring::all);
  }

  // The life of the worker in `slot`: claims and works, tells the master that all is over, sleeps.
  //   work(run, job, arguments, range) -> bool  whether the kernel came to its end; false: it threw
  //   tell()                                    all blocks are over
  template <class Work, class Tell>
  void serve(std::uint32_t slot, std::uint32_t width, const TeamWords& words, const Work& work,
             const Tell& tell) {
    const Place place = place_of(slot, width);
    Bell& doorbell = bells_[place.is_early ? 0 : 1];
    for (;;) {
      const sync::Deadline began = sync::clock::now();
      // order: acquire, the partner is ring(); TB-2.
      const std::uint32_t heard = doorbell.load(sync::order::acquire);
      if (dismissed_.get() != 0) return;
      const bool is_over = take_part(place, words, work);
      if (is_over) tell();
      // order: relaxed, what it tells is read again, with acquire.
      const auto rung = [&]() noexcept { return doorbell.load(sync::order::relaxed) != heard; };
      sync::look_for_work(rung, began, spin_after(is_over), most_spin);
      (void)sync::park(doorbell, heard, sync::no_deadline, sync::ParkScope::shared);
    }
  }

 private:
  static constexpr std::size_t job_parts = 4;
  // Long enough for a caller that begins its next run at once: two wake-ups of CPUs that have gone
  // idle, and what the last block takes longer than the others. No longer, as the program may need
  // the CPU: a run of ten milliseconds was followed by 2.5 in which two of its threads had one CPU.
  static constexpr sync::clock::duration most_spin = std::chrono::microseconds(200);
  using Word = sync::atomic<std::uint64_t>;
  using Bell = sync::atomic<std::uint32_t>;

  // Where a worker begins in each run: at `part` of `parts` parts.
  struct Place {
    std::uint32_t slot;
    bool is_early;
    std::uint32_t part;
    std::uint32_t parts;
  };

  // The early ones divide the whole range: often no other comes.
  Place place_of(std::uint32_t slot, std::uint32_t width) const noexcept {
    // Any number is right, as memory may be overwritten: where there is no early worker, the
    // master's clock wakes the others.
    const std::uint32_t early = detail::min(early_.get(), width);
    const bool is_early = slot < early;
    return {slot, is_early, slot, is_early ? early : width};
  }

  // The worker that has told of the end leaves its CPU to the master, which comes there.
  sync::Spin spin_after(bool is_over) const noexcept {
    const Patience patience = patience_.get();  // any number is right
    const bool spins =
        patience == Patience::all || (patience == Patience::but_the_last && !is_over);
    return spins ? sync::Spin::allowed : sync::Spin::never;
  }

  static void ring(Bell& doorbell) noexcept {
    // order: release, the partner is the load in serve(): what freed a block is seen with it.
    doorbell.fetch_add(1, sync::order::release);
    (void)sync::unpark(doorbell, ~std::uint32_t{0}, sync::ParkScope::shared);
  }

  // Word by word: a worker that is late may read a job while the next one is written (TB-1).
  static void put(Word& word, std::uint64_t value) noexcept {
    word.store(value, sync::order::relaxed);  // order: relaxed, published by the run's number
  }
  static std::uint64_t get(const Word& word) noexcept {
    return word.load(sync::order::relaxed);  // order: relaxed, as above
  }

  // True if there was a run, and all its blocks are over.
  template <class Work>
  bool take_part(const Place& place, const TeamWords& words, const Work& work) {
    // order: acquire, the partner is the store in open().
    const std::uint64_t run = run_.load(sync::order::acquire);
    if (run == 0) return false;
    const TeamJob job{get(job_[0]), get(job_[1]), get(job_[2]), get(job_[3])};
    const std::size_t parts = job.bytes / sizeof(std::uint64_t) + (job.bytes % 8 != 0);
    if (job.blocks() > words.blocks.size() || parts > words.arguments.size()) return false;  // TB-1
    alignas(64) std::uint64_t arguments[TeamWords::most_arguments];
    for (std::size_t i = 0; i < parts; ++i) arguments[i] = get(words.arguments[i]);
    ClaimTable table = words.table(job.blocks());
    // Each begins at a place of its own, the same in each run: its caches know it.
    std::size_t from = table.blocks() * place.part / place.parts;
    for (;;) {
      const ClaimTable::Pass pass = table.claim(run, place.slot, from);
      if (pass.block == ClaimTable::none) return pass.over;
      const void* const copy = arguments;
      (void)table.finish(pass, work(run, job, copy, job.range_of(pass.block)));
      from = pass.block + 1;
    }
  }

  alignas(sync::destructive_span) Bell bells_[2] = {Bell(0), Bell(0)};  // early, late
  sync::relaxed<std::uint32_t> early_;  // order: it was there before the workers, as `patience_`
  sync::relaxed<std::uint32_t> dismissed_;  // order: the bell brings it
  sync::atomic<std::uint64_t> run_{0};
  Word job_[job_parts] = {Word(0), Word(0), Word(0), Word(0)};
  sync::relaxed<Patience> patience_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
