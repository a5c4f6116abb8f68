// SPDX-License-Identifier: MIT
//
// Command buckets: the scenarios of docs/design/command_bucket.md.
#include <handoff/command/command_bucket.hpp>
#include <handoff/command/command_options.hpp>
#include <handoff/command/command_statistics.hpp>
#include <handoff/command/detail/command_dispatch.hpp>
#include <handoff/command/detail/command_store.hpp>
#include <handoff/core/bulk.hpp>
#include <handoff/core/inline_executor.hpp>
#include <handoff/memory/frame.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "books/command_books.hpp"
#include "explore/scenario.hpp"

namespace command_bucket_scenarios { namespace {

using namespace handoff;
using namespace test;

// Sees the numbers of commands in their order.
struct Sees {
  std::uint64_t digits = 0;
  std::size_t count = 0;
};
struct Number {
  std::uint32_t number;
  void operator()(Sees& sees) const {
    sees.digits = sees.digits * 10 + number;
    ++sees.count;
  }
};
using PlainBucket = CommandBucket<std::uint32_t, Sees>;
using Bucket = Audited<PlainBucket>;

// Runs the halves of a loop on two threads.
class Two {
 public:
  struct BulkStorage {};
  template <class Body>
  Tally run(std::size_t count, const Body& body, const RunOptions& = {}) {
    explore::Thread other([&] { body(IndexRange{count / 2, count}); });
    body(IndexRange{0, count / 2});
    other.join();
    return {.accepted = count, .done = count};
  }
  Status start(std::size_t, BulkWork&, BulkStorage&, const RunOptions& = {}) {
    return Status::full;
  }
  std::size_t width() const { return 2; }
};

void check_order(PlainBucket& bucket, std::uint64_t digits) {
  Sees sees;
  bucket.dispatch(sees);
  explore::check(sees.digits == digits, "in the order of keys, recorders and sequence");
}

// Tells that something has happened, and orders nothing.
class Flag {
 public:
  void raise() { raised_.store(true, sync::order::relaxed); }  // order: relaxed, as said above
  void await() const {
    // order: relaxed, as said above
    while (!raised_.load(sync::order::relaxed)) sync::pause();
  }

 private:
  sync::atomic<bool> raised_{false};
};

// Again and again while it is misuse, as a recorder is open.
template <class Call>
void when_closed(const Call& call) {
  for (;;) {
    try {
      return call();
    } catch (const std::logic_error&) {
      sync::pause();
    }
  }
}

// A thread adds the number 7, and `call` comes beside it, once it has opened its recorder.
template <class Call>
void beside_a_recorder(PlainBucket& bucket, const Call& call) {
  Flag opened;
  explore::Thread other([&] {
    PlainBucket::Recorder recorder = bucket.recorder(0);
    opened.raise();
    recorder.add<Number>(1).number = 7;
  });
  opened.await();
  when_closed(call);
}

// Segments are handed out to two recorders at once.
const Scenario segments("command_bucket/segments", [] {
  Bucket bucket;
  const auto record = [&](std::uint32_t number) {
    PlainBucket::Recorder recorder = bucket.recorder(number);
    recorder.add<Number>(2).number = number + 2;
    recorder.add<Number>(1).number = number;
  };
  explore::Thread other([&] { record(2); });
  record(1);
  other.join();
  bucket.sort();
  check_order(bucket, 1234);
});

// The memory of one cannot be had: the other one's commands are there.
const Scenario no_memory(
    "command_bucket/no_memory",
    [] {
      Bucket bucket;
      std::array<bool, 2> recorded{};
      const auto record = [&](std::uint32_t number) {
        const explore::MayFail failing;
        try {
          bucket.recorder(number).add<Number>(1).number = number;
          recorded[number] = true;
        } catch (const std::bad_alloc&) {
        }
      };
      explore::Thread other([&] { record(1); });
      record(0);
      other.join();
      Sees sees;
      bucket.dispatch(sees);
      explore::check(sees.count == std::size_t{recorded[0]} + std::size_t{recorded[1]},
                     "what was recorded");
    },
    test::Size::small, 0, 1);

// A thread that finds a recorder closed sees its commands, even if it has not joined its thread.
const Scenario closed("command_bucket/closed_is_seen", [] {
  Bucket bucket;
  Sees sees;
  beside_a_recorder(bucket, [&] { bucket.dispatch(sees); });
  explore::check(sees.digits == 7, "what it has added");
});

// The same of the end of record(): its commands are there, and counted.
const Scenario batch_closed("command_bucket/end_of_record_is_seen", [] {
  Bucket bucket;
  Flag begun;
  explore::Thread other([&] {
    InlineExecutor here;
    bucket.record(here, 1, 1, [&](PlainBucket::Recorder& recorder, IndexRange) {
      begun.raise();
      recorder.add<Number>(1).number = 7;
    });
  });
  begun.await();
  Sees sees;
  when_closed([&] { bucket.dispatch(sees); });
  explore::check(sees.digits == 7, "what it has added");
  explore::check(bucket.tally().done == 1, "and that it did");
  other.join();
});

// clear() finds the recorder closed, and frees memory that nobody writes any more.
const Scenario closed_cleared("command_bucket/closed_is_cleared", [] {
  Bucket bucket;
  beside_a_recorder(bucket, [&] { bucket.clear(); });
  explore::check(bucket.tally().cancelled == 1, "what it has added");
});

// The first recorder of another frame ends the recording before it, which no recorder uses any
// more.
const Scenario closed_forgotten("command_bucket/closed_before_another_frame", [] {
  Audited<Frame> frame(FrameOptions{.in_flight = 2, .chunk_bytes = 1024});
  PlainBucket bucket(frame);
  Flag added;
  explore::Thread other([&] {
    PlainBucket::Recorder recorder = bucket.recorder(0);
    recorder.add<Number>(1).number = 7;
    added.raise();
  });
  added.await();
  explore::check(frame.next() == Status::ok, "nobody holds it");
  when_closed([&] { bucket.recorder(0).add<Number>(1).number = 8; });
  check_order(bucket, 8);
});

// A chunk that throws is dropped while another thread records: with its chain, and counted once.
const Scenario dropped("command_bucket/dropped_chunk", [] {
  Bucket bucket;
  InlineExecutor here;
  explore::Thread other([&] { bucket.recorder(0).add<Number>(0).number = 5; });
  int calls = 0;
  try {
    bucket.record(here, 2, 1, [&](PlainBucket::Recorder& recorder, IndexRange) {
      Number& head = recorder.add<Number>(0);
      head.number = 1;
      for (std::uint32_t i = 2; i <= 4; ++i) recorder.append<Number>(head).number = i;
      if (++calls == 2) throw std::domain_error("as asked");
    });
    explore::check(false, "it leaves record()");
  } catch (const std::domain_error&) {
    // as asked
  }
  other.join();
  const Tally before = bucket.tally();
  explore::check(before.accepted == 9 && before.cancelled == 4 && before.pending == 5, "counted");
  Sees sees;
  bucket.dispatch(sees);
  explore::check(sees.digits == 12345 || sees.digits == 51234, "the chunk that did not throw");
  bucket.clear();
  const Tally after = bucket.tally();
  explore::check(after.accepted == 9 && after.cancelled == 4 && after.done == 5, "once");
});

// A call during a dispatch of another thread is misuse, and is told.
struct Meets {
  Flag inside;
  Flag told;
};
struct Meeting {
  void operator()(Meets& meets) const {
    meets.inside.raise();
    meets.told.await();
  }
};
const Scenario meets_dispatch("command_bucket/others_meet_a_dispatch", [] {
  Audited<CommandBucket<std::uint32_t, Meets>> bucket;
  bucket.recorder(0).add<Meeting>(0);
  Meets meets;
  explore::Thread owner([&] { bucket.dispatch(meets); });
  meets.inside.await();
  int refused = 0;
  const auto try_to = [&](const auto& call) {
    try {
      call();
    } catch (const std::logic_error&) {
      ++refused;
    }
  };
  try_to([&] { (void)bucket.recorder(1); });
  try_to([&] { bucket.sort(); });
  try_to([&] { bucket.dispatch(meets); });
  try_to([&] { bucket.clear(); });
  explore::check(refused == 4, "each of them");
  meets.told.raise();
});

// Chunks on two threads; what is left of a segment goes from recorder to recorder.
const Scenario chunks("command_bucket/chunks", [] {
  Bucket bucket;
  Two two;
  bucket.record(two, 4, 1, [](PlainBucket::Recorder& recorder, IndexRange range) {
    recorder.add<Number>(0).number = static_cast<std::uint32_t>(range.first + 1);
  });
  bucket.record(two, 2, 1, [](PlainBucket::Recorder& recorder, IndexRange range) {
    recorder.add<Number>(0).number = static_cast<std::uint32_t>(range.first + 5);
  });
  bucket.sort(two);
  check_order(bucket, 123456);
});

// A recorder that another thread closes, and one that comes after it there.
const Scenario handed_over("command_bucket/handed_over", [] {
  Bucket bucket;
  {
    PlainBucket::Recorder recorder = bucket.recorder(1);
    Number& first = recorder.add<Number>(0);
    first.number = 1;
    explore::Thread other([&] {
      PlainBucket::Recorder mine(std::move(recorder));
      mine.append<Number>(first).number = 2;
    });
    PlainBucket::Recorder third = bucket.recorder(2);
    third.add<Number>(0).number = 3;
    other.join();
  }
  check_order(bucket, 123);
});

// The frame of a recording goes on while a late dispatch reads it.
const Scenario late_dispatch("command_bucket/late_dispatch", [] {
  Audited<Frame> frame(FrameOptions{.in_flight = 2, .chunk_bytes = 1024});
  PlainBucket bucket(frame);
  bucket.recorder(0).add<Number>(0).number = 5;
  explore::Thread consumer([&] {
    Sees sees;
    try {
      bucket.dispatch(sees);
      explore::check(sees.digits == 5, "it is not written again");
    } catch (const std::logic_error&) {
      explore::outcome(1);  // it came too late, and was told
    }
  });
  for (int i = 0; i < 2; ++i) {
    explore::check(frame.next() == Status::ok, "a dispatch ends");
    *frame.arena().make<int>(i) = 9;
  }
});

// Figures are asked for while the frame of the recording ends: they hold it, or find it gone.
const Scenario figures_late("command_bucket/figures_race_next", [] {
  Audited<Frame> frame(FrameOptions{.in_flight = 1, .chunk_bytes = 1024});
  PlainBucket bucket(frame);
  bucket.recorder(0).add<Number>(0).number = 5;
  explore::Thread owner([&] {
    const CommandStatistics figures = bucket.statistics();
    explore::check(figures.commands <= 1 && figures.recorders == figures.commands,
                   "all of the recording or nothing");
    explore::check(bucket.tally().accepted == 1, "the Tally needs no frame");
    explore::outcome(figures.commands);
  });
  explore::check(frame.next() == Status::ok, "a look ends");
  *frame.arena().make<int>(0) = 9;
});

// Two lists at once, each with its part of the order.
const Scenario lists("command_bucket/two_lists", [] {
  Bucket bucket;
  Two two;
  {
    PlainBucket::Recorder recorder = bucket.recorder(0);
    for (std::uint32_t i = 4; i > 0; --i) recorder.add<Number>(i).number = i;
  }
  bucket.sort();
  std::array<Sees, 2> sees;
  const auto nothing = [](std::uint32_t /*key*/, Sees& /*list*/) {};
  bucket.dispatch(two, std::span(sees), when_changed(~0U, nothing));
  explore::check(sees[0].digits == 12 && sees[1].digits == 34, "one after the other");
  const CommandStatistics figures = bucket.statistics();
  explore::check(figures.dispatches == 1 && figures.key_changes == 4, "of the dispatch");
  explore::check(figures.segments == 1 && figures.memory >= 4 * sizeof(Number), "of the memory");
  bucket.clear();
  bucket.recorder(0).add<Number>(0).number = 5;
  bucket.dispatch(two, std::span(sees));
  explore::check(sees[1].digits == 345 || sees[0].digits == 125, "of another recording");
  explore::check(bucket.statistics().dispatches == 1, "its first");
});

// A bucket that comes after one that another thread dispatches.
const Scenario after("command_bucket/after", [] {
  Bucket first;
  Bucket second;
  second.after(first);
  first.recorder(0).add<Number>(0).number = 1;
  Sees sees;
  explore::Thread other([&] { first.dispatch(sees); });
  Sees later;
  bool dispatched = false;
  try {
    second.dispatch(later);
    dispatched = true;
    explore::check(sees.digits == 1, "what the first dispatch did comes before");
  } catch (const std::logic_error&) {
    explore::outcome(1);  // it was not dispatched yet
  }
  other.join();
  if (!dispatched) second.dispatch(later);
});

// A load that finds no room leaves nothing behind, in the books neither.
const Scenario load_full("command_bucket/load_finds_no_room", [] {
  PlainBucket from;
  from.state<Number>().number = 1;
  {
    PlainBucket::Recorder recorder = from.recorder(0);
    for (std::uint32_t i = 0; i < 40; ++i) recorder.add<Number>(i).number = 2;
  }
  const auto image = from.captured();
  Audited<CommandBucket<std::uint32_t, Sees>> full(CommandBucketOptions{.memory_most = 512});
  full.state<Number>().number = 3;
  try {
    full.load<Number>(std::span(image));
    explore::check(false, "there is no room");
  } catch (const std::length_error&) {
    explore::outcome(1);
  }
  Sees sees;
  full.dispatch(sees);
  explore::check(sees.digits == 3, "what was there before");
  explore::check(full.statistics().refused == 1, "that it was asked for more");
});

}}  // namespace command_bucket_scenarios
