// SPDX-License-Identifier: MIT
//
// What the workers of a ProcessPool do: one job after another, until they have done enough of them
// or have grown too large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/process/detail/claim_table.hpp>
#include <handoff/process/process_pool_options.hpp>

#include "fork_server.hpp"
#include "job_arena.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class JobLife final : public WorkerLife {
 public:
  // Maps what they share. Throws std::system_error.
  explicit JobLife(const ProcessPoolOptions& options);

  const JobArena& arena() const noexcept { return arena_; }

  void live(const ServerPlan& plan, std::uint32_t slot) noexcept override;
  void dismiss() noexcept override { arena_.board().dismiss(); }

 private:
  bool call(JobPlace& place) const noexcept;

  JobArena arena_;
  const std::size_t most_jobs_;
  const std::size_t most_growth_;  // bytes
};

}}}  // namespace handoff::HANDOFF_ABI::detail
