// SPDX-License-Identifier: MIT
//
// Functions, futures and loops that need no threads.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <handoff/core/bulk.hpp>
#include <handoff/core/copyable_function.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/inline_executor.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/shared_future.hpp>
#include <handoff/core/to_std.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/core/when_all.hpp>
#include <handoff/core/when_any.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <utility>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;

// Too large for the place that a function has for it.
struct Large {
  std::array<std::uint64_t, 16> words{};
  void operator()() const { keep(words); }
};
struct Small {
  std::uint64_t word = 0;
  void operator()() const { keep(word); }
};

template <class Function, class F>
void make_call_end(const char* row) {
  note_rounds(row, [&] {
    Function function{F()};
    function();
  });
}

}  // namespace

HANDOFF_COUNT_CASE(functions) {
  make_call_end<handoff::UniqueFunction<void()>, Small>("UniqueFunction.make + call + end/small");
  make_call_end<handoff::UniqueFunction<void()>, Large>("UniqueFunction.make + call + end/large");
  make_call_end<handoff::CopyableFunction<void()>, Small>(
      "CopyableFunction.make + call + end/small");
  make_call_end<handoff::CopyableFunction<void()>, Large>(
      "CopyableFunction.make + call + end/large");
}

HANDOFF_COUNT_CASE(inline_executor) {
  const handoff::InlineExecutor here;
  note_rounds("InlineExecutor.try_post/alone", [&] { (void)here.try_post([] {}); });
  note_rounds("parallel_for.loop/64 indices, inline executor",
              [&] { handoff::parallel_for(here, 0, 64, [](int i) { keep(i); }); });
}

HANDOFF_COUNT_CASE(future) {
  handoff::ThreadPool pool(1);
  rounds([&](bool counts) {
    auto future = pool.submit([] { return 1; });
    settle();
    note("Future.is_ready/ready", counts, [&] { keep(future.is_ready()); });
    const Counted counted("Future.get/ready", counts);
    keep(future.get());
  });
  rounds([&](bool counts) {
    auto future = pool.submit([] { return 1; });
    settle();
    const Counted counted("Future.then + get/ready", counts);
    keep(std::move(future).then([](int i) { return i + 1; }).get());
  });
  rounds([&](bool counts) {
    auto one = pool.submit([] { return 1; });
    auto two = pool.submit([] { return 2; });
    settle();
    const Counted counted("when_all.make + get/two ready", counts);
    keep(handoff::when_all(std::move(one), std::move(two)).get());
  });
  rounds([&](bool counts) {
    auto one = pool.submit([] { return 1; });
    auto two = pool.submit([] { return 2; });
    settle();
    const Counted counted("when_any.make + get/two ready", counts);
    keep(handoff::when_any(std::move(one), std::move(two)).get());
  });
  rounds([&](bool counts) {
    auto future = pool.submit([] { return 1; });
    settle();
    const Counted counted("SharedFuture.share + copy + get/ready", counts);
    const auto shared = std::move(future).share();
    const auto copy = shared;
    keep(copy.get());
  });
  rounds([&](bool counts) {
    auto future = pool.submit([] { return 1; });
    settle();
    const Counted counted("Future.to_std/ready", counts);
    auto other = std::move(future).to_std();
  });
}

HANDOFF_COUNT_CASE(bulk) {
  handoff::ThreadPool pool(1);
  rounds([&](bool counts) {
    bool over = false;
    handoff::BulkOperation operation(
        pool, 64, [](std::size_t first, std::size_t last) { keep(last - first); },
        [&](const handoff::Tally&) noexcept { over = true; });
    {
      const CountedOfAll counted("BulkOperation.start + run/pool of one", counts);
      (void)operation.start();
      settle();
    }
    if (!over) std::abort();
  });
}
