// SPDX-License-Identifier: MIT
// Measures a contender in `commands`. Its Scheme<Key> is made from a task and a crew, and has
//
//   void begin()               throws the last frame away; not timed
//   void add()                 adds all commands of a frame, by the crew
//   void sort()                brings them into the order of their keys
//   void dispatch(Sink&)         dispatches them in that order
//   std::uint64_t misplaced()  how many keys are below the one before; not timed
//   double shared_rmw(claims)  read-modify-writes of memory that threads share, of the last add()
//
// Before each frame 16 MB of other memory are written and read in no order, as in the article.
#pragma once

#include "harness/contender.hpp"
#include "peers/crew.hpp"
#include "scenarios/commands/work.hpp"

namespace handoff::lab::commands {

using peers::Crew;

struct Task {
  explicit Task(const Parameters& parameters) : given(parameters) {
    if (calls % (4 * kChunk) != 0) throw Unavailable("calls is no multiple of 200");
  }

  Parameters given;
  std::string metric = given.text("metric");
  std::size_t threads = given.number("threads");
  std::size_t calls = given.number("calls");
  std::size_t key_bits = given.number("key_bits");  // 16, 32 or 64
  std::size_t work = given.number("work");          // rounds of other work for each component
  Keys keys = given.text("keys", "article") == "random" ? Keys::random : Keys::article;
  Answer* output = nullptr;

  [[nodiscard]] std::size_t components() const { return components_of(calls); }
};

// A contender's own: one frame. The task outlives it.
Operation contender(const Task& task);

class Flush {
 public:
  void operator()() {
    std::uint64_t at = 1;
    for (std::size_t i = 0; i < kLines; ++i) {
      at = at * 6364136223846793005 + 1442695040888963407;
      memory_[(at >> 40) % memory_.size()] += at;
    }
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{16} << 20;
  static constexpr std::size_t kLines = kBytes / 64;
  std::vector<std::uint64_t> memory_ = std::vector<std::uint64_t>(kBytes / sizeof(std::uint64_t));
};

template <class Scheme>
class Frames {
 public:
  explicit Frames(const Task& task) : task_(task), crew_(task.threads), scheme_(task, crew_) {}

  void operator()(Burst& burst) {
    flush_();
    scheme_.begin();
    Sink sink;
    const bool frame = task_.metric == "frame";
    const bool whole = frame || task_.metric == "command";
    const auto step = [&](const char* metric, const auto& work) {
      if (whole || task_.metric != metric) return work();
      burst.timed(work);
    };
    std::uint64_t claims = 0;
    const auto all = [&] {
      step("add", [&] { scheme_.add(); });
      claims = crew_.claims();
      step("sort", [&] { scheme_.sort(); });
      step("submit", [&] { scheme_.dispatch(sink); });
    };
    crew_.call();
    (void)crew_.claims();
    if (whole) {
      burst.timed(all);
    } else {
      all();
    }
    crew_.dismiss();
    const auto calls = static_cast<double>(task_.calls);
    constexpr double kKeyed = 0.75;
    burst.items(frame ? 1 : task_.metric == "sort" ? calls * kKeyed : calls);
    burst.figure("shared_rmw", scheme_.shared_rmw(static_cast<double>(claims)) / calls);
    ++answer_.operations;
    answer_.commands += sink.commands;
    answer_.sum += sink.sum;
    answer_.misplaced += sink.misplaced + scheme_.misplaced();
    *task_.output = answer_;
  }

 private:
  const Task& task_;
  Flush flush_;
  Crew crew_;
  Scheme scheme_;
  Answer answer_{};
};

template <template <class> class Scheme>
Operation measure(const Task& task) {
  const auto frames = [&](auto key) -> Operation {
    using Key = decltype(key);
    const auto made = std::make_shared<Frames<Scheme<Key>>>(task);
    return [made](Burst& burst) { (*made)(burst); };
  };
  switch (task.key_bits) {
    case 16: return frames(std::uint16_t{});
    case 32: return frames(std::uint32_t{});
    default: return frames(std::uint64_t{});
  }
}

// How the tasks of a frame are numbered: those of meshes, then those of lights. Calls
// mesh(component) and light(component) for those of some tasks.
template <class Mesh, class Light>
void for_components(const Task& task, std::size_t first, std::size_t last, const Mesh& mesh,
                    const Light& light) {
  const std::size_t meshes = task.components() / kChunk;
  for (std::size_t number = first; number < last; ++number) {
    if (number < meshes) {
      for (std::size_t i = number * kChunk; i < (number + 1) * kChunk; ++i) mesh(i);
    } else {
      const std::size_t at = number - meshes;
      for (std::size_t i = at * kChunk; i < (at + 1) * kChunk; ++i) light(i);
    }
  }
}
inline std::size_t tasks_of(const Task& task) { return 2 * task.components() / kChunk; }

// Tasks that a member claims at a time.
inline constexpr std::size_t kClaim = 4;

// Other work of a component, whose result nobody needs and no compiler leaves out.
inline void do_other_work(std::size_t rounds, std::size_t component) {
  if (rounds == 0) return;
  const std::uint64_t value = other_work(rounds, component);
  asm volatile("" : : "r"(value));
}

}  // namespace handoff::lab::commands
