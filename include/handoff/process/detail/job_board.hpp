// SPDX-License-Identifier: MIT
//
// What a pool of processes shares beside its jobs: a word for each place that a job can have, and
// the bell for workers that sleep.
//
// For: the inside of ProcessPool. Not for: threads, which do not die one by one.
// The words are those of claim_table.hpp, each a table of one block: a job is the only block of a
// run of its own, and its number is that of the run. So a job goes the way of a block:
//
//   open, the master -> free -- claim --> claimed(slot) -- finish --> done | failed
//   claimed(slot) -- give_back, the master, when the process is gone --> free, or closed
//   free -- close, the master: stopped, late, or nobody to do it --> closed
//
// The board lies in shared memory and holds no pointer. The master calls open(), ring(), dismiss()
// and what job() has for masters; each worker is in serve() all its life.
//
// Invariants
//   JB-1  A place is filled before open() and left alone until its word is done, failed or closed.
//         A number never comes again. So a worker that is late, and knows the word of a job that
//         was in this place before, fails to claim; and it reads nothing of a job but by a claim.
//   JB-2  A worker sleeps only if a look behind its mark at the bell finds no free word. Whatever
//         frees one rings afterwards, and that wakes all that sleep: one of them that is stopped or
//         killed keeps no job from the others.
//   JB-3  A worker that ends by itself does so between two jobs.
//
// Concurrency: see above. Blocks: serve(), while no job is free. Allocates, throws: never, but for
// what the work does. Proof: docs/design/process_pool.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <handoff/config.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/detail/claim_table.hpp>
#include <handoff/process/detail/shared_bell.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class JobBoard {
 public:
  // Where the words lie, in each process at its own address. All zero at first: number 0 is no job.
  using Words = std::span<ClaimWord>;

  static constexpr std::size_t none = ClaimTable::none;

  JobBoard() noexcept = default;

  // The table of the job in a place: its only block is 0.
  static ClaimTable job(Words words, std::size_t place) noexcept {
    return ClaimTable(words.subspan(place, 1));
  }

  // ---- The master

  // The job `number` (1 and up, each once) lies in its place. ring() comes next.
  static void open(Words words, std::size_t place, std::uint64_t number) noexcept {
    // order: release, the partner is the load in ClaimTable::claim(): the job is seen with it.
    words[place].store(Claim{.run = number}.word(), sync::order::release);
  }

  // After anything that freed a word.
  void ring() noexcept { bell_.ring(); }

  // Ends serve() in all workers that are between jobs, or come there.
  void dismiss() noexcept { bell_.close(); }

  // ---- A worker

  // The life of the worker in `slot`: claims a job, does it, sleeps if there is none.
  //   work(pass) -> bool  the job in the place `pass.block`, up to finish(); false: this worker
  //   ends
  template <class Work>
  void serve(std::uint32_t slot, Words words, const Work& work) {
    for (;;) {
      ClaimTable::Pass pass;
      const auto has_found = [&] {
        if (bell_.closed()) return true;
        pass = claim(words, slot);
        return pass.block != none;
      };
      (void)bell_.await(has_found, {}, BellSleepers::many);
      if (pass.block == none || !work(pass)) return;
    }
  }

  // Ends the job that the pass has claimed; false: its word was overwritten.
  static bool finish(Words words, const ClaimTable::Pass& pass, bool well) noexcept {
    return job(words, pass.block).finish({.block = 0, .word = pass.word}, well);
  }

 private:
  // The free job that has waited longest, as far as one look can tell.
  static ClaimTable::Pass claim(Words words, std::uint32_t slot) noexcept {
    for (;;) {
      std::size_t oldest = none;
      std::uint64_t number = 0;
      for (std::size_t place = 0; place < words.size(); ++place) {
        // order: relaxed, claim() below looks again and acquires; JB-2 has the bell's fence.
        const Claim claim = Claim::of(words[place].load(sync::order::relaxed));
        if (claim.state != ClaimState::free || claim.run == 0) continue;
        if (oldest != none && claim.run > number) continue;
        oldest = place;
        number = claim.run;
      }
      if (oldest == none) return {};
      const ClaimTable::Pass pass = job(words, oldest).claim(number, slot, 0);
      if (pass.block != none) return {.block = oldest, .word = pass.word};
      // Another worker or the master was faster: there is one free job less.
    }
  }

  SharedBell bell_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
