// SPDX-License-Identifier: MIT
//
// Which process works on which block of an index range: a word a block, in memory that they share.
//
// For: the inside of ProcessTeam. It holds no pointer and no lock, and lies at any address. Not
// for: threads, which do not die one by one (BlockClaims hands out blocks without a word for each).
// Why a word a block: whatever counts claims forgets the blocks of a member that was killed. Here
// the member's slot stands in each block that it claimed, so they can be given back, one by one.
//
//   free(attempts) -- claim, a worker ----------> claimed(slot, attempts + 1)
//   claimed(slot)  -- finish, that worker ------> done | failed
//   claimed(slot)  -- give_back, the master ----> free(attempts), or closed once tries are used up
//   free           -- close, the master --------> closed
//
// Invariants
//   CT-1  A claimed word is changed by the worker that claimed it; or by the master once the kernel
//         has said that this process is gone. A dead process writes nothing later, so there is no
//         lease and no heartbeat, and no block has two writers at once.
//   CT-2  The master starts a process in a slot only after it has given back all that the one
//         before had claimed. So a slot is name enough, without the number of its process.
//   CT-3  Each word carries the number of its run, which never comes again. A worker that wakes in
//         a later run than it thinks changes nothing: its compare-and-swap expects the old number.
//         So nobody waits for workers that have not left a run.
//   CT-4  Of all workers that finish blocks of a run, the last one sees in its next pass that all
//         is over, unless a death is between: then the master rings, and it makes another pass.
//   CT-5  A word is read once, into a local, and checked before it is used. One that no worker
//         could have written (`broken`) is never believed: the master opens it again.
//   CT-6  A word that has ended stays so for the rest of its run. So a pass that has seen all words
//         of a group ended notes that, and later passes skip the group. If the note is wrong, as
//         memory was overwritten, a pass finds "over" too early, and the master, which counts the
//         words and not the notes, throws all notes away (forget_ended).
//
// Concurrency: claim() and finish() by the worker of the slot; count() by the master at any time;
// the rest by the master as above. Cost: a claim is one compare-and-swap, and so is its end; a pass
// that finds nothing reads a word a group, and of groups that have not ended a word a block.
// Blocks, allocates, throws: never. Proof: docs/design/process_team.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <handoff/config.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/relaxed.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

enum class ClaimState : std::uint8_t {
  free,  // to be claimed
  claimed,  // a worker is at it
  done,
  failed,  // its kernel threw
  closed,  // will not be claimed again: stopped, or its tries are used up
  broken,  // none of these: the word was overwritten
};

// The meaning of a word.
struct Claim {
  static constexpr unsigned slot_bits = 10;
  static constexpr unsigned attempt_bits = 4;
  static constexpr std::uint32_t most_slots = 1U << slot_bits;
  static constexpr std::uint32_t most_attempts = (1U << attempt_bits) - 1;
  static constexpr std::uint64_t most_runs = (std::uint64_t{1} << 47) - 1;  // 4 years, 1 run a us

  ClaimState state = ClaimState::free;
  std::uint32_t slot = 0;  // that claimed it last; 0 before
  std::uint32_t attempts = 0;  // claims so far
  std::uint64_t run = 0;

  static constexpr Claim of(std::uint64_t word) noexcept {
    const auto state = static_cast<std::uint8_t>(word & 7U);
    const auto last = static_cast<std::uint8_t>(ClaimState::closed);
    return {.state = state <= last ? static_cast<ClaimState>(state) : ClaimState::broken,
            .slot = static_cast<std::uint32_t>(word >> 3U) & (most_slots - 1),
            .attempts = static_cast<std::uint32_t>(word >> (3U + slot_bits)) & most_attempts,
            .run = word >> (3U + slot_bits + attempt_bits)};
  }
  constexpr std::uint64_t word() const noexcept {
    return static_cast<std::uint64_t>(state) | std::uint64_t{slot & (most_slots - 1)} << 3U |
           std::uint64_t{attempts & most_attempts} << (3U + slot_bits) |
           run << (3U + slot_bits + attempt_bits);
  }
  constexpr bool has_ended() const noexcept {
    return state == ClaimState::done || state == ClaimState::failed || state == ClaimState::closed;
  }
  friend constexpr bool operator==(const Claim&, const Claim&) noexcept = default;
};

using ClaimWord = sync::atomic<std::uint64_t>;

// How many blocks are in which state.
struct ClaimCount {
  std::size_t free = 0;
  std::size_t claimed = 0;
  std::size_t done = 0;
  std::size_t failed = 0;
  std::size_t closed = 0;
  std::size_t broken = 0;

  constexpr bool over() const noexcept { return free == 0 && claimed == 0 && broken == 0; }
};

class ClaimTable {
 public:
  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::size_t group = 64;  // blocks with a note of their own (CT-6)

  static constexpr std::size_t groups_for(std::size_t blocks) noexcept {
    return blocks / group + (blocks % group != 0);
  }

  // What a worker's pass over the table has found.
  struct Pass {
    std::size_t block = none;
    std::uint64_t word = 0;  // what claims the block; finish() wants it
    bool over = false;  // no block, and none that another is at
  };

  // The words of one run, a block each; and words for notes, a group each, or none.
  explicit ClaimTable(std::span<ClaimWord> words, std::span<ClaimWord> ended = {}) noexcept
      : words_(words), ended_(ended) {}

  std::size_t blocks() const noexcept { return words_.size(); }

  // ---- The master

  // All free. No worker knows the number `run` yet.
  void open(std::uint64_t run) noexcept {
    const std::uint64_t free = Claim{.run = run}.word();
    // order: relaxed, publishing the run's number (TeamBoard::open) publishes the words.
    for (ClaimWord& word : words_) word.store(free, sync::order::relaxed);
  }

  // Gives back what the dead process of `slot` has claimed (CT-1). A block that had its `tries`
  // is closed. `told(block, closed)` is called for each.
  template <class Told>
  void give_back(std::uint64_t run, std::uint32_t slot, std::uint32_t tries,
                 const Told& told) noexcept {
    for (std::size_t block = 0; block < words_.size(); ++block) {
      // order: relaxed, the dead process wrote it, and the kernel's word of the death ordered that.
      std::uint64_t word = words_[block].load(sync::order::relaxed);
      Claim claim = Claim::of(word);
      if (claim.run != run || claim.state != ClaimState::claimed || claim.slot != slot) continue;
      const bool closed = claim.attempts >= tries;
      claim.state = closed ? ClaimState::closed : ClaimState::free;
      // order: release, the partner is the load in claim(): what the dead process has written into
      // the block comes before what the next one writes. Fails only if the memory was overwritten:
      // then the word is broken, or someone's.
      if (words_[block].compare_exchange_strong(word, claim.word(), sync::order::release,
                                                sync::order::relaxed)) {
        told(block, closed);
      }
    }
  }

  // Takes all blocks that nobody has claimed. `told(block)` is called for each.
  template <class Told>
  void close(std::uint64_t run, const Told& told) noexcept {
    for (std::size_t block = 0; block < words_.size(); ++block) {
      // order: relaxed, here and on failure: the exchange decides between this and a claim.
      std::uint64_t word = words_[block].load(sync::order::relaxed);
      for (;;) {
        Claim claim = Claim::of(word);
        if (claim.run != run || claim.state != ClaimState::free) break;
        claim.state = ClaimState::closed;
        // order: relaxed, nothing comes with it; a pass finds it by its own exchange (CT-4).
        if (words_[block].compare_exchange_weak(word, claim.word(), sync::order::relaxed,
                                                sync::order::relaxed)) {
          told(block);
          break;
        }
      }
    }
  }

  // Opens a broken word again (CT-5); with all attempts used, so that the next death closes it.
  void mend(std::uint64_t run, std::size_t block) noexcept {
    const Claim claim{.attempts = Claim::most_attempts - 1, .run = run};
    // order: relaxed, the bell that is rung next brings it.
    words_[block].store(claim.word(), sync::order::relaxed);
  }

  // No note is believed (CT-6). Ring afterwards: workers that were led astray sleep.
  void forget_ended() noexcept {
    // order: relaxed, the bell that is rung next brings it.
    for (ClaimWord& word : ended_) word.store(0, sync::order::relaxed);
  }

  // What stands in the word of one block, for a table used by slots below `width`.
  Claim look(std::uint64_t run, std::uint32_t width, std::size_t block) const noexcept {
    // order: acquire, the partner is finish(), whose results are seen with it.
    Claim claim = Claim::of(words_[block].load(sync::order::acquire));
    if (claim.run != run || claim.slot >= width) claim.state = ClaimState::broken;
    return claim;
  }

  ClaimCount count(std::uint64_t run, std::uint32_t width) const noexcept {
    ClaimCount count;
    for (std::size_t block = 0; block < words_.size(); ++block) {
      switch (look(run, width, block).state) {
        case ClaimState::free: ++count.free; break;
        case ClaimState::claimed: ++count.claimed; break;
        case ClaimState::done: ++count.done; break;
        case ClaimState::failed: ++count.failed; break;
        case ClaimState::closed: ++count.closed; break;
        case ClaimState::broken: ++count.broken; break;
      }
    }
    return count;
  }

  // ---- A worker

  // Claims a block of `run` for `slot`; looks at all of them, from `from` on and around.
  Pass claim(std::uint64_t run, std::uint32_t slot, std::size_t from) noexcept {
    const std::size_t first = from < words_.size() ? from : 0;
    Pass pass{.over = true};
    if (!claim_between(first, words_.size(), run, slot, pass)) {
      (void)claim_between(0, first, run, slot, pass);
    }
    return pass;
  }

  // Ends the block that claim() has given. False if the word is not as it was left: overwritten.
  bool finish(const Pass& claimed, bool well) noexcept {
    Claim claim = Claim::of(claimed.word);
    claim.state = well ? ClaimState::done : ClaimState::failed;
    std::uint64_t word = claimed.word;
    // order: seq_cst, releases the results to look(), and comes before the loads of the pass that
    // this worker makes next: of two that finish last, one sees the other (CT-4).
    return words_[claimed.block].compare_exchange_strong(word, claim.word(), sync::order::seq_cst,
                                                         sync::order::relaxed);
  }

 private:
  // True, and the pass has a block of [first, last); or none is free, and `over` says the rest.
  bool claim_between(std::size_t first, std::size_t last, std::uint64_t run, std::uint32_t slot,
                     Pass& pass) noexcept {
    while (first < last) {
      const std::size_t at = first / group;
      const std::size_t next = detail::min((at + 1) * group, last);
      // order: relaxed, a note is about what cannot change any more; whose results it has, look()
      // acquires.
      const bool is_skipped = at < ended_.size() && ended_[at].load(sync::order::relaxed) == run;
      if (!is_skipped && claim_in_group(first, next, run, slot, pass)) return true;
      first = next;
    }
    return false;
  }

  bool claim_in_group(std::size_t first, std::size_t last, std::uint64_t run, std::uint32_t slot,
                      Pass& pass) noexcept {
    bool ended = first % group == 0 && (last % group == 0 || last == words_.size());
    for (std::size_t block = first; block < last; ++block) {
      // order: seq_cst, the partners are all finish() (CT-4), and give_back(), which it acquires.
      std::uint64_t word = words_[block].load(sync::order::seq_cst);
      Claim claim = Claim::of(word);
      if (claim.run == run && claim.state == ClaimState::free) {
        claim = {ClaimState::claimed, slot, claim.attempts + 1, run};
        // order: relaxed, the load has acquired what there was: no value comes back, as each claim
        // counts an attempt. If it fails, `word` is the newest: claimed by another, whose own pass
        // is still to come, or closed.
        if (words_[block].compare_exchange_strong(word, claim.word(), sync::order::relaxed,
                                                  sync::order::relaxed)) {
          pass = {.block = block, .word = claim.word()};
          return true;
        }
        claim = Claim::of(word);
      }
      pass.over = pass.over && (claim.run != run || claim.state != ClaimState::claimed);
      ended = ended && claim.run == run && claim.has_ended();
    }
    // order: relaxed, as in claim_between().
    if (ended && first / group < ended_.size())
      ended_[first / group].store(run, sync::order::relaxed);
    return false;
  }

  std::span<ClaimWord> words_;
  std::span<ClaimWord> ended_;  // the number of the run that has ended there
};

// What the worker of a slot has to say: of the first exception that it caught in a run, and whether
// it ended because it was to.
class WorkerSlot {
 public:
  static constexpr std::size_t most_text = 240;

  WorkerSlot() noexcept = default;

  // By the worker, while it is at a block of the run.
  void keep(std::uint64_t run, const char* text) noexcept {
    if (run_.get() == run) return;
    std::size_t length = 0;
    for (; length + 1 < most_text && text[length] != '\0'; ++length) text_[length] = text[length];
    text_[length] = '\0';
    run_.set(run);
  }

  // By the master, when all blocks of the run are over. False: nothing was said.
  bool said(std::uint64_t run, char (&text)[most_text]) const noexcept {
    if (run_.get() != run) return false;
    std::memcpy(text, text_, most_text);  // once: a worker may be mad, and change it
    text[most_text - 1] = '\0';
    return true;
  }

  // By the worker, before it ends.
  void retire() noexcept { retired_.set(1); }
  // By the master, when the worker is gone, once.
  bool take_retired() noexcept { return retired_.exchange(0) != 0; }

 private:
  // order: finish() publishes it with the block, whose end look() has seen. A worker of before was
  // gone before this one was started.
  sync::relaxed<std::uint64_t> run_;
  sync::relaxed<std::uint32_t> retired_;  // order: the kernel's word of the end comes behind it
  char text_[most_text] = {};
};

}}}  // namespace handoff::HANDOFF_ABI::detail
