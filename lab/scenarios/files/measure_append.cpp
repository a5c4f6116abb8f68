// SPDX-License-Identifier: MIT
// Records that many threads append to one log; and what one sync takes by itself.
#include <latch>

#include "scenarios/files/measures.hpp"

namespace handoff::lab::files {
namespace {

using Time = std::chrono::steady_clock;

std::uint64_t ns_since(Time::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Time::now() - start).count());
}

// What a record holds: its thread, its number, the launch's generation, and what follows from them.
Record record_of(std::uint64_t thread, std::uint64_t number, std::uint64_t generation) {
  Record record;
  std::array<std::uint64_t, kRecord / sizeof(std::uint64_t)> words{thread, number, generation};
  for (std::size_t i = 3; i < words.size(); ++i) {
    words[i] = mix(words[i - 1] ^ words[i - 2] ^ words[i - 3] ^ i);
  }
  std::memcpy(record.data(), words.data(), kRecord);
  return record;
}

// The middle one of some: a record written and synced by one thread.
double one_sync_ns(const std::string& folder) {
  constexpr std::size_t times = 64;
  const std::string path = folder + "/sync";
  std::vector<std::uint64_t> ns(times);
  {
    const Descriptor file(path, O_WRONLY | O_CREAT | O_APPEND);
    const Record record = record_of(0, 0, 0);
    for (std::uint64_t& one : ns) {
      const auto start = Time::now();
      if (::write(file.number(), record.data(), kRecord) != static_cast<ssize_t>(kRecord) ||
          fdatasync(file.number()) != 0) {
        fail("syncing", path, errno);
      }
      one = ns_since(start);
    }
  }
  remove_files({path});
  std::nth_element(ns.begin(), ns.begin() + times / 2, ns.end());
  return static_cast<double>(ns[times / 2]);
}

struct Writers {
  Bench& bench;
  Log log;
  std::size_t each;
  std::vector<std::uint64_t> ns;
  std::atomic<bool> failed{false};
  std::string reason{};

  // All threads are at the line before the time begins.
  void operator()(Burst& burst) {
    std::latch there(static_cast<std::ptrdiff_t>(log.threads));
    std::latch go(1);
    std::latch done(static_cast<std::ptrdiff_t>(log.threads));
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < log.threads; ++thread) {
      threads.emplace_back([&, thread] {
        there.count_down();
        go.wait();
        write_all(thread);
        done.count_down();
      });
    }
    there.wait();
    const double bytes = static_cast<double>(ns.size() * kRecord);
    bench.timed(burst, bytes, [&] {
      go.count_down();
      done.wait();
    });
  }

  void write_all(std::size_t thread) {
    try {
      for (std::size_t number = 0; number < each; ++number) {
        const Record record = record_of(thread, number, bench.generation);
        const auto start = Time::now();
        bench.way->append_one(thread, record);
        ns[thread * each + number] = ns_since(start);
      }
    } catch (const std::exception& failure) {
      if (!failed.exchange(true)) reason = failure.what();
    }
  }
};

// Every record once, and those of one thread in its order.
void look_at_records(const std::vector<Record>& records, const Writers& writers, Bench& bench) {
  std::vector<std::uint64_t> next(writers.log.threads);
  for (std::size_t i = 0; i < records.size(); ++i) {
    std::array<std::uint64_t, 3> head{};
    std::memcpy(head.data(), records[i].data(), sizeof head);
    const bool known = head[0] < next.size();
    if (!known || records[i] != record_of(head[0], head[1], bench.generation)) {
      bench.report.wrong(Fault::bytes, 0, i * kRecord);
    } else if (head[1] != next[head[0]]++) {
      bench.report.wrong(Fault::place, 0, i * kRecord);
    }
  }
  const std::size_t wanted = writers.ns.size();
  if (records.size() != wanted) {
    bench.report.wrong(Fault::length, 0, records.size() * kRecord, wanted * kRecord);
  }
  bench.report.looked_at(records.size());
}

}  // namespace

Operation append_of(Bench& bench) {
  constexpr std::size_t most = 64;  // records of a thread
  constexpr std::size_t all = 2048;
  const Task& task = bench.task;
  const std::size_t each = std::max<std::size_t>(1, std::min(most, all / task.threads));
  return [&bench, &task, each](Burst& burst) {
    const double sync_ns = one_sync_ns(task.folder);
    ++bench.generation;
    const TemporaryFolder folder(task.folder + "/log");
    Writers writers{.bench = bench,
                    .log = {folder.path(), task.threads, task.durable},
                    .each = each,
                    .ns = std::vector<std::uint64_t>(each * task.threads)};
    bench.way->open_log(writers.log);
    writers(burst);
    bench.way->close_log();
    if (writers.failed) throw std::runtime_error(writers.reason);
    burst.items(static_cast<double>(writers.ns.size()));
    for (const std::uint64_t ns : writers.ns) burst.latencies().record(ns);
    std::sort(writers.ns.begin(), writers.ns.end());
    const std::size_t at = writers.ns.size() - 1 - writers.ns.size() / 100;
    burst.figure("sync_ns", sync_ns);
    burst.figure("p99_syncs", static_cast<double>(writers.ns[at]) / sync_ns);
    look_at_records(bench.way->read_back(writers.log), writers, bench);
  };
}

}  // namespace handoff::lab::files
