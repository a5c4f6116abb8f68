// SPDX-License-Identifier: MIT
//
// Loss of power at any moment: what was acknowledged as durable is there, and a replaced file is
// the old one or the new one. Each single sync that is left out is noticed. n losses without a
// failure bound the rate of failures below 3/n (95 %).
#include "fault/power_loss.hpp"
#include "fault/fault_support.hpp"
#include "support/test.hpp"

namespace power_loss_test { namespace {

using namespace handoff;
using namespace test;

// What a file may be after a loss.
class Promises {
 public:
  enum class While : std::uint8_t {
    old_or_new,  // until it is acknowledged, the file is as before or as it will be
    anything,    // ... may be anything
    grows,       // ... begins as before
  };

  explicit Promises(const SimulatedDisk& disk) : disk_(disk) {}

  void there(const std::string& path, std::string bytes) {
    versions_[path] = {{.bytes = std::move(bytes), .begun = 0, .acknowledged = 0}};
  }
  // `bytes` empty: removed.
  void begin(const std::string& path, std::optional<std::string> bytes, While meanwhile) {
    auto& its = versions_[path];
    if (its.empty()) its.push_back({.begun = 0, .acknowledged = 0});
    its.push_back({.bytes = std::move(bytes), .meanwhile = meanwhile, .begun = disk_.now()});
  }
  void acknowledge(const std::string& path) { versions_[path].back().acknowledged = disk_.now(); }
  const std::optional<std::string>& last(const std::string& path) {
    return versions_[path].back().bytes;
  }

  // What is wrong with it; "" if nothing.
  std::string fault(const DiskState& state, std::size_t moment) const {
    for (const auto& [path, versions] : versions_) {
      const auto found = state.files.find(path);
      std::optional<std::string> bytes;
      if (found != state.files.end()) bytes = found->second;
      if (!allowed(versions, bytes, moment)) {
        return path + " is " +
               (bytes.has_value() ? std::to_string(bytes->size()) + " bytes of something else"
                                  : "missing");
      }
    }
    return "";
  }

 private:
  struct Version {
    std::optional<std::string> bytes = {};
    While meanwhile = While::old_or_new;
    std::size_t begun = 0;
    std::size_t acknowledged = ~std::size_t{0};
  };

  static bool allowed(const std::vector<Version>& versions, const std::optional<std::string>& bytes,
                      std::size_t moment) {
    std::size_t last = 0;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      if (versions[i].acknowledged <= moment) last = i;
    }
    if (bytes == versions[last].bytes) return true;
    for (std::size_t i = last + 1; i < versions.size() && versions[i].begun < moment; ++i) {
      if (bytes == versions[i].bytes || versions[i].meanwhile == While::anything) return true;
      if (versions[i].meanwhile != While::grows) continue;
      if (!versions[last].bytes.has_value()) return true;
      if (bytes.has_value() && bytes->starts_with(*versions[last].bytes)) return true;
    }
    return false;
  }

  const SimulatedDisk& disk_;
  std::map<std::string, std::vector<Version>> versions_;
};

// What a program sees.
struct World {
  FileEngine& files;
  std::string folder;
  Promises& promises;
  SimulatedDisk& disk;
  bool durable = true;

  std::string at(const std::string& name) const { return folder + "/" + name; }
};
using While = Promises::While;
using Program = std::function<void(World&)>;

void replace(World& world) {
  for (unsigned i = 0; i < 3; ++i) {
    const std::string bytes = filled(1700 + i * 900, 10 + i);
    world.promises.begin("old", bytes, While::old_or_new);
    world.files.replace(world.at("old"), bytes_of(bytes), {.durable = world.durable}).get().check();
    world.promises.acknowledge("old");
  }
}

void replace_new(World& world) {
  const std::string bytes = filled(1500, 3);
  world.promises.begin("new", bytes, While::old_or_new);
  world.files.replace(world.at("new"), bytes_of(bytes), {.durable = world.durable}).get().check();
  world.promises.acknowledge("new");
}

void write_new(World& world) {
  const std::string bytes = filled(2500, 4);
  world.promises.begin("new", bytes, While::anything);
  world.files.write(world.at("new"), bytes_of(bytes), {.durable = world.durable}).get().check();
  world.promises.acknowledge("new");
}

void write_preallocated(World& world) {
  const std::string bytes = filled(2500, 5);
  world.promises.begin("new", bytes, While::anything);
  world.files
      .write(world.at("new"), bytes_of(bytes), {.durable = world.durable, .preallocate = true})
      .get()
      .check();
  world.promises.acknowledge("new");
}

void write_over(World& world) {
  const std::string bytes = filled(900, 6);
  world.promises.begin("old", bytes, While::anything);
  world.files.write(world.at("old"), bytes_of(bytes), {.durable = world.durable}).get().check();
  world.promises.acknowledge("old");
}

void overwrite_ranges(World& world) {
  OpenFile file = OpenFile::open(world.at("old"), {.write = true, .tap = &world.disk});
  std::string now = *world.promises.last("old");
  for (const std::size_t offset : {512U, 1024U, 2600U}) {
    const std::string bytes = filled(700, static_cast<unsigned>(offset));
    if (now.size() < offset + bytes.size()) now.resize(offset + bytes.size());
    now.replace(offset, bytes.size(), bytes);
    world.promises.begin("old", now, While::anything);
    world.files.write(file, bytes_of(bytes), offset, {.durable = world.durable}).get().check();
    world.promises.acknowledge("old");
  }
}

void write_and_sync(World& world) {
  const std::string bytes = filled(1300, 7);
  world.promises.begin("new", bytes, While::anything);
  world.files.write(world.at("new"), bytes_of(bytes)).get().check();
  if (world.durable) world.files.sync(world.at("new")).get().check();
  world.promises.acknowledge("new");
}

void open_new_and_sync(World& world) {
  const std::string bytes = filled(1300, 8);
  world.promises.begin("new", bytes, While::anything);
  OpenFile file =
      OpenFile::open(world.at("new"), {.write = true, .create = true, .tap = &world.disk});
  world.files.write(file, bytes_of(bytes), 0).get().check();
  // By its path: a handle does not know that its name is new.
  if (world.durable) world.files.sync(world.at("new")).get().check();
  world.promises.acknowledge("new");
}

void append(World& world) {
  for (const char* const name : {"old", "new"}) {
    for (unsigned i = 0; i < 3; ++i) {
      const std::string bytes = filled(600, 20 + i);
      const bool there = name == std::string_view("old") || i > 0;
      const std::string whole = (there ? *world.promises.last(name) : std::string()) + bytes;
      world.promises.begin(name, whole, While::grows);
      world.files.append(world.at(name), bytes_of(bytes), {.durable = world.durable}).get().check();
      world.promises.acknowledge(name);
    }
  }
}

void remove(World& world) {
  world.promises.begin("old", std::nullopt, While::old_or_new);
  world.files.remove(world.at("old"), {.durable = world.durable}).get().check();
  world.promises.acknowledge("old");
}

void copy(World& world) {
  world.promises.begin("new", world.promises.last("old"), While::old_or_new);
  world.files.copy(world.at("old"), world.at("new"), {.durable = world.durable}).get().check();
  world.promises.acknowledge("new");
  world.promises.begin("other", world.promises.last("old"), While::old_or_new);
  world.files.copy(world.at("old"), world.at("other"), {.durable = world.durable}).get().check();
  world.promises.acknowledge("other");
}

struct Named {
  const char* name;
  Program program;
};
const std::vector<Named>& programs() {
  static const std::vector<Named> all{
      {"replace", replace},
      {"replace_new", replace_new},
      {"write_new", write_new},
      {"write_preallocated", write_preallocated},
      {"write_over", write_over},
      {"overwrite_ranges", overwrite_ranges},
      {"write_and_sync", write_and_sync},
      {"open_new_and_sync", open_new_and_sync},
      {"append", append},
      {"remove", remove},
      {"copy", copy},
  };
  return all;
}

struct Verdict {
  std::size_t losses = 0;
  std::string fault = {};  // the first one
  std::vector<std::string> syncs = {};
};

struct Run {
  FileBackend backend = FileBackend::caller;
  bool durable = true;
  int dropped_sync = -1;
  std::size_t losses = 100;
};

// Runs the program on a disk of its own, and gives it to `judge`.
void on_a_disk(const Program& program, const Run& run,
               const std::function<void(SimulatedDisk&, Promises&)>& judge) {
  const Folder root(test::fast_place());
  const std::string folder = root.at("in");
  const std::string old = filled(2048, 1);
  test::write_state({.files = {{"old", old}, {"other", "other"}}, .directories = {}}, folder);
  SimulatedDisk disk(folder);
  disk.drop_sync(run.dropped_sync);
  Promises promises(disk);
  promises.there("old", old);
  promises.there("other", "other");
  {
    FileEngine files({.width = 2, .backend = run.backend, .tap = &disk});
    World world{files, folder, promises, disk, run.durable};
    program(world);
    files.close();
  }
  judge(disk, promises);
}

Losses losses_of(const SimulatedDisk& disk, const Promises& promises) {
  return {disk, [&promises](std::size_t moment, const DiskState& left) {
            return promises.fault(left, moment);
          }};
}

Verdict judge(const Program& program, const Run& run) {
  Verdict verdict;
  on_a_disk(program, run, [&](SimulatedDisk& disk, Promises& promises) {
    Losses losses = losses_of(disk, promises);
    const Losses::Moments moments = losses.all_moments();
    verdict.fault = losses.at_corners(moments);
    if (verdict.fault.empty()) verdict.fault = losses.at_random(moments, run.losses, 1);
    verdict.losses = losses.count();
    verdict.syncs = disk.syncs();
  });
  return verdict;
}

TEST(PowerLoss, NothingAcknowledgedIsLost) {
  std::size_t losses = 0;
  for (const FileBackend backend : test::kFileBackends) {
    if (!test::possible(backend)) continue;
    for (const auto& [name, program] : programs()) {
      const Verdict verdict =
          judge(program, {.backend = backend, .losses = test::deep() ? 1000U : 100U});
      EXPECT_EQ(verdict.fault, "") << name << ", " << to_string(backend);
      losses += verdict.losses;
    }
  }
  std::printf("%zu losses of power: they fail at a rate below %.2g (95 %%)\n", losses,
              3.0 / static_cast<double>(losses));
}

// Those whose losses can all be looked at.
TEST(PowerLoss, SmallProgramsInEachState) {
  for (const auto& [name, program] : programs()) {
    on_a_disk(program, {}, [&](SimulatedDisk& disk, Promises& promises) {
      Losses losses = losses_of(disk, promises);
      ASSERT_EQ(losses.of_each_state(losses.all_moments()), "") << name;
      std::printf("%-20s %zu states, all of them\n", name, losses.count());
    });
  }
}

TEST(PowerLoss, EachSyncIsNeeded) {
  for (const auto& [name, program] : programs()) {
    const std::size_t syncs = judge(program, {}).syncs.size();
    EXPECT_GT(syncs, 0U) << name;
    for (std::size_t n = 0; n < syncs; ++n) {
      // By the corners alone.
      const Verdict verdict = judge(program, {.dropped_sync = static_cast<int>(n), .losses = 0});
      EXPECT_NE(verdict.fault, "") << name << " does not need its sync " << n << ": "
                                   << (n < verdict.syncs.size() ? verdict.syncs[n] : "");
    }
  }
}

// The canary: what is not durable is lost, and that is seen.
TEST(PowerLoss, WhatIsNotDurableIsFoundMissing) {
  for (const auto& [name, program] : programs()) {
    EXPECT_NE(judge(program, {.durable = false}).fault, "") << name;
  }
}

}}  // namespace power_loss_test
