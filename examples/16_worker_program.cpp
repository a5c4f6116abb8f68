// SPDX-License-Identifier: MIT
//
// A team whose workers are another program: built apart, and replaced while this one runs. They
// have the code, this one has the pictures. The worker is worker_program/blur_worker.cpp.
#include <cstddef>
#include <cstdio>
#include <span>
#include <system_error>

#include <handoff/process/process_team.hpp>
#include <handoff/process/shared_memory.hpp>

#include "worker_program/blur.hpp"

namespace {

constexpr std::size_t rows = 200;
constexpr std::size_t columns = 300;
constexpr std::size_t pixels = rows * columns;

bool is_blurred(std::span<const float> picture) {
  for (std::size_t i = 0; i < pixels; ++i) {
    const bool is_edge = i % columns == 0 || i % columns == columns - 1;
    if (!is_edge && picture[i] != static_cast<float>(i % columns)) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  handoff::ProcessTeam team{
      {.width = 3, .program = {argc > 1 ? argv[1] : "./example_blur_worker"}}};

  // Made after the workers: each of them asks for it when it first needs it.
  const auto memory = handoff::SharedMemory::create({.bytes = 2 * pixels * sizeof(float)});
  const Blur blur{.from = handoff::SharedSpan<const float>(memory, 0, pixels),
                  .to = handoff::SharedSpan<float>(memory, pixels * sizeof(float), pixels),
                  .columns = columns};
  const std::span<float> from = handoff::SharedSpan<float>(memory, 0, pixels).get();
  for (std::size_t i = 0; i < pixels; ++i) from[i] = static_cast<float>(i % columns);

  const handoff::Tally tally = team.run("blur", rows, blur);
  std::printf("%llu rows\n", static_cast<unsigned long long>(tally.done));
  bool right = tally.done == rows && is_blurred(blur.to.get());

  // What the two programs do not agree on is said before anything runs.
  try {
    (void)team.run("sharpen", rows, blur);
    right = false;
  } catch (const std::system_error& error) {
    std::printf("%s\n", error.what());
  }
  return right ? 0 : 1;
}
