// SPDX-License-Identifier: MIT
//
// For tests of ProcessTeam and ProcessPool: refuses workers, and is told of each step that a worker
// takes.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Made before the team or pool, whose processes call their own copies of it.
class TeamTap {
 public:
  // The errno with which the worker of `slot` is refused; 0: it is started.
  virtual int before_start(std::size_t /*slot*/) noexcept { return 0; }

  // By the server: the worker of `slot` is there, and the master does not know it yet.
  virtual void forked(std::size_t /*slot*/) noexcept {}

  // By a worker. Steps: started, claimed, computed, over (all is, or in a pool the job; the master
  // is told next), told; in a pool also retired (it ends because it is to).
  virtual void at(const char* /*step*/, std::size_t /*slot*/) noexcept {}

 protected:
  ~TeamTap() = default;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
