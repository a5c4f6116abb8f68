// SPDX-License-Identifier: MIT
// Sectors of one file of this launch, in no order.
#include <random>

#include "scenarios/files/measures.hpp"

namespace handoff::lab::files {
namespace {

struct State {
  Random random;
  Transfer file;  // the same file as a whole
  std::vector<std::uint64_t> generations;  // of each sector
  std::mt19937_64 engine;
};

// Some more where many are under way at once, so that an operation lasts.
std::size_t count_of(const Task& task) {
  constexpr std::size_t each = 512;
  constexpr std::size_t most = 8192;
  return std::min(most, each * std::max<std::size_t>(task.depth, 2));
}

void look_at_sectors(const Way& way, State& state, Report& report) {
  const Descriptor file(state.random.path, O_RDONLY);
  std::vector<std::byte> sector(kSector);
  for (std::size_t i = 0; i < state.generations.size(); ++i) {
    const auto offset = static_cast<off_t>(i * kSector);
    if (pread(file.number(), sector.data(), kSector, offset) != static_cast<ssize_t>(kSector)) {
      report.wrong(Fault::length, 0, i * kSector, state.generations.size() * kSector);
      return;
    }
    const std::uint64_t wanted = way.writes_sectors() ? state.generations[i] : kAnyGeneration;
    const Found found = look_at(sector, 0, i * kSector, wanted);
    if (found.fault == Fault::none || way.is_own(sector)) continue;
    report.wrong(found.fault, 0, found.offset);
  }
  report.looked_at(state.generations.size());
}

// Each operation touches sectors at random, none twice: two writes of one sector have no order.
void draw(State& state, const Task& task) {
  const std::size_t sectors = state.generations.size();
  const std::size_t count = std::min(count_of(task), sectors / 2);
  std::vector<bool> taken(sectors);
  state.random.offsets.clear();
  while (state.random.offsets.size() < count) {
    const std::size_t sector = state.engine() % sectors;
    if (taken[sector]) continue;
    taken[sector] = true;
    state.random.offsets.push_back(sector * kSector);
  }
  state.random.ns.assign(count, 0);
}

// What the page cache must have, or must not have, before it is timed.
void prepare_cache(const State& state) {
  if (state.random.direct) {
    drop(state.file.paths);
  } else if (cached_share(state.file.paths) < 1) {
    read_all(state.file.paths);
  }
}

}  // namespace

Operation random_of(Bench& bench) {
  const Task& task = bench.task;
  const bool write = task.work == "random_write";
  ask_for_room(task.shared, task.bytes);
  auto state = std::make_shared<State>();
  const std::string folder = task.folder + "/data";
  make_files(folder, 1, task.bytes, 1);
  state->file.paths = numbered(folder, 1);
  state->file.bytes = task.bytes;
  state->generations.assign(task.bytes / kSector, 1);
  state->engine.seed(bench.generation);
  state->random.path = state->file.paths[0];
  state->random.depth = task.depth;
  state->random.direct = task.direct;
  state->random.report = &bench.report;
  bench.way->open_random(state->random, write);
  return [&bench, state, write](Burst& burst) {
    Random& random = state->random;
    draw(*state, bench.task);
    random.generation = write ? ++bench.generation : 1;
    settle(bench.task.folder);
    prepare_cache(*state);
    const auto count = static_cast<double>(random.offsets.size());
    bench.timed(burst, count * static_cast<double>(kSector), [&] {
      if (write) {
        bench.way->random_write(random);
      } else {
        bench.way->random_read(random);
      }
    });
    burst.items(count);
    for (const std::uint32_t ns : random.ns) {
      if (ns != 0) burst.latencies().record(ns);
    }
    if (random.p99_9_ns != 0) {
      burst.figure("p99_9", static_cast<double>(random.p99_9_ns));
    }
    if (!write) return;
    for (const std::uint64_t offset : random.offsets) {
      state->generations[offset / kSector] = random.generation;
    }
    look_at_sectors(*bench.way, *state, bench.report);
  };
}

}  // namespace handoff::lab::files
