// SPDX-License-Identifier: MIT
//
// The words of a team and of a pool of processes: claims, what a death gives back, and memory that
// somebody has scribbled over.
#include <handoff/process/detail/claim_table.hpp>
#include <handoff/process/detail/job_board.hpp>
#include <handoff/process/detail/team_board.hpp>

#include "process/process_arena.hpp"
#include "support/test.hpp"
#include "unit/process/forked.hpp"

namespace {

using namespace handoff;
using namespace handoff::detail;
using sync::order;

// So many words, each zero: an atomic cannot be moved, as a vector would.
class Words {
 public:
  explicit Words(std::size_t count)
      : count_(count), words_(std::allocator<ClaimWord>().allocate(count)) {
    for (std::size_t i = 0; i < count; ++i) std::construct_at(words_ + i, 0U);
  }
  ~Words() { std::allocator<ClaimWord>().deallocate(words_, count_); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  std::span<ClaimWord> all() { return {words_, count_}; }

 private:
  std::size_t count_;
  ClaimWord* words_;
};

TEST(ClaimTable, AWordSaysAllThatItWasMadeOf) {
  auto random = handoff::test::random();
  for (int i = 0; i < 10'000; ++i) {
    const Claim claim{static_cast<ClaimState>(random() % 5),
                      static_cast<std::uint32_t>(random() % Claim::most_slots),
                      static_cast<std::uint32_t>(random() % (Claim::most_attempts + 1)),
                      random() & Claim::most_runs};
    ASSERT_EQ(Claim::of(claim.word()), claim);
  }
  EXPECT_EQ(Claim::of(~std::uint64_t{0}).state, ClaimState::broken);
}

TEST(ClaimTable, EachBlockIsClaimedOnceFromAnyStart) {
  for (std::size_t from = 0; from < 7; ++from) {
    Words words(5);
    ClaimTable table(words.all());
    table.open(1);
    std::vector<std::size_t> claimed;
    for (;;) {
      const ClaimTable::Pass pass = table.claim(1, 3, from);
      if (pass.block == ClaimTable::none) break;
      claimed.push_back(pass.block);
    }
    std::sort(claimed.begin(), claimed.end());
    EXPECT_EQ(claimed, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(table.count(1, 4).claimed, 5U);
  }
}

TEST(ClaimTable, OverIsSeenOnceNobodyIsAtABlock) {
  Words words(2);
  ClaimTable table(words.all());
  table.open(1);
  const auto first = table.claim(1, 0, 0);
  const auto second = table.claim(1, 1, 1);
  EXPECT_FALSE(table.claim(1, 0, 0).over);
  EXPECT_TRUE(table.finish(first, true));
  EXPECT_FALSE(table.claim(1, 0, 0).over);
  EXPECT_TRUE(table.finish(second, false));
  EXPECT_TRUE(table.claim(1, 0, 0).over);
  EXPECT_EQ(table.look(1, 2, 0).state, ClaimState::done);
  EXPECT_EQ(table.look(1, 2, 1).state, ClaimState::failed);
  EXPECT_TRUE(table.count(1, 2).over());
}

TEST(ClaimTable, ADeathGivesBackWhatThatSlotHadAndNothingElse) {
  Words words(4);
  ClaimTable table(words.all());
  table.open(9);
  EXPECT_TRUE(table.finish(table.claim(9, 1, 0), true));
  (void)table.claim(9, 1, 1);
  (void)table.claim(9, 2, 2);
  std::vector<std::size_t> back;
  table.give_back(9, 1, 2, [&](std::size_t block, bool closed) {
    EXPECT_FALSE(closed);
    back.push_back(block);
  });
  EXPECT_EQ(back, (std::vector<std::size_t>{1}));
  EXPECT_EQ(table.look(9, 3, 0).state, ClaimState::done);
  EXPECT_EQ(table.look(9, 3, 1), (Claim{ClaimState::free, 1, 1, 9}));
  EXPECT_EQ(table.look(9, 3, 2), (Claim{ClaimState::claimed, 2, 1, 9}));
}

TEST(ClaimTable, ABlockThatHadItsTriesIsClosed) {
  Words words(1);
  ClaimTable table(words.all());
  table.open(1);
  for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
    ASSERT_EQ(table.claim(1, 0, 0).block, 0U);
    bool gone = false;
    table.give_back(1, 0, 3, [&](std::size_t, bool closed) { gone = closed; });
    EXPECT_EQ(gone, attempt == 3);
  }
  EXPECT_EQ(table.look(1, 1, 0).state, ClaimState::closed);
  EXPECT_EQ(table.claim(1, 0, 0).block, ClaimTable::none);
  EXPECT_TRUE(table.claim(1, 0, 0).over);
}

TEST(ClaimTable, CloseTakesWhatIsFree) {
  Words words(3);
  ClaimTable table(words.all());
  table.open(1);
  const auto mine = table.claim(1, 0, 1);
  std::size_t closed = 0;
  table.close(1, [&](std::size_t block) { closed += block + 1; });
  EXPECT_EQ(closed, 1U + 3U);
  EXPECT_TRUE(table.finish(mine, true));
  const ClaimCount count = table.count(1, 1);
  EXPECT_EQ(count.closed, 2U);
  EXPECT_EQ(count.done, 1U);
  EXPECT_TRUE(count.over());
}

// What a worker does that slept through the end of its run.
TEST(ClaimTable, ALateWorkerChangesNothingInTheNextRun) {
  Words words(2);
  ClaimTable table(words.all());
  table.open(1);
  const auto mine = table.claim(1, 0, 0);
  table.open(2);
  EXPECT_EQ(table.claim(1, 0, 1).block, ClaimTable::none);
  EXPECT_FALSE(table.finish(mine, true));
  table.give_back(1, 0, 2, [](std::size_t, bool) { ADD_FAILURE(); });
  table.close(1, [](std::size_t) { ADD_FAILURE(); });
  EXPECT_EQ(table.count(2, 1).free, 2U);
}

// Groups that have ended are passed over; only in that run, and only by those who believe the
// notes.
TEST(ClaimTable, WhatHasEndedIsNotedOnceAGroup) {
  constexpr std::size_t blocks = 2 * ClaimTable::group + 5;
  Words words(blocks);
  Words notes(ClaimTable::groups_for(blocks));
  ClaimTable table(words.all(), notes.all());
  const auto noted = [&](std::uint64_t run) {
    std::size_t count = 0;
    for (const ClaimWord& note : notes.all()) count += note.load(order::relaxed) == run;
    return count;
  };
  for (std::uint64_t run = 1; run <= 3; ++run) {
    table.open(run);
    std::vector<ClaimTable::Pass> mine;
    for (std::size_t i = 0; i < blocks; ++i) mine.push_back(table.claim(run, 0, 10));
    EXPECT_FALSE(table.claim(run, 0, 10).over);
    EXPECT_EQ(noted(run), 0U);  // claimed is not ended
    for (const auto& pass : mine) EXPECT_TRUE(table.finish(pass, pass.block % 2 == 0));
    EXPECT_TRUE(table.claim(run, 0, ClaimTable::group + 1).over);
    EXPECT_EQ(noted(run), 2U);  // of the one where it began it has not seen all at once
    EXPECT_TRUE(table.claim(run, 0, 0).over);
    EXPECT_EQ(noted(run), 3U);
    EXPECT_TRUE(table.claim(run, 0, 70).over);
  }
}

TEST(ClaimTable, NotesThatAreWrongAreThrownAway) {
  Words words(3);
  Words notes(1);
  ClaimTable table(words.all(), notes.all());
  table.open(1);
  notes.all()[0].store(1, order::relaxed);
  EXPECT_EQ(table.claim(1, 0, 0).block, ClaimTable::none);
  EXPECT_TRUE(table.claim(1, 0, 0).over);
  EXPECT_EQ(table.count(1, 1).free, 3U);  // the words are what counts
  table.forget_ended();
  EXPECT_EQ(table.claim(1, 0, 0).block, 0U);
}

// How many memories that somebody has written over: `usual` in ./check, a million in a deep run.
std::size_t spoilt_memories(std::size_t usual) {
  return handoff::test::deep() ? 1'000'000 : handoff::test::rounds(usual);
}

// Words of random bytes, half of them with the right run: counted, never believed, mended.
TEST(ClaimTable, RandomWordsAreSurvived) {
  auto random = handoff::test::random();
  for (std::size_t image = 0; image < spoilt_memories(20'000); ++image) {
    Words words(1 + random() % 8);
    Words notes(1);
    ClaimTable table(words.all(), notes.all());
    const std::uint64_t run = 1 + random() % 3;
    notes.all()[0].store(random() % 4, order::relaxed);
    for (ClaimWord& word : words.all()) {
      Claim claim = Claim::of(random());
      if (random() % 2 == 0) claim.run = run;
      word.store(claim.state == ClaimState::broken ? random() | 7U : claim.word(), order::relaxed);
    }
    const auto width = static_cast<std::uint32_t>(1 + random() % 3);
    const ClaimCount before = table.count(run, width);
    EXPECT_EQ(
        before.free + before.claimed + before.done + before.failed + before.closed + before.broken,
        table.blocks());
    for (std::size_t block = 0; block < table.blocks(); ++block) {
      if (table.look(run, width, block).state == ClaimState::broken) table.mend(run, block);
    }
    for (std::uint32_t slot = 0; slot < width; ++slot) {
      table.give_back(run, slot, 2,
                      [&](std::size_t block, bool) { EXPECT_LT(block, table.blocks()); });
    }
    for (;;) {
      const auto pass = table.claim(run, 0, random() % 9);
      if (pass.block == ClaimTable::none && table.count(run, width).over()) break;
      if (pass.block == ClaimTable::none) {
        table.forget_ended();
        continue;
      }
      ASSERT_LT(pass.block, table.blocks());
      EXPECT_TRUE(table.finish(pass, true));
    }
    EXPECT_TRUE(table.count(run, width).over());
  }
}

TEST(TeamBoard, ATextWithoutAnEndIsCut) {
  handoff::detail::WorkerSlot slot;
  std::memset(static_cast<void*>(&slot), 'x', sizeof slot);
  char text[handoff::detail::WorkerSlot::most_text];
  ASSERT_TRUE(slot.said(0x7878787878787878U, text));
  EXPECT_EQ(::strnlen(text, sizeof text), sizeof text - 1);
}

TEST(TeamBoard, BlocksTileTheRange) {
  auto random = handoff::test::random();
  for (int round = 0; round < 2'000; ++round) {
    const TeamJob job{.count = random() % 5'000, .block = 1 + random() % 100};
    std::size_t next = 0;
    for (std::size_t block = 0; block < job.blocks(); ++block) {
      const IndexRange range = job.range_of(block);
      ASSERT_EQ(range.first, next);
      ASSERT_LT(range.first, range.last);
      next = range.last;
    }
    ASSERT_EQ(next, job.count);
  }
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const TeamJob largest{.count = most, .block = most / 3};
  EXPECT_EQ(largest.blocks(), 3U);
  EXPECT_EQ(largest.range_of(2).last, most);
  EXPECT_EQ((TeamJob{.count = 5, .block = 0}.blocks()), 0U) << "hostile, and divides by nothing";
}

// Workers that are threads here: runs with arguments of every size up to the largest.
void serve_run_after_run(Patience patience) {
  Words arguments(TeamWords::most_arguments);
  Words blocks(64);
  const TeamWords words{arguments.all(), blocks.all()};
  TeamBoard board({.patience = patience});
  std::vector<std::atomic<unsigned>> times(64);
  std::atomic<bool> wrong{false};
  const auto serve = [&](std::uint32_t slot) {
    board.serve(
        slot, 2, words,
        [&](std::uint64_t, const TeamJob& job, const void* bytes, IndexRange range) {
          const auto* const byte = static_cast<const unsigned char*>(bytes);
          for (std::size_t i = 0; i < job.bytes; ++i) {
            if (byte[i] != static_cast<unsigned char>(i + job.bytes)) wrong = true;
          }
          for (const std::size_t i : range) ++times[i];
          return true;
        },
        [] {});
  };
  std::thread first(serve, 0U);
  std::thread second(serve, 1U);
  for (std::uint64_t run = 1; run <= handoff::test::rounds(200); ++run) {
    const std::size_t bytes = run % 5 == 0 ? TeamWords::most_bytes : run % 40;
    std::vector<unsigned char> given(bytes);
    for (std::size_t i = 0; i < bytes; ++i) given[i] = static_cast<unsigned char>(i + bytes);
    for (auto& time : times) time = 0;
    const TeamJob job{.count = 1 + run % 64, .block = 1 + run % 3, .bytes = bytes};
    board.open(run, job, given.data(), words);
    board.ring(handoff::detail::Ring::all);
    ClaimTable table(blocks.all().first(job.blocks()));
    while (!table.count(run, 2).over()) std::this_thread::yield();
    for (std::size_t i = 0; i < times.size(); ++i) ASSERT_EQ(times[i], i < job.count ? 1U : 0U);
  }
  board.dismiss();
  first.join();
  second.join();
  EXPECT_FALSE(wrong);
}

TEST(TeamBoard, WorkersServeRunAfterRun) { serve_run_after_run(Patience::none); }
TEST(TeamBoard, WorkersThatSpinServeRunAfterRun) { serve_run_after_run(Patience::all); }
TEST(TeamBoard, WorkersOfWhichOneLeavesItsCpuServeRunAfterRun) {
  serve_run_after_run(Patience::but_the_last);
}

// A thread that works while a board dismisses all workers. One for all boards: to start a thread
// takes longer than to look at a board.
class DismissedWorker {
 public:
  DismissedWorker() : thread_([this] { live(); }) {}
  ~DismissedWorker() {
    step_ = Step::over;
    step_.notify_one();
  }
  DismissedWorker(const DismissedWorker&) = delete;
  DismissedWorker& operator=(const DismissedWorker&) = delete;

  template <class Board>
  void work_until_dismissed(Board& board, const std::function<void()>& work) {
    work_ = &work;
    step_ = Step::given;
    step_.notify_one();
    step_.wait(Step::given);
    std::this_thread::yield();
    board.dismiss();
    step_.wait(Step::begun);
  }

 private:
  enum class Step { none, given, begun, over };

  void live() {
    for (;;) {
      step_.wait(Step::none);
      if (step_ == Step::over) return;
      step_ = Step::begun;
      step_.notify_one();
      (*work_)();
      step_ = Step::none;
      step_.notify_one();
    }
  }

  const std::function<void()>* work_ = nullptr;
  std::atomic<Step> step_{Step::none};
  std::jthread thread_;
};

// A job and words of random bytes, each second job small enough for its memory: a worker works at
// nothing that is not in the job, and stays in its memory.
TEST(TeamBoard, RandomImagesAreSurvived) {
  auto random = handoff::test::random();
  const auto any = [&] { return random() >> random() % 64; };
  Words arguments(TeamWords::most_arguments);
  Words blocks(64);
  const TeamWords words{arguments.all(), blocks.all()};
  std::atomic<std::size_t> worked{0};
  std::atomic<std::size_t> wrong{0};
  DismissedWorker worker;
  for (std::size_t image = 0; image < spoilt_memories(5'000); ++image) {
    TeamBoard board;
    // The bells; the early workers, and whether all are dismissed; the number of the run, and the
    // job's four parts; which workers spin.
    const std::uint64_t run = 1 + random() % 3;
    const std::uint64_t early = any() & ~std::uint32_t{0};
    const bool fits = image % 2 == 0;
    const std::uint64_t count = fits ? 1 + random() % 64 : any();
    const std::uint64_t bytes = fits ? random() % TeamWords::most_bytes : any();
    const std::uint64_t parts[] = {random(), early, run, count, any(), any(), bytes, any() % 4};
    std::memcpy(static_cast<void*>(&board), parts, sizeof parts);
    for (ClaimWord& word : blocks.all()) {
      Claim claim = Claim::of(any());
      if (random() % 2 == 0) claim.run = run;
      word.store(claim.word(), order::relaxed);
    }
    worker.work_until_dismissed(board, [&] {
      board.serve(
          0, 1 + static_cast<std::uint32_t>(image % 3), words,
          [&](std::uint64_t its_run, const TeamJob& job, const void*, IndexRange range) {
            ++worked;
            wrong += its_run != run || job.blocks() > 64 || job.bytes > TeamWords::most_bytes ||
                     range.first >= range.last || range.last > job.count;
            return true;
          },
          [] {});
    });
  }
  EXPECT_GT(worked, 0U) << "each image was refused";
  EXPECT_EQ(wrong, 0U);
}

// ---- The words of a pool's jobs ----------------------------------------------------------------

TEST(JobPlace, ATextWithoutAnEndEndsWithItsPlace) {
  const handoff::test::CommonPages pages(JobPlace::most_bytes);
  std::ranges::fill(pages.bytes(), std::byte{'x'});
  EXPECT_EQ(JobPlace::text_in(pages.bytes()).size(), JobPlace::most_bytes);
  pages.bytes().front() = std::byte{0};
  EXPECT_EQ(JobPlace::text_in(pages.bytes()), "");
}

// A worker works at nothing but places that there are, ends each that it has claimed, and leaves
// when it is told to, whatever the words and the bell say.
TEST(JobBoard, RandomImagesAreSurvived) {
  auto random = handoff::test::random();
  Words words(16);
  std::size_t worked = 0;
  std::size_t wrong = 0;
  const std::size_t images = spoilt_memories(4000);
  DismissedWorker worker;
  for (std::size_t image = 0; image < images; ++image) {
    JobBoard board;
    const auto bell = static_cast<std::uint32_t>(random());
    static_assert(sizeof board == sizeof bell);
    std::memcpy(static_cast<void*>(&board), &bell, sizeof bell);
    for (ClaimWord& word : words.all()) word.store(random() >> random() % 64, order::relaxed);
    worker.work_until_dismissed(board, [&] {
      board.serve(static_cast<std::uint32_t>(image % 3), words.all(),
                  [&](const ClaimTable::Pass& pass) {
                    ++worked;
                    wrong += pass.block >= words.all().size() ||
                             !JobBoard::finish(words.all(), pass, image % 2 == 0);
                    return true;
                  });
    });
  }
  EXPECT_GT(worked, 0U) << "each image was refused";
  EXPECT_EQ(wrong, 0U);
}

// What the master makes of a word that is not that of its job: opened once more, and claimed as
// the job that it is.
TEST(JobBoard, AWordThatWasOverwrittenIsMended) {
  auto random = handoff::test::random();
  Words words(3);
  const std::size_t images = spoilt_memories(20'000);
  for (std::size_t image = 0; image < images; ++image) {
    const std::uint64_t number = 1 + random() % 3;
    const std::size_t place = random() % words.all().size();
    JobBoard::open(words.all(), place, number);
    if (random() % 2 == 0) words.all()[place].store(random() >> random() % 64, order::relaxed);
    ClaimTable job = JobBoard::job(words.all(), place);
    ASSERT_EQ(job.blocks(), 1U);
    const Claim claim = job.look(number, 2, 0);
    EXPECT_TRUE(claim.state == ClaimState::broken || (claim.run == number && claim.slot < 2));
    if (claim.state == ClaimState::broken) job.mend(number, 0);
    if (job.look(number, 2, 0).state != ClaimState::free) continue;
    const ClaimTable::Pass pass = job.claim(number, 1, 0);
    ASSERT_EQ(pass.block, 0U);
    EXPECT_TRUE(JobBoard::finish(words.all(), {.block = place, .word = pass.word}, true));
    EXPECT_EQ(job.look(number, 2, 0).state, ClaimState::done);
  }
}

}  // namespace
