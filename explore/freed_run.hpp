// SPDX-License-Identifier: MIT
//
// What the scenarios of teams and of pools run: a started run that frees itself when it is told of,
// so that a thread that touches it later uses memory that was given back; and blocks that meet.
#pragma once

#include <cstddef>
#include <handoff/core/bulk.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <memory>
#include <stdexcept>

#include "explore/scenario.hpp"

namespace handoff::test {

// So many threads wait for one another. It orders nothing that they did before.
class Meeting {
 public:
  explicit Meeting(int count) : missing_(count) {}

  void come() {
    // order: relaxed, here and below: a count and nothing else.
    if (missing_.fetch_sub(1, sync::order::relaxed) == 1) return met_.notify_all();
    (void)met_.await([this] { return over(); });
  }
  bool over() const { return missing_.load(sync::order::relaxed) == 0; }  // order: relaxed

 private:
  sync::atomic<int> missing_;
  sync::EventCount met_;
};

// Plain counters, one an index, and what the completion was told. The run is freed by its own
// completion: a thread that looks at it later uses memory that was given back.
template <class B, std::size_t count>
class FreedRun final : public BulkWork {
 public:
  struct Told {
    sync::cell<Tally> tally;
    sync::cell<std::size_t> done;  // by the counters
    sync::atomic<int> times{0};
    sync::EventCount over;

    void await() {
      (void)over.await([this] {
        // order: acquire pairs with the release in ended(): the figures.
        return times.load(sync::order::acquire) != 0;
      });
    }
    // When it has been told of.
    Tally once() {
      explore::check(times.load(sync::order::relaxed) == 1, "told once");  // order: relaxed
      explore::check(tally.read().balanced(), "the tally is exact");
      explore::check(tally.read().accepted == count, "all indices");
      explore::check(tally.read().done + tally.read().failed == done.read(), "as it was counted");
      return tally.read();
    }
  };

  static void start(B& bulk, Told& told, RunOptions options = {}, std::size_t throws_at = count) {
    explore::check(try_start(bulk, told, options, throws_at), "taken");
  }
  // Beside a close: whether it was taken.
  static bool try_start(B& bulk, Told& told, RunOptions options = {},
                        std::size_t throws_at = count) {
    std::unique_ptr<FreedRun> run(new FreedRun(told, throws_at));
    const Status status = bulk.start(count, *run, run->storage_, options);
    explore::check(status == Status::ok || status == Status::closed, "or why not");
    if (status == Status::ok) (void)run.release();  // it may be gone
    return status == Status::ok;
  }

  void block(std::size_t first, std::size_t last) override {
    for (std::size_t i = first; i < last; ++i) times_[i].write() += 1;
    if (first <= throws_at_ && throws_at_ < last) throw std::runtime_error("planned");
  }
  void ended(const Tally& tally) noexcept override {
    Told& told = told_;
    told.tally.write() = tally;
    std::size_t sum = 0;
    for (const auto& times : times_) {
      explore::check(times.read() <= 1, "no index twice");
      sum += static_cast<std::size_t>(times.read());
    }
    told.done.write() = sum;
    delete this;
    // order: release pairs with the acquire in await().
    told.times.fetch_add(1, sync::order::release);
    told.over.notify_all();
  }

 private:
  FreedRun(Told& told, std::size_t throws_at) : told_(told), throws_at_(throws_at) {}

  Told& told_;
  const std::size_t throws_at_;
  sync::cell<int> times_[count];
  typename B::BulkStorage storage_;
};

}  // namespace handoff::test
