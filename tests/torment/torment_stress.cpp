// SPDX-License-Identifier: MIT
//
// The library's parts while threads are stopped at arbitrary instructions, moved between CPUs and
// interrupted in their system calls. What is lost shows as a wait that nobody ends.
// No failure in n rounds bounds the rate of failures below 3/n (95 %); the rounds and stalls that
// were reached are printed.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/spsc_ring.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/pause.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/team/thread_team.hpp>
#include <iostream>
#include <numeric>
#include <thread>
#include <vector>

#include "books/queue_books.hpp"
#include "support/support.hpp"
#include "support/torment.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using sync::EventCount;
using sync::Wakeup;
using test::Torment;

// Goes on for some seconds, longer in a deep run; or until that many stalls.
class Rounds {
 public:
  Rounds() = default;
  explicit Rounds(std::uint64_t stalls_most) : stalls_most_(stalls_most) {}
  bool more() noexcept {
    ++rounds_;
    return stalls_most_ != 0 ? Torment::stalls() - stalls_ < stalls_most_
                             : std::chrono::steady_clock::now() < end_;
  }
  ~Rounds() {
    std::cout << "  " << rounds_ << " rounds, " << Torment::stalls() - stalls_ << " stalls\n";
  }

 private:
  std::uint64_t rounds_ = 0;
  std::uint64_t stalls_most_ = 0;
  std::uint64_t stalls_ = Torment::stalls();
  std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + (test::deep() ? 60s : 3s);
};

// Each in turn makes the other's condition true and notifies; `await` is how they wait. Stops at
// the first wake-up that does not come within a second. How many turns there were and whether all
// wake-ups came.
struct PingPong {
  EventCount events[2];
  std::atomic<std::uint64_t> turn{0};
  std::atomic<bool> lost{false};

  template <class Await>
  bool play(std::uint64_t me, std::uint64_t round, const Await& await) {
    const std::uint64_t mine = 2 * round + me;
    const auto is_mine = [&] { return turn.load() >= mine; };
    if (await(events[me], is_mine) == Wakeup::timed_out && !is_mine()) return false;
    turn.store(mine + 1);
    events[1 - me].notify_one();
    return true;
  }
};

// A stalled peer is late, not lost: only a sleep that goes on although the condition holds is.
template <class Await>
bool all_wake_ups_come(const Await& await, Rounds rounds = Rounds()) {
  PingPong game;
  std::atomic<bool> over{false};
  const auto side = [&](std::uint64_t me) {
    for (std::uint64_t round = 0; !over; ++round) {
      if (!game.play(me, round, await)) break;
    }
  };
  sync::Thread other({.name = "pong"}, [&] { side(1); });
  sync::Thread self({.name = "ping"}, [&] { side(0); });
  bool lost = false;
  while (!lost && rounds.more()) {
    const std::uint64_t before = game.turn;
    for (int i = 0; i < 2000 && game.turn == before; ++i) std::this_thread::sleep_for(1ms);
    lost = game.turn == before;
  }
  over = true;
  game.turn = ~std::uint64_t{0} / 2;  // everybody's turn: let them out
  for (int i = 0; i < 100; ++i) {
    for (auto& events : game.events) events.notify_all();
    std::this_thread::sleep_for(1ms);
  }
  return !lost;
}

TEST(Torment, NoWakeUpIsLost) {
  for (const bool restart : {true, false}) {
    const Torment torment({.restart = restart});
    EXPECT_TRUE(all_wake_ups_come([](EventCount& events, auto condition) {
      return events.await(condition, sync::no_deadline, {}, sync::Spin::never);
    }));
  }
}

// The same harness, an await that spins for a moment and then does not look again after it is
// registered: found before twenty thousand stalls, most often before two thousand. Stalls are its
// only bound: a bound of time would count how fast the machine is.
TEST(Torment, CanaryALostWakeUpIsFound) {
  const Torment torment;
  EXPECT_FALSE(all_wake_ups_come(
      [](EventCount& events, auto condition) {
        if (condition()) return Wakeup::notified;
        for (int spins = 0; spins < 30; ++spins) sync::pause();
        EventCount::Waiter waiter(events);
        return waiter.wait();
      },
      Rounds(20'000)));
}

TEST(Torment, AMutexKeepsPlainDataWhole) {
  const Torment torment;
  sync::Mutex mutex;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::atomic<bool> quit{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!quit) {
        const sync::Lock lock(mutex);
        ASSERT_EQ(a, b);
        ++a;
        ++b;
      }
    });
  }
  Rounds rounds;
  while (rounds.more()) std::this_thread::sleep_for(10ms);
  quit = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(a, b);
}

TEST(Torment, RingsLoseAndRepeatNothing) {
  const Torment torment;
  Rounds rounds;
  while (rounds.more()) {
    handoff::test::Audited<MpmcRing<std::uint64_t>> ring(4);
    constexpr std::uint64_t each = 2'000;
    std::atomic<std::uint64_t> sum{0};
    std::vector<std::thread> threads;
    for (std::uint64_t producer = 0; producer < 2; ++producer) {
      threads.emplace_back([&, producer] {
        for (std::uint64_t i = 1; i <= each; ++i) {
          while (ring.try_push(producer * each + i) != Status::ok) std::this_thread::yield();
        }
      });
      threads.emplace_back([&] {
        std::uint64_t item = 0;
        for (;;) {
          const Status status = ring.try_pop(item);
          if (status == Status::closed) return;
          if (status == Status::ok) sum += item;
          if (status == Status::empty) std::this_thread::yield();
        }
      });
    }
    threads[0].join();
    threads[2].join();
    ring.close();
    threads[1].join();
    threads[3].join();
    ASSERT_EQ(sum, 2 * each * (2 * each + 1) / 2);
  }
}

TEST(Torment, ATeamDoesEveryIndexOnce) {
  for (const std::size_t width : {2U, 5U}) {
    ThreadTeam team({.width = width});
    const Torment torment({.restart = false});
    Rounds rounds;
    while (rounds.more()) {
      std::vector<unsigned char> times(300);
      const Tally tally = team.run(times.size(), [&](IndexRange range) {
        for (const std::size_t i : range) ++times[i];
      });
      ASSERT_EQ(tally.done, times.size());
      ASSERT_EQ(times, std::vector<unsigned char>(300, 1));
    }
  }
}

}  // namespace
