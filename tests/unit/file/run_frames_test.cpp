// SPDX-License-Identifier: MIT
//
// The memory of a run's coroutines: in the run while there is room, else allocated.
#include "file/run_frames.hpp"
#include "support/test.hpp"

namespace handoff { namespace {

using detail::RunFrames;

bool lies_in(const RunFrames& frames, const void* memory) {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const auto begin = reinterpret_cast<std::uintptr_t>(&frames);
  return at >= begin && at < begin + sizeof frames;
}

TEST(RunFrames, WhatHasNoRoomIsAllocated) {
  RunFrames frames;
  constexpr std::size_t kHalf = RunFrames::kBytes / 2 / 16 * 16 - 16;  // with its head
  for (int round = 0; round < 2; ++round) {
    void* const first = frames.take(kHalf);
    void* const second = frames.take(kHalf);
    void* const third = frames.take(1);
    EXPECT_TRUE(lies_in(frames, first));
    EXPECT_TRUE(lies_in(frames, second));
    ASSERT_NE(third, nullptr);
    EXPECT_FALSE(lies_in(frames, third));
    std::memset(first, 1, kHalf);
    std::memset(second, 2, kHalf);
    EXPECT_EQ(static_cast<const unsigned char*>(first)[kHalf - 1], 1);
    RunFrames::give_back(third, 1);
    RunFrames::give_back(second, kHalf);
    void* const again = frames.take(kHalf - 15);
    EXPECT_EQ(again, second) << "the last one is given back first";
    RunFrames::give_back(again, kHalf - 15);
    RunFrames::give_back(first, kHalf);
  }
}

TEST(RunFrames, EachIsAlignedForAnything) {
  RunFrames frames;
  for (const std::size_t bytes : {1U, 15U, 16U, 17U, 2 * unsigned{RunFrames::kBytes}}) {
    void* const frame = frames.take(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame) % __STDCPP_DEFAULT_NEW_ALIGNMENT__, 0U);
    RunFrames::give_back(frame, bytes);
  }
}

}}  // namespace handoff
