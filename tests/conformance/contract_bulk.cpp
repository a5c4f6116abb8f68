// SPDX-License-Identifier: MIT
//
// The rows of the bulk tier: what a run of each team and pool does (contract_page.hpp).
#include "conformance/contract_page.hpp"
#include "support/patience.hpp"
#include "support/test.hpp"

namespace handoff::test {
namespace {

constexpr std::size_t kIndices = 1000;
constexpr const char* kEndsEarly =
    "no more blocks begin; their indices count as cancelled or expired";

// ---- Kernels: the form that teams of processes take, too. `cell` lies in memory that all have
// ----

struct Cell {
  std::atomic<std::uint64_t>* sum;
};
void count(IndexRange range, const Cell& cell) { *cell.sum += range.last - range.first; }
void fail_once(IndexRange range, const Cell&) {
  if (range.first == 0) throw std::runtime_error("a block");
}

template <class Run>
std::string of_a_block_that_throws(const Run& run, const std::string& then) {
  const std::string told = outcome(run);
  if (told.find("a block") == std::string::npos) return told;
  return "all others run; then `run()` " + then;
}

// A run of threads whose stop was requested before it began, and one after.
template <class Bulk>
std::string once_stopped(Bulk& bulk) {
  sync::StopSource source;
  source.request_stop();
  std::atomic<std::size_t> ran{0};
  const sync::StopToken token = source.token();
  const Tally tally = bulk.run(kIndices, [&](IndexRange range) { ran += range.last - range.first; },
                               {.until = token});
  const bool counted = tally.cancelled == kIndices && ran == 0;
  const Tally late = bulk.run(kIndices, [&](IndexRange range) { ran += range.last - range.first; },
                              {.until = std::chrono::milliseconds(0)});
  return counted && late.expired == kIndices ? kEndsEarly : "goes on";
}

template <class Bulk>
std::string runs_on(Bulk& bulk) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> here{false};
  std::atomic<bool> elsewhere{false};
  const auto both_seen = [&] { return here && elsewhere; };
  // More blocks than threads: those that have one wait, so that one is left for each.
  (void)bulk.run(64,
                 [&](IndexRange) {
                   (std::this_thread::get_id() == caller ? here : elsewhere) = true;
                   idle_until(both_seen);
                 },
                 {.block = 1});
  return both_seen() ? "the caller, its threads" : "some";
}

template <class Bulk>
std::string in_turn(Bulk& bulk) {
  std::atomic<std::size_t> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        (void)bulk.run(kIndices, [&](IndexRange range) { ran += range.last - range.first; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return ran == 100 * kIndices ? "any thread" : "lost some";
}

template <class Bulk>
std::string inside_itself(Bulk& bulk) {
  std::atomic<std::size_t> ran{0};
  const std::string told = outcome([&] {
    (void)bulk.run(1, [&](IndexRange) {
      (void)bulk.run(kIndices, [&](IndexRange r) { ran += r.last - r.first; });
    });
  });
  return told == "done" && ran == kIndices ? "allowed" : told;
}

template <class Bulk>
std::string started(Bulk& bulk) {
  std::atomic<bool> ended{false};
  std::atomic<std::size_t> ran{0};
  BulkOperation operation(
      bulk, kIndices, [&](std::size_t first, std::size_t last) { ran += last - first; },
      [&](const Tally&) noexcept { ended = true; });
  const Status told = operation.start();
  if (told != Status::ok) return said(told);
  idle_until([&] { return ended.load(); });
  return ran == kIndices ? "`run`, `start`" : "lost some";
}

template <class Bulk>
ContractRow row(const std::string& type) {
  Bulk bulk(2);
  std::string allocates;
  {
    std::atomic<std::size_t> ran{0};
    allocates =
        allocations([&] { (void)bulk.run(8, [&](IndexRange range) { ran += range.last; }); });
  }
  const auto throwing = [&] {
    (void)bulk.run(kIndices, [](IndexRange range) {
      if (range.first == 0) throw std::runtime_error("a block");
    });
  };
  return {type,
          started(bulk),
          once_stopped(bulk),
          Bulk(0).width() == sync::cpu_budget().width() ? "as many as CPUs" : "another number",
          in_turn(bulk),
          inside_itself(bulk),
          allocates,
          of_a_block_that_throws(throwing, "rethrows the first exception"),
          runs_on(bulk),
          end_in_a_child(std::make_unique<Bulk>(2))};
}

ContractRow process_row() {
  const SharedMemory memory = SharedMemory::create({.bytes = 4096});
  auto* const sum = new (memory.bytes().data()) std::atomic<std::uint64_t>(0);
  ProcessTeam team(2);
  (void)team.run<count>(kIndices, Cell{sum});
  const bool all = *sum == kIndices;
  sync::StopSource source;
  source.request_stop();
  const sync::StopToken token = source.token();
  const Tally stopped = team.run<count>(kIndices, Cell{sum}, {.until = token});
  const auto throwing = [&] { (void)team.run<fail_once>(kIndices, Cell{sum}); };
  const std::string of_throwing = of_a_block_that_throws(throwing, "throws `WorkFailed`");
  return {
      "`ProcessTeam`",
      all ? "`run`" : "lost some",
      stopped.cancelled == kIndices ? kEndsEarly : "goes on",
      ProcessTeam(0).width() == sync::cpu_budget().width() ? "as many as CPUs" : "another number",
      "any thread",
      "misuse",
      "some memory",
      of_throwing,
      "its processes",
      end_in_a_child(std::make_unique<ProcessTeam>(1))};
}

}  // namespace

ContractTable bulk_table() {
  return {"bulk",
          {"type", "calls", "when a run is stopped or late", "a width of 0 means", "called by",
           "a run inside one of its own blocks", "a run allocates", "a block that throws",
           "blocks run on", "in a forked child"},
          {row<ThreadTeam>("`ThreadTeam`"), row<ThreadPool>("`ThreadPool`"), process_row()}};
}

}  // namespace handoff::test
