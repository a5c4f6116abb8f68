// SPDX-License-Identifier: MIT
// Measures a contender in `algorithms`. Its Way is made from a width and has, of these, those that
// it is listed for:
//
//   void sort(std::span<T>), stable_sort(std::span<T>)      of Int, std::string and Record
//   void scan(std::span<const Int>, std::span<Int>)         running sums, each with its own item
//   Int reduce(std::span<const Int>)                        the sum
//   void transform(std::span<const Int>, std::span<Int>)    transformed() of each
//   std::size_t find_if(std::span<const Int>)               where the first is_wanted() is
//   std::size_t count_if(std::span<const Int>)              how many are is_small()
//   void merge(std::span<const Int>, std::span<const Int>, std::span<Int>)
//   std::size_t partition(std::span<Int>)                   those that are is_small() first
//   void begin(), end()                                     around what is timed, if there
//
// Items that are moved are made anew before each operation, which is not timed.
#pragma once

#include "harness/contender.hpp"
#include "scenarios/algorithms/work.hpp"

namespace handoff::lab::algorithms {

struct Task {
  explicit Task(const Parameters& given)
      : algorithm(given.text("algorithm")),
        item(given.text("item", "int")),
        ranks(given.text("order", "random"), given.number("count")),
        width(given.number("width")) {}

  std::string algorithm;
  std::string item;
  Ranks ranks;
  std::size_t width;
  Answer* output = nullptr;
};

// A contender's own, usually `return measure<Way>(task);`. The task outlives it.
Operation contender(const Task& task);

// A way that is one sort: kSort(items, threads).
template <auto kSort>
struct Sort {
  explicit Sort(std::size_t width) : threads(static_cast<std::uint32_t>(width)) {}
  template <class T>
    requires std::is_invocable_v<decltype(kSort), std::span<T>, std::uint32_t>
  void sort(std::span<T> items) {
    kSort(items, threads);
  }
  std::uint32_t threads;
};
template <auto kSort>
struct StableSort : Sort<kSort> {
  using Sort<kSort>::Sort;
  template <class T>
  void stable_sort(std::span<T> items)
    requires requires { this->sort(items); }
  {
    this->sort(items);
  }
};

inline double cpu_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// Items, in as many arrays of `count` as an operation works on.
template <class T>
class Arrays {
 public:
  explicit Arrays(const Task& task)
      : count_(task.ranks.count), items_(count_ * arrays_of(count_)) {}
  [[nodiscard]] std::span<T> operator[](std::size_t i) {
    return std::span(items_).subspan(i * count_, count_);
  }
  // make(item, array, place) for all.
  template <class Make>
  void fill(const Make& make) {
    for (std::size_t i = 0; i < items_.size(); ++i) make(items_[i], i / count_, i % count_);
  }

 private:
  std::size_t count_;
  std::vector<T> items_;
};

// A dozen contenders hold their items at the same time, and some sort into as much memory again.
inline void require_memory(std::size_t bytes) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const auto all =
      static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > all / 32) throw Unavailable("its items take more than a 32nd of the memory");
}

// An operation: prepare(i), run(i) and check(i, answer) for each array i; only the middle is timed,
// and repeated `rounds` times. Which share of the items others did is told by the CPU time.
template <class Way, class Prepare, class Run, class Check>
Operation operation(const Task& task, std::shared_ptr<Way> way, std::size_t rounds, Prepare prepare,
                    Run run, Check check) {
  return [&task, way, rounds, prepare = std::move(prepare), run = std::move(run),
          check = std::move(check), answer = Answer{}](Burst& burst) mutable {
    const std::size_t arrays = arrays_of(task.ranks.count);
    prepare();
    if constexpr (requires { way->begin(); }) way->begin();
    const double here = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    const double all = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    burst.timed([&] {
      for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < arrays; ++i) run(i);
      }
    });
    const double took = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - all;
    const double share = std::min((cpu_ns(CLOCK_THREAD_CPUTIME_ID) - here) / took, 1.0);
    if constexpr (requires { way->end(); }) way->end();
    const auto items = static_cast<double>(rounds * arrays * task.ranks.count);
    burst.items(items);
    burst.executed(0, items * share);
    burst.executed(1, items * (1 - share));
    ++answer.operations;
    for (std::size_t i = 0; i < arrays; ++i) check(i, answer);
    *task.output = answer;
  };
}

template <bool kStable, class T>
bool in_order(const T& a, const T& b) {
  if constexpr (requires { a.key; }) {
    return a.key < b.key || (a.key == b.key && (!kStable || a.place < b.place));
  } else {
    return !(b < a);
  }
}

template <bool kStable, class T>
void check_sorted(std::span<const T> items, std::size_t /*firsts*/, Answer& answer) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    answer.sum += digest(items[i]);
    if (i > 0) answer.misplaced += in_order<kStable>(items[i - 1], items[i]) ? 0 : 1;
  }
}

// What moves the items that it is given: run(way, items) returns how many of them come first (a
// partition's), and check(items, that, answer) looks at them.
template <class T, class Way, class Run, class Check>
Operation moving(const Task& task, const std::shared_ptr<Way>& way, Run run, Check check) {
  constexpr bool kString = std::is_same_v<T, std::string>;
  require_memory(task.ranks.count * (kString ? 64 : sizeof(T)));
  const auto items = std::make_shared<Arrays<T>>(task);
  const auto firsts = std::make_shared<std::vector<std::size_t>>(arrays_of(task.ranks.count));
  const auto prepare = [&task, items] {
    Ranks ranks = task.ranks;
    items->fill([&](T& item, std::size_t array, std::size_t place) {
      ranks.first = array * ranks.count;
      make(item, ranks, place);
    });
  };
  return operation(
      task, way, 1, prepare, [=](std::size_t i) { (*firsts)[i] = run(*way, (*items)[i]); },
      [=](std::size_t i, Answer& answer) { check((*items)[i], (*firsts)[i], answer); });
}

inline void check_partitioned(std::span<const Int> items, std::size_t firsts, Answer& answer) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    answer.sum += digest(items[i]);
    answer.misplaced += is_small(items[i]) == (i < firsts) ? 0 : 1;
  }
}

template <class T, class Way>
Operation sorts(const Task& task, const std::shared_ptr<Way>& way) {
  if (task.algorithm == "stable_sort") {
    if constexpr (requires(std::span<T> items) { way->stable_sort(items); }) {
      const auto run = [](Way& sorter, std::span<T> items) {
        sorter.stable_sort(items);
        return std::size_t{};
      };
      return moving<T>(task, way, run, check_sorted<true, T>);
    }
  } else if constexpr (requires(std::span<T> items) { way->sort(items); }) {
    const auto run = [](Way& sorter, std::span<T> items) {
      sorter.sort(items);
      return std::size_t{};
    };
    return moving<T>(task, way, run, check_sorted<false, T>);
  }
  throw Unavailable("it has none");
}

// What reads numbers: run(way, in, out) writes as many others or returns one.
template <class Way, class Run>
Operation pass(const Task& task, const std::shared_ptr<Way>& way, Run run) {
  require_memory(task.ranks.count * 2 * sizeof(Int));
  const auto in = std::make_shared<Arrays<Int>>(task);
  const auto out = std::make_shared<Arrays<Int>>(task);
  const auto found = std::make_shared<std::vector<std::size_t>>(arrays_of(task.ranks.count));
  in->fill([&](Int& item, std::size_t /*array*/, std::size_t place) {
    item = number_for(task.algorithm, task.ranks.count, place);
  });
  constexpr std::size_t items_at_least = 1 << 20;
  const std::size_t items = task.ranks.count * arrays_of(task.ranks.count);
  const bool writes = is_written(task.algorithm);
  return operation(
      task, way, std::max<std::size_t>(items_at_least / items, 1), [] {},
      [=](std::size_t i) { (*found)[i] = run(*way, (*in)[i], (*out)[i]); },
      [=](std::size_t i, Answer& answer) {
        answer.sum += (*found)[i];
        if (writes) answer.sum += digest_of_places((*out)[i]);
      });
}

template <class Way>
Operation passes(const Task& task, const std::shared_ptr<Way>& way) {
  using In = std::span<const Int>;
  using Out = std::span<Int>;
  Operation made;
  const auto offer = [&](const char* name, auto run) {
    if constexpr (std::is_invocable_v<decltype(run), Way&, In, Out>) {
      if (task.algorithm == name) made = pass(task, way, run);
    }
  };
  offer("scan", [](auto& w, In in, Out out) -> decltype(w.scan(in, out), 0U) {
    w.scan(in, out);
    return 0;
  });
  offer("transform", [](auto& w, In in, Out out) -> decltype(w.transform(in, out), 0U) {
    w.transform(in, out);
    return 0;
  });
  offer("merge", [](auto& w, In in, Out out) -> decltype(w.merge(in, in, out), 0U) {
    const std::size_t half = in.size() / 2;
    w.merge(in.first(half), in.subspan(half), out);
    return 0;
  });
  offer("reduce", [](auto& w, In in, Out) -> decltype(w.reduce(in), std::size_t{}) {
    return static_cast<std::size_t>(w.reduce(in));
  });
  offer("find_if", [](auto& w, In in, Out) -> decltype(w.find_if(in)) { return w.find_if(in); });
  offer("count_if", [](auto& w, In in, Out) -> decltype(w.count_if(in)) { return w.count_if(in); });
  if (!made) throw Unavailable("it has none");
  return made;
}

template <class Way>
Operation measure(const Task& task) {
  const auto way = std::make_shared<Way>(task.width);
  if (task.algorithm == "partition") {
    if constexpr (requires(std::span<Int> items) { way->partition(items); }) {
      return moving<Int>(
          task, way, [](Way& w, std::span<Int> items) { return w.partition(items); },
          check_partitioned);
    }
  }
  if (!is_sort(task.algorithm)) return passes(task, way);
  if (task.item == "int") return sorts<Int>(task, way);
  if (task.item == "string") return sorts<std::string>(task, way);
  return sorts<Record>(task, way);
}

}  // namespace handoff::lab::algorithms
