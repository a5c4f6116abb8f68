// SPDX-License-Identifier: MIT
//
// A frame: commands recorded by many threads, sorted, dispatched.
#include <cstddef>
#include <cstdint>
#include <handoff/command/command_bucket.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/memory/frame.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/team/thread_team.hpp>
#include <vector>

#include "plant.hpp"

namespace {

using Image = std::vector<int>;
struct Draw {
  std::uint32_t at;
  int colour;
  void operator()(Image& image) const { image[at] = colour; }
};
using Bucket = handoff::CommandBucket<std::uint32_t, Image>;

}  // namespace

int main() {
  handoff::ThreadPool pool(3);
  handoff::ThreadTeam team(3);
  handoff::Frame frame;
  Bucket bucket(frame);
  Image image(4000);
  pool.post([] { inside(); });
  outside();
  for (int picture = 0; picture < 3; ++picture) {
    const auto draw = [&](Bucket::Recorder& recorder, handoff::IndexRange range) {
      for (const std::size_t i : range) {
        recorder.add<Draw>(std::uint32_t(i * 7919 % 4000)) = {std::uint32_t(i), picture + 1};
      }
    };
    if (picture == 1) {
      bucket.record(pool, image.size(), 64, draw);
      bucket.sort(pool);
    } else {
      bucket.record(team, image.size(), 64, draw);
      bucket.sort(team);
    }
    bucket.dispatch(image);
    bucket.clear();
    (void)frame.next();
  }
  for (const int colour : image) {
    if (colour != 3) return 1;
  }
  return 0;
}
