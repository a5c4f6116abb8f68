// SPDX-License-Identifier: MIT
//
// Commands: recorded, sorted by key, dispatched to a backend.
#include <cstdint>
#include <handoff/command/command_bucket.hpp>
#include <handoff/core/inline_executor.hpp>
#include <handoff/pool/parallel_for.hpp>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;

struct Gpu {
  std::uint64_t drawn = 0;
};
struct Draw {
  std::uint64_t mesh;
  void operator()(Gpu& gpu) const { gpu.drawn += mesh; }
};
using Bucket = handoff::CommandBucket<std::uint64_t, Gpu>;

constexpr std::uint64_t kCommands = 256;
constexpr std::uint64_t kMany = 1 << 15;

std::uint64_t key_of(std::uint64_t i) { return i * 7919 % kCommands; }

}  // namespace

HANDOFF_COUNT_CASE(command_bucket) {
  handoff::Frame frame;
  Bucket bucket(frame);
  Gpu gpu;
  handoff::InlineExecutor here;
  rounds([&](bool counts) {
    note("CommandBucket.recorder + end/empty", counts,
         [&] { const Bucket::Recorder recorder = bucket.recorder(1); });
    {
      Bucket::Recorder recorder = bucket.recorder(0);
      for (std::uint64_t i = 0; i < kCommands; ++i) {
        const Counted counted("CommandRecorder.add/alone", counts);
        recorder.add<Draw>(key_of(i)).mesh = i;
      }
    }
    note("CommandBucket.sort/256 commands, alone", counts, [&] { bucket.sort(here); });
    note("CommandBucket.dispatch/256 commands, alone", counts, [&] { bucket.dispatch(gpu); });
    note("CommandBucket.clear/256 commands", counts, [&] { bucket.clear(); });
    (void)frame.next();
  });
}

HANDOFF_COUNT_CASE(command_bucket_parallel) {
  handoff::Frame frame;
  Bucket bucket(frame);
  handoff::ThreadPool pool(4);
  Gpu gpu;
  rounds([&](bool counts) {
    let_all_sleep();
    {
      const CountedOfAll counted("CommandBucket.record/32768 commands, pool of 4, asleep", counts);
      const Slice turns(64);
      bucket.record(pool, kMany, 256, [&](Bucket::Recorder& recorder, handoff::IndexRange range) {
        for (const std::size_t i : range) recorder.add<Draw>(i * 7919 % kMany).mesh = i;
      });
      let_all_sleep();
    }
    {
      const CountedOfAll counted("CommandBucket.sort/32768 commands, pool of 4, asleep", counts);
      const Slice turns(64);
      bucket.sort(pool);
      let_all_sleep();
    }
    bucket.dispatch(gpu);
    bucket.clear();
    (void)frame.next();
  });
}
