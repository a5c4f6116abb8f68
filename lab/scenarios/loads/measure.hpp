// SPDX-License-Identifier: MIT
// Measures a way in `loads`. A contender's Way is made from a width and has what the loads need
// that it can do; one that it cannot do is not measured with it:
//
//   loop(count, body)           body(i) for each index
//   uneven_loop(count, body)    the same where indices differ, if it does that in another way
//   enter(root), Group          tasks, and tasks that hand over tasks: as in `forkjoin`
//   begin(count), post(piece), wait()
//                               tasks only that hand over none: piece() is called once, somewhere
#pragma once

#include "harness/contender.hpp"
#include "peers/answer.hpp"
#include "peers/forks.hpp"
#include "peers/job.hpp"
#include "scenarios/loads/draw.hpp"
#include "scenarios/loads/work.hpp"

namespace handoff::lab::loads {

// The load that was drawn, and its pieces.
struct Task {
  explicit Task(const Parameters& given)
      : load(draw(given.number("seed"), given.number("draw"))),
        pieces(pieces_of(load)),
        width(given.number("width")) {
    if (load.by_memory) have_memory();
  }

  Load load;
  std::vector<Piece> pieces;
  std::size_t width;  // threads that execute, the caller included where it helps
  std::shared_ptr<peers::Common<std::size_t>> shift =  // of the walks, another one each operation
      std::make_shared<peers::Common<std::size_t>>();
  Answer* output = nullptr;
};

// A contender's own, usually `return measure<Way>(task);`. The task outlives it.
Operation contender(const Task& task);

// Does a piece, and counts it on the thread that it is called by.
struct Run {
  const Task* task;
  std::size_t index;

  void operator()() const {
    const std::uint64_t number = index + 1;
    const Piece& piece = task->pieces[index];
    const std::uint64_t result =
        task->load.by_memory ? walk(number, piece, **task->shift) : compute(number, piece);
    peers::Slot& slot = peers::Board::mine();
    ++slot.runs;
    slot.sum += peers::fold(result);
  }
  [[nodiscard]] std::size_t kind() const { return task->pieces[index].kind; }
};

template <class Way>
concept HasLoops = requires(Way& way) { way.loop(std::size_t{}, [](std::size_t) {}); };
template <class Way>
concept HasUnevenLoops = requires(Way& way) { way.uneven_loop(std::size_t{}, [](std::size_t) {}); };
template <class Way>
concept HasGroups = requires(Way& way) {
  typename Way::Group;
  way.enter([] {});
};
template <class Way>
concept HasPosts = requires(Way& way) {
  way.begin(std::size_t{});
  way.post(Run{});
  way.wait();
};

namespace detail {

// What arrives at once.
struct Wave {
  const Task& task;
  std::size_t first;
  std::size_t size;

  void run(std::size_t i) const { Run{&task, first + i}(); }
};

template <HasLoops Way>
void loop(Way& way, const Wave& wave) {
  const auto body = [wave](std::size_t i) { wave.run(i); };
  if constexpr (HasUnevenLoops<Way>) {
    if (wave.task.load.skew != Skew::none) return way.uneven_loop(wave.size, body);
  }
  way.loop(wave.size, body);
}

// The pieces as a tree: the children of piece i follow those of piece i - 1.
template <HasGroups Way>
void branch(Way& way, const Wave& wave, std::size_t i) {
  const std::size_t fan_out = wave.task.load.fan_out;
  const std::size_t begin = i * fan_out + 1;
  const std::size_t end = std::min(begin + fan_out, wave.size);
  if (begin >= end) return wave.run(i);
  typename Way::Group group(way);
  for (std::size_t child = begin; child < end; ++child) {
    group.run([&way, &wave, child] { branch(way, wave, child); });
  }
  wave.run(i);
  group.wait();
}

template <HasGroups Way>
void tasks(Way& way, const Wave& wave) {
  way.enter([&way, &wave] {
    if (wave.task.load.fan_out > 0) return branch(way, wave, 0);
    typename Way::Group group(way);
    for (std::size_t i = 0; i < wave.size; ++i) group.run(Run{&wave.task, wave.first + i});
    group.wait();
  });
}

template <HasPosts Way>
void posts(Way& way, const Wave& wave) {
  way.begin(wave.size);
  for (std::size_t i = 0; i < wave.size; ++i) way.post(Run{&wave.task, wave.first + i});
  way.wait();
}

// What advice may be told of the load, as far as it is a number.
inline void describe(const Task& task, Burst& burst) {
  const Load& load = task.load;
  double sum = 0;
  double most = 0;
  for (const Piece& piece : task.pieces) {
    sum += piece.work;
    most = std::max<double>(most, piece.work);
  }
  burst.figure("largest", most / sum * static_cast<double>(load.count));  // of the mean
  burst.figure("kinds", static_cast<double>(load.kinds));
  burst.figure("waves", static_cast<double>(load.waves));
  burst.figure("fan_out", static_cast<double>(load.fan_out));
  burst.figure("by_index", load.by_index ? 1 : 0);
  burst.figure("by_memory", load.by_memory ? 1 : 0);
}

// All waves are an operation. Between two of them every way has time to fall asleep, which is not
// timed.
template <class Way, class Hand>
Operation measured(const Task& task, const std::shared_ptr<Way>& way, const Hand& hand) {
  return [&task, way, hand](Burst& burst) {
    const Load& load = task.load;
    peers::Board::clear();
    if (load.by_memory) **task.shift = (**task.shift + kShift) % kLines;
    for (std::size_t i = 0; i < load.waves; ++i) {
      const std::size_t first = begin_of_wave(load, i);
      const Wave wave{task, first, begin_of_wave(load, i + 1) - first};
      if (load.waves > 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      burst.timed([&] { hand(*way, wave); });
    }
    burst.items(static_cast<double>(load.count));
    describe(task, burst);
    const peers::Answer counted = peers::Board::total(burst);
    *task.output = {counted.runs, counted.sum, **task.shift};
  };
}

}  // namespace detail

template <class Way>
Operation measure(const Task& task) {
  const Load& load = task.load;
  if constexpr (requires { Way::kOwnMemory; }) {
    if (load.by_memory) throw Unavailable("its processes share no memory");
  }
  const auto by = [&task](auto hand) {
    return detail::measured(task, std::make_shared<Way>(task.width), hand);
  };
  if (load.by_index) {
    if constexpr (HasLoops<Way>) return by(&detail::loop<Way>);
    throw Unavailable("the load is a loop, which it does not divide");
  }
  if constexpr (HasGroups<Way>) return by(&detail::tasks<Way>);
  if (load.fan_out > 0) throw Unavailable("the load has tasks that wait for tasks");
  if constexpr (HasPosts<Way>) return by(&detail::posts<Way>);
  throw Unavailable("the load has tasks, and it divides loops");
}

}  // namespace handoff::lab::loads
