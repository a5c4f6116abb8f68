// SPDX-License-Identifier: MIT
// What people write: a vector of each thread for each bucket, with variants; then all of them in
// one, std::stable_sort by key, and std::visit. Which of equal keys comes first is left to chance.
#include "scenarios/commands/sorted_keys.hpp"

namespace handoff::lab::commands {
namespace {

struct Light {
  MapArguments map;
  DrawArguments draw;
};

struct Dispatch {
  Sink& sink;
  void operator()(const DrawArguments& draw) const { sink.draw(draw); }
  void operator()(const Light& light) const {
    sink.map(light.map);
    sink.light(light.draw);
  }
};

template <class Key>
class Vectors {
 public:
  Vectors(const Task& task, Crew& crew) : task_(task), crew_(crew), mine_(crew.threads()) {}

  void begin() {
    for (Mine& mine : mine_) {
      for (Items& items : mine.passes) items.clear();
    }
    for (Items& items : passes_) items.clear();
  }

  void add() {
    crew_.run(
        tasks_of(task_), kClaim, [this](std::size_t member, std::size_t first, std::size_t last) {
          auto& passes = mine_[member].passes;
          for_components(
              task_, first, last,
              [&](std::size_t i) {
                do_other_work(task_.work, i);
                for (const Pass pass : {kGbuffer, kShadow}) {
                  passes[pass].push_back({key_of<Key>(task_.keys, pass, i), draw_of(pass, i)});
                }
              },
              [&](std::size_t i) {
                do_other_work(task_.work, i);
                const Light light{{static_cast<std::uint32_t>(i)}, draw_of(kLighting, i)};
                passes[kLighting].push_back({key_of<Key>(task_.keys, kLighting, i), light});
              });
        });
  }

  void sort() {
    for (std::size_t pass = 0; pass < kPasses; ++pass) {
      Items& all = passes_[pass];
      for (const Mine& mine : mine_) {
        all.insert(all.end(), mine.passes[pass].begin(), mine.passes[pass].end());
      }
      std::stable_sort(all.begin(), all.end(),
                       [](const Item& a, const Item& b) { return a.key < b.key; });
    }
  }

  void dispatch(Sink& sink) {
    for (const Items& items : passes_) {
      for (const Item& item : items) std::visit(Dispatch{sink}, item.command);
    }
  }

  std::uint64_t misplaced() {
    std::uint64_t falls = 0;
    for (const Items& items : passes_) falls += falls_in(items);
    return falls;
  }

  double shared_rmw(double claims) const { return claims; }

 private:
  struct Item {
    Key key;
    std::variant<DrawArguments, Light> command;
  };
  using Items = std::vector<Item>;
  // Apart from those of others.
  struct alignas(peers::kApart) Mine {
    std::array<Items, kPasses> passes;
  };

  const Task& task_;
  Crew& crew_;
  std::vector<Mine> mine_;
  std::array<Items, kPasses> passes_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Vectors>(task); }

}  // namespace handoff::lab::commands
