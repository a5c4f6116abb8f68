// SPDX-License-Identifier: MIT
//
// Steps whose memory a late reader still has, and threads that come and go while one is recorded.
#include <array>
#include <cstdint>
#include <handoff/command/command_bucket.hpp>
#include <handoff/memory/frame.hpp>
#include <handoff/memory/thread_arenas.hpp>
#include <handoff/queue/channel.hpp>
#include <optional>
#include <thread>

#include "plant.hpp"

namespace {

struct Gpu {
  long sum = 0;
};
struct Draw {
  long glyph;
  void operator()(Gpu& gpu) const { gpu.sum += glyph; }
};
using Bucket = handoff::CommandBucket<std::uint64_t, Gpu>;
struct Step {
  Bucket* bucket;
  long* large;  // has memory of its own
  handoff::Frame::Hold hold;
};

// Each thread goes on in the memory of one that has ended.
int come_and_go() {
  Bucket bucket;
  handoff::ThreadArenas arenas;
  std::array<std::thread, 8> threads;
  for (std::uint64_t t = 0; t < threads.size(); ++t) {
    threads[t] = std::thread([&, t] {
      Bucket::Recorder recorder = bucket.recorder(t);
      for (int i = 0; i < 50; ++i) recorder.add<Draw>(t).glyph = *arenas.mine().make<long>(1);
    });
  }
  for (auto& thread : threads) thread.join();
  bucket.sort();
  Gpu gpu;
  return bucket.dispatch(gpu) == 400 && gpu.sum == 400 ? 0 : 1;
}

}  // namespace

int main() {
  if (come_and_go() != 0) return 1;
  handoff::Frame frame({.in_flight = 2});
  Bucket a(frame);
  Bucket b(frame);
  const std::array<Bucket*, 2> buckets = {&a, &b};
  handoff::Channel<Step> steps(1);
  long total = 0;
  std::thread late([&] {
    while (std::optional<Step> step = steps.pop()) {
      Gpu gpu;
      step->bucket->dispatch(gpu);
      total += gpu.sum + step->large[99'999];
      inside();
    }
  });
  for (int s = 0; s < 40; ++s) {
    Bucket& bucket = *buckets[std::size_t(s % 2)];
    {
      Bucket::Recorder recorder = bucket.recorder(0);
      for (int i = 0; i < 500; ++i) recorder.add<Draw>(std::uint64_t(i % 13)).glyph = s;
    }
    bucket.sort();
    auto* const large = frame.arena().make_array<long>(100'000);
    large[99'999] = 1;
    (void)steps.push(Step{&bucket, large, frame.hold()});
    if (s == 0) outside();
    (void)frame.next();  // waits while the last one is still held
  }
  steps.close();
  late.join();
  return total == 500L * (39 * 40 / 2) + 40 ? 0 : 1;
}
