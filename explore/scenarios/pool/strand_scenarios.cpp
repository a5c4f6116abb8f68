// SPDX-License-Identifier: MIT
//
// A strand and a loop: the hand-over of the turn, its end against a post and a close, refusals; a
// post against the sleep of the loop's owner. docs/design/strand.md.
#include <handoff/core/closing.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/future_host.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/pool/detail/inbox_calls.hpp>
#include <handoff/pool/detail/strand.hpp>
#include <handoff/pool/loop_executor.hpp>
#include <handoff/pool/serial_executor.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "explore/scenario.hpp"

namespace strand_scenarios { namespace {

using namespace handoff;
using namespace test;

// Runs what comes until it is shut.
void serve(LoopExecutor& loop) {
  while (loop.wait() == Status::ok) (void)loop.drain();
}

// The tasks of a strand, which see what the ones before them did without more.
struct Record {
  // Task `number` of its producer.
  void add(std::size_t producer, int number) {
    explore::check(last[producer].read() < number, "in the order of its producer");
    last[producer].write() = number;
    ++count.write();
  }
  sync::cell<int> last[2];
  sync::cell<int> count;
};

// Two producers: one of them makes the turn, and the other may do so again behind its end.
const Scenario two_producers("strand/two_producers", [] {
  LoopExecutor loop;
  Record record;
  {
    SerialExecutor strand(loop);
    explore::Thread other([&] {
      explore::check(strand.try_post([&] { record.add(0, 1); }) == Status::ok, "accepted");
    });
    explore::Thread server([&] { serve(loop); });
    explore::check(strand.try_post([&] { record.add(1, 1); }) == Status::ok, "accepted");
    explore::check(strand.try_post([&] { record.add(1, 2); }) == Status::ok, "accepted");
    other.join();
    const Tally tally = strand.close();
    explore::check(tally.done == 3 && tally.balanced(), "all ran");
    explore::check(record.count.read() == 3, "before the close returned");
    loop.shut();
    server.join();
  }
  explore::outcome(loop.tally().accepted);  // turns
});

// Two threads, which have the turn one after the other.
struct Alternating {
  template <class F>
  Status try_post(F&& function) {
    return loops[next++ % 2].try_post(std::forward<F>(function));
  }
  static std::size_t width() { return 2; }

  LoopExecutor loops[2];
  std::size_t next = 0;  // whoever makes the turn, or gives it on
};
const LargeScenario hand_over("strand/hand_over_of_the_turn", [] {
  Alternating executor;
  Record record;
  {
    SerialExecutor strand(executor);
    explore::Thread one([&] { serve(executor.loops[0]); });
    explore::Thread two([&] { serve(executor.loops[1]); });
    for (int i = 1; i <= 3; ++i) strand.post([&record, i] { record.add(0, i); });
    explore::check(strand.close().done == 3, "all ran");
    executor.loops[0].shut();
    executor.loops[1].shut();
  }
  explore::check(record.count.read() == 3, "once each");
  explore::outcome(executor.next);
});

// The strand's memory goes behind the close, though the turn's thread may still be there.
const Scenario close_against_post("strand/close_against_post", [] {
  LoopExecutor loop;
  explore::Thread server([&] { serve(loop); });
  auto strand = std::make_unique<SerialExecutor<LoopExecutor>>(loop);
  sync::cell<int> ran;
  unsigned accepted = 0;
  explore::Thread producer([&] {
    if (strand->try_post([&] { ++ran.write(); }) == Status::ok) ++accepted;
    if (strand->try_post([&] { ++ran.write(); }) == Status::ok) ++accepted;
  });
  const Tally tally = strand->close();
  explore::check(tally.balanced() && tally.pending == 0, "all is told");
  producer.join();
  explore::check(tally.done == accepted && ran.read() == static_cast<int>(accepted),
                 "what was accepted ran");
  strand.reset();
  loop.shut();
  server.join();
  explore::outcome(accepted);
});

const Scenario abandon("strand/abandon", [] {
  LoopExecutor loop;
  explore::Thread server([&] { serve(loop); });
  auto strand = std::make_unique<SerialExecutor<LoopExecutor>>(loop);
  sync::cell<int> ran;
  Future<void> future = strand->submit([&] { ++ran.write(); });
  const Tally tally = strand->close(Closing::abandon);
  strand.reset();
  explore::check(tally.done + tally.cancelled == 1 && tally.balanced(), "one of the two");
  explore::check(future.is_ready(), "and its Future knows");
  explore::check(ran.read() == static_cast<int>(tally.done), "as it is told");
  loop.shut();
  server.join();
  explore::outcome(tally.done);
});

// Who finds a task counted sees what it did.
const Scenario counted("strand/counted", [] {
  LoopExecutor loop;
  SerialExecutor strand(loop);
  sync::cell<int> ran;
  strand.post([&] { ran.write() = 1; });
  explore::Thread server([&] { (void)loop.drain(); });
  const Tally tally = strand.tally();
  explore::check(tally.balanced(), "at any moment");
  if (tally.done == 1) explore::check(ran.read() == 1, "what it did");
  explore::outcome(tally.done);
  server.join();
});

// An executor that refuses: nobody's task is lost, and each refused one is its producer's.
template <Status kSays, bool kThrows = false>
struct Refuses {
  template <class F>
  Status try_post(F&&) {
    if constexpr (kThrows) throw NotRun(kSays);
    return kSays;
  }
  static std::size_t width() { return 1; }
};
template <Status kSays, bool kThrows = false>
void refused() {
  Refuses<kSays, kThrows> executor;
  SerialExecutor strand(executor);
  sync::cell<int> ran;
  bool other_accepted = false;
  const auto try_post = [&] {
    try {
      return strand.try_post([&] { ++ran.write(); }) == Status::ok;
    } catch (const NotRun&) {
      return false;
    }
  };
  explore::Thread other([&] { other_accepted = try_post(); });
  const bool accepted = try_post();
  other.join();
  const Tally tally = strand.close();
  const int told = (accepted ? 1 : 0) + (other_accepted ? 1 : 0);
  explore::check(tally.balanced() && tally.accepted == static_cast<std::uint64_t>(told), "counted");
  explore::check(told < 2, "one of them was refused");
  explore::check(ran.read() == (kSays == Status::full ? told : 0), "run, or cancelled");
  explore::outcome(static_cast<std::uint64_t>(told));
}
const Scenario full("strand/refused_by_a_full_executor", &refused<Status::full>);
const Scenario closed("strand/refused_by_a_closed_executor", &refused<Status::closed>);
const Scenario throws_full("strand/a_full_executor_throws", &refused<Status::full, true>);
const Scenario throws_closed("strand/a_closed_executor_throws", &refused<Status::closed, true>);

// ---- Tasks that wait ----------------------------------------------------------------------------

// A pool, as far as a strand knows one: what runs a loop's functions, and tasks that may wait.
struct PlayedPool final : detail::FutureHost {
  LoopExecutor loop;
};
struct PlayedTask final : detail::Workplace {
  explicit PlayedTask(PlayedPool& pool) : Workplace(pool, 0) {
    depth = 1;
    outer = std::exchange(detail::workplace(), this);
  }
  ~PlayedTask() { detail::workplace() = outer; }
  void run_inside(const Call& call) noexcept override { call.function(call.argument); }
  bool has_own() const noexcept override { return false; }
  void begin_blocking() noexcept override {}
  void end_blocking() noexcept override {}
};
class PlayedStrand : public detail::InboxCalls<PlayedStrand> {
 public:
  explicit PlayedStrand(PlayedPool& pool)
      : pool_(pool), strand_(new detail::Strand(&pool.loop, &pass_on, &pool, {})) {}
  detail::FutureHost* host() { return strand_->host(); }
  template <class Make>
  Status put(const Make& make, bool /*waits*/) {
    return strand_->put(make, [&](auto turn) { return pool_.loop.try_post(std::move(turn)); });
  }

 private:
  static Status pass_on(void* loop, detail::Strand::Turn& turn) {
    return static_cast<LoopExecutor*>(loop)->try_post(std::move(turn));
  }
  PlayedPool& pool_;
  detail::Strand::Owner strand_;
};

// The waiting tasks run the strand's tasks. It ends before its functions come, with nothing to do.
const Scenario all_wait("strand/nobody_but_tasks_that_wait", [] {
  PlayedPool pool;
  Record record;
  {
    PlayedStrand strand(pool);
    explore::Thread other([&] {
      const PlayedTask here(pool);
      explore::check(strand.submit([&] {
                             record.add(0, 1);
                             return 1;
                           }).get() == 1,
                     "ran");
    });
    const PlayedTask here(pool);
    explore::check(strand.submit([&] {
                           record.add(1, 1);
                           return 2;
                         }).get() == 2,
                   "ran");
    other.join();
  }
  explore::check(record.count.read() == 2, "once each");
  (void)pool.loop.drain();
  explore::outcome(pool.loop.tally().accepted);
});

// A task that waits against the function: for the turn, and for the last of the strand.
const Scenario wait_against_function("strand/a_wait_against_the_function", [] {
  PlayedPool pool;
  Record record;
  explore::Thread server([&] { serve(pool.loop); });
  {
    PlayedStrand strand(pool);
    strand.post([&] { record.add(0, 1); });
    const PlayedTask here(pool);
    strand.submit([&] { record.add(0, 2); }).get();
    explore::check(record.count.read() == 2, "in order");
    strand.post([&] { record.add(0, 3); });
  }
  explore::check(record.count.read() == 3, "before its end");
  pool.loop.shut();
  server.join();
  explore::outcome(pool.loop.tally().accepted);
});

// The turn is passed on and left while another one sleeps for it.
const LargeScenario called("strand/who_sleeps_is_called", [] {
  PlayedPool pool;
  Record record;
  explore::Thread server([&] { (void)pool.loop.drain(); });
  {
    PlayedStrand strand(pool);
    explore::Thread other([&] {
      const PlayedTask here(pool);
      strand.submit([&] { record.add(0, 1); }).get();
    });
    for (int i = 1; i <= 2; ++i) strand.post([&record, i] { record.add(1, i); });
    const PlayedTask here(pool);
    strand.submit([&] { record.add(1, 3); }).get();
    other.join();
  }
  server.join();
  (void)pool.loop.drain();
  explore::check(record.count.read() == 4, "once each");
  explore::outcome(pool.loop.tally().accepted);
});

// ---- The loop -----------------------------------------------------------------------------------

const Scenario post_against_sleep("loop_executor/post_against_sleep", [] {
  LoopExecutor loop;
  sync::cell<int> ran;
  explore::Thread producer([&] {
    loop.post([&] { ++ran.write(); });
    loop.post([&] { ++ran.write(); });
  });
  int drains = 0;
  while (ran.read() < 2) {
    explore::check(loop.wait() == Status::ok, "told");
    explore::check(loop.drain() != 0, "of something");
    ++drains;
  }
  producer.join();
  explore::outcome(static_cast<std::uint64_t>(drains));
});

const Scenario shut_against_wait("loop_executor/shut_against_wait", [] {
  LoopExecutor loop;
  sync::cell<int> ran;
  explore::Thread producer([&] {
    (void)loop.try_post([&] { ++ran.write(); });
    loop.shut();
  });
  serve(loop);
  explore::check(ran.read() == 1, "what was accepted runs");
  producer.join();
  explore::check(loop.close().done == 1, "and is counted");
});

// The function of then(executor, f) against the thread that makes the result, and a closed loop.
const Scenario then_on_loop("loop_executor/then", [] {
  LoopExecutor loop;
  LoopExecutor maker;
  sync::cell<int> seen;
  Future<int> next =
      maker.submit([] { return 1; }).then(loop, [&](int one) { return seen.write() = one; });
  explore::Thread other([&] { (void)maker.drain(); });
  explore::Thread closer([&] { loop.shut(); });
  serve(loop);
  other.join();
  closer.join();
  explore::check(next.is_ready(), "a result, or why there is none");
  explore::outcome(static_cast<std::uint64_t>(seen.read()));
});

}}  // namespace strand_scenarios
