// SPDX-License-Identifier: MIT
//
// How a worker program and the program of its team get to know each other: three messages over a
// socket that keeps messages apart, which the worker finds at a number that it knows.
//
//   WP-1  The team tells nothing, and no run begins for the worker, before the hello was checked:
//         magic, version, layout of what they share, kernels. The first words of the hello are the
//         same in all versions.
//   WP-2  A hello is checked on the copy that was received, and all that is read of it lies within.
//   WP-3  All of it has one end in time; a process that is not ready then is killed.
//
//   the worker -- hello: its kernels ----------------------> the team
//   the worker <- welcome: slot, sizes, three descriptors -- the team
//   the worker -- ready, or why not -----------------------> the team
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/process/detail/kernel_signature.hpp>
#include <handoff/process/detail/team_board.hpp>
#include <string>
#include <vector>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

inline constexpr int kWorkerSocket = 3;  // the worker's number of it
inline constexpr std::uint64_t kWorkerMagic = 0x72656b726f576f48U;  // "HoWorker"
inline constexpr std::uint32_t kWorkerVersion = 2;
// The layout of what a team and its workers share, in this build.
inline constexpr std::uint64_t kWorkerLayout =
    shared_layout<TeamBoard, WorkerSlot, ClaimWord, TeamJob>({TeamWords::most_arguments});

struct WorkerHello {
  static constexpr std::size_t most_kernels = 64;

  std::uint64_t magic = kWorkerMagic;
  std::uint32_t version = kWorkerVersion;
  std::uint32_t count = 0;
  std::uint64_t layout = kWorkerLayout;
  std::array<KernelSignature, most_kernels> kernels = {};  // the first `count` are sent

  static constexpr std::size_t bytes_for(std::size_t count) noexcept {
    return offsetof(WorkerHello, kernels) + count * sizeof(KernelSignature);
  }
};

// With the team's memory, its eventfd and its socket for asking, in this order.
struct WorkerWelcome {
  static constexpr std::size_t descriptors = 3;

  std::uint64_t magic = kWorkerMagic;
  std::uint32_t slot = 0;
  std::uint32_t width = 0;
  std::uint32_t slots = 0;  // of the team's memory
  std::uint32_t blocks = 0;
};

struct WorkerReady {
  std::uint64_t magic = kWorkerMagic;
  std::int32_t error = 0;  // of mapping the team's memory
};

// What is wrong with a hello of `bytes` bytes, as the end of a sentence about the program that sent
// it; empty: nothing. `wanted`: kernels that it must have; it may have others.
std::string fault_of(const WorkerHello& hello, std::size_t bytes,
                     const std::vector<KernelSignature>& wanted);

// `"blur", "sharpen"`.
std::string names_of(const std::vector<KernelSignature>& kernels);

}}}  // namespace handoff::HANDOFF_ABI::detail
