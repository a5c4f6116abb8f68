// SPDX-License-Identifier: MIT
//
// What the workers of a ProcessPool do: one job after another, until they have done enough of them
// or have grown too large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/process/detail/job_board.hpp>
#include <handoff/process/process_pool_options.hpp>

#include "process_arena.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class JobLife final : public ArenaLife<JobBoard> {
 public:
  explicit JobLife(const ProcessPoolOptions& options);

  void live(const ServerPlan& plan, std::uint32_t slot) noexcept override;

 private:
  bool call(JobPlace& place) const noexcept;

  const std::size_t most_jobs_;
  const std::size_t most_growth_;  // bytes
};

}}}  // namespace handoff::HANDOFF_ABI::detail
