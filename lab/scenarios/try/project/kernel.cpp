// SPDX-License-Identifier: MIT
// A loop for `handoff try`: an image is blurred, an item is a row. Put your own loop in its place.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "try_kernel.h"

namespace {

constexpr std::size_t kWidth = 1600;
constexpr std::size_t kHeight = 1200;
constexpr std::size_t kRadius = 3;  // of the blur

std::vector<float> image;   // read by all, written by setup() alone
float* blurred = nullptr;  // the result, in memory that was given: so processes run it, too

// Once, before all else. A kernel that keeps its result elsewhere sets result_bytes to 0.
int setup(void* result) {
  image.resize(kWidth * kHeight);
  std::uint32_t random = 1;
  for (float& pixel : image) {
    random = random * 1664525u + 1013904223u;
    pixel = static_cast<float>(random >> 8) / 16777216.0f;
  }
  blurred = static_cast<float*>(result);
  return 0;
}

std::uint64_t items() { return kHeight; }

std::size_t clamped(std::size_t at, std::size_t offset, std::size_t size) {
  const std::size_t moved = at + offset;  // of kRadius more than is meant
  if (moved < kRadius) return 0;
  return moved - kRadius < size ? moved - kRadius : size - 1;
}

// One row. It writes what belongs to this row and nothing else.
void blur_row(std::size_t y) {
  float sums[kWidth];
  for (float& sum : sums) sum = 0;
  for (std::size_t dy = 0; dy <= 2 * kRadius; ++dy) {
    const float* const row = &image[clamped(y, dy, kHeight) * kWidth];
    for (std::size_t x = 0; x < kWidth; ++x) sums[x] += row[x];
  }
  constexpr float area = (2 * kRadius + 1) * (2 * kRadius + 1);
  for (std::size_t x = 0; x < kWidth; ++x) {
    float sum = 0;
    for (std::size_t dx = 0; dx <= 2 * kRadius; ++dx) sum += sums[clamped(x, dx, kWidth)];
    blurred[y * kWidth + x] = sum / area;
  }
}

// The items from `first` to before `last`; several threads at once, each with other items.
void run(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t y = first; y < last; ++y) blur_row(y);
}

// As if no item had been done: a row that was left out must show.
void reset() { std::memset(blurred, 0, kWidth * kHeight * sizeof *blurred); }

// The same after each pass, whatever the order of the items was.
std::uint64_t digest() { return handoff_try_digest(blurred, kWidth * kHeight * sizeof *blurred); }

const handoff_try_kernel kernel = {HANDOFF_TRY_VERSION,
                                   sizeof kernel,
                                   "blur of an image",
                                   items,
                                   run,
                                   reset,
                                   digest,
                                   kWidth* kHeight * sizeof(float),
                                   setup,
                                   nullptr};

}  // namespace

const handoff_try_kernel* handoff_try_entry() { return &kernel; }
