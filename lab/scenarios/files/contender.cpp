// SPDX-License-Identifier: MIT
// Turns the lab's parameters into a task and an operation.
#include "scenarios/files/contender.hpp"
#include "scenarios/files/measures.hpp"

namespace handoff::lab::files {

void Report::wrong(Fault fault, std::uint64_t file, std::uint64_t offset, std::uint64_t wanted) {
  faults_.fetch_add(1, std::memory_order_relaxed);
  if (taken_.exchange(true, std::memory_order_acq_rel)) return;
  first_.first = fault;
  first_.file = file;
  first_.offset = offset;
  first_.wanted = wanted;
  there_.store(true, std::memory_order_release);
}

Answer Report::answer(std::uint64_t operations) const {
  Answer answer = there_.load(std::memory_order_acquire) ? first_ : Answer{};
  answer.operations = operations;
  answer.sectors = sectors_.load(std::memory_order_relaxed);
  answer.faults = faults_.load(std::memory_order_relaxed);
  return answer;
}

void Transfer::look(std::size_t file, std::uint64_t offset,
                    std::span<const std::byte> there) const {
  for (std::size_t at = 0; at < there.size(); at += kSector) {
    const auto sector = there.subspan(at, std::min(kSector, there.size() - at));
    const Found found = look_at(sector, file, offset + at, generation);
    if (found.fault != Fault::none) report->wrong(found.fault, file, found.offset);
  }
  report->looked_at(there.size() / kSector);
}

void Way::remove(const std::vector<std::string>& paths) { remove_files(paths); }

Bench::Times Bench::timed(Burst& burst, double bytes, const std::function<void()>& work) {
  const auto cpu_now = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  way->cpu_of_children();
  double cpu = 0;
  std::clock_t clocks = 0;
  std::chrono::duration<double, std::milli> wall{};
  burst.timed([&] {
    const auto start = std::chrono::steady_clock::now();
    cpu = -cpu_now();
    clocks = -std::clock();
    work();
    clocks += std::clock();
    cpu += cpu_now();
    wall = std::chrono::steady_clock::now() - start;
  });
  constexpr double gb = 1e9;
  burst.figure("cpu_s_per_gb", (cpu + way->cpu_of_children()) * gb / bytes);
  if (const double seconds = way->seconds_by_itself(); seconds > 0) {
    burst.figure("seconds", seconds);
  }
  ++operations;
  return {wall.count(), static_cast<double>(clocks) * 1e3 / CLOCKS_PER_SEC};
}

namespace {

Task task_of(const Parameters& parameters, std::span<const std::byte> input) {
  constexpr std::size_t kib = 1024;
  const auto* const text = reinterpret_cast<const char*>(input.data());
  Task task;
  task.metric = parameters.text("metric");
  task.work = task.metric;
  constexpr std::string_view cpu = "_cpu";
  if (task.work.ends_with(cpu)) task.work.resize(task.work.size() - cpu.size());
  task.shared = std::string(text, strnlen(text, kLongestPath));
  task.kept = std::string(text + kLongestPath, strnlen(text + kLongestPath, kLongestPath));
  task.folder = task.shared + "/launch." + std::to_string(getpid());
  task.files = parameters.number("files", 1);
  task.bytes = parameters.number("mib", 0) * kib * kib;
  task.block = parameters.number("block", kib) * kib;
  task.durable = parameters.number("durable", 0) != 0;
  task.direct = parameters.number("direct", 0) != 0;
  task.depth = parameters.number("depth", 1);
  task.threads = parameters.number("threads", 1);
  task.what =
      parameters.text("step", "") + parameters.text("tree", "") + parameters.text("clock", "");
  if (task.block % kSector != 0) throw Unavailable("block is no multiple of 4 KiB");
  task.cold = parameters.text("cache", "warm") == "cold";
  return task;
}

Operation operation_of(Bench& bench) {
  const std::string& work = bench.task.work;
  if (work == "small") return small_of(bench);
  if (work == "file") return new_files_of(bench);
  if (work == "one_file") return one_file_of(bench);
  if (work == "random_read" || work == "random_write") return random_of(bench);
  if (work == "append" || work == "append_p99") return append_of(bench);
  if (work == "copy") return copy_of(bench);
  return transfer_of(bench);
}

}  // namespace
}  // namespace handoff::lab::files

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> input) {
  const auto bench = std::make_shared<files::Bench>();
  bench->task = files::task_of(parameters, input);
  bench->folder = std::make_unique<files::TemporaryFolder>(bench->task.folder);
  bench->generation = static_cast<std::uint64_t>(getpid()) << 32;
  bench->way = files::contender(bench->task);
  return answering([bench, operation = files::operation_of(*bench)](Burst& burst) {
    operation(burst);
    return bench->report.answer(bench->operations);
  });
}
