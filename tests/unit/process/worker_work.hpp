// SPDX-License-Identifier: MIT
//
// What worker_program_test.cpp and its worker program both have: the arguments of kernels.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <handoff/process/shared_memory.hpp>
#include <handoff/process/shared_span.hpp>

namespace worker_work {

struct Notes {
  std::atomic<std::uint32_t> deaths;
  std::atomic<std::uint32_t> ready;
  std::atomic<std::uint64_t> worker;
  std::atomic<std::uint64_t> descriptors;
  std::atomic<std::uint64_t> mappings;
  std::atomic<std::uint64_t> version;
};

struct Work {
  handoff::SharedSpan<std::uint64_t> rows;
  handoff::SharedSpan<Notes> notes;
  std::uint64_t factor = 0;
  std::uint32_t deaths = 0;  // of workers at index 3
  std::int32_t signal = 0;  // by which; 0: by exit(7)
};

struct Copy {
  static constexpr std::uint64_t layout = handoff::shared_layout<std::uint64_t>({2});
  handoff::SharedSpan<const std::uint64_t> from;
  handoff::SharedSpan<std::uint64_t> to;
};

inline std::uint64_t row(std::uint64_t factor, std::size_t index) {
  std::uint64_t value = factor + index;
  for (int i = 0; i < 20; ++i) value = value * 6364136223846793005U + 1442695040888963407U;
  return value;
}

}  // namespace worker_work
