// SPDX-License-Identifier: MIT
// Measures a pipeline of three empty stages. A way is a class that is made from a width and the
// kind of its stages, and has run(work): all items come from a first stage, which is serial and in
// order, and go through work.middle() and work.last(), whose mode `kind` says.
#pragma once

#include "peers/job.hpp"
#include "scenarios/pipeline/items.hpp"

namespace handoff::lab::pipeline {

struct Task {
  explicit Task(const Parameters& parameters) : given(parameters) {}

  Parameters given;
  std::string metric = given.text("metric");
  // serial, parallel, in_order; mixed: the middle parallel, the last in order
  std::string kind = given.text("kind", "");
  std::size_t mib = given.number("mib", 0);
  std::size_t level = given.number("level", 0);
  std::size_t width = given.number("width");
  Answer* output = nullptr;
};

// A contender's own, usually `return measure<Way>(task);`. The task outlives it.
Operation contender(const Task& task);

// The stages behind the first one, which numbers the items. An item is 8 bytes: as large as what
// all ways carry in place.
class Work {
 public:
  explicit Work(const std::string& kind) : ordered_(kind == "in_order" || kind == "mixed") {}

  static std::uint64_t middle(std::uint64_t item) {
    static_cast<void>(peers::Job{item + 1, 0}());
    return ~item;
  }
  void last(std::uint64_t item) {
    item = ~item;
    left_[item] = left_of(item, run_);
    if (ordered_ && item != next_++) ++disorder_;
  }

  void begin(std::uint64_t run) {
    run_ = run;
    next_ = disorder_ = 0;
  }
  [[nodiscard]] std::uint64_t digest() const { return digest_of(left_); }
  [[nodiscard]] std::uint64_t disorder() const { return disorder_; }

 private:
  const bool ordered_;
  std::vector<std::uint64_t> left_ = std::vector<std::uint64_t>(items);
  std::uint64_t run_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t disorder_ = 0;
};

// Two runs, so that an item that was lost is not what an earlier run has left.
template <class Way>
Operation measure(const Task& task) {
  auto way = std::make_shared<Way>(task.width, task.kind);
  auto work = std::make_shared<Work>(task.kind);
  return [&task, way, work](Burst& burst) {
    peers::Board::clear();
    *task.output = {};
    for (std::uint64_t run = 0; run < 2; ++run) {
      work->begin(run);
      burst.timed([&] { way->run(*work); });
      task.output->digest += work->digest();
      task.output->disorder += work->disorder();
    }
    task.output->jobs = peers::Board::total(burst);
    burst.items(static_cast<double>(2 * items));
  };
}

}  // namespace handoff::lab::pipeline
