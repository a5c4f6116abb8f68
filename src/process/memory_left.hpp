// SPDX-License-Identifier: MIT
//
// How much memory there is: what the machine has left, and what the limits of this process's
// cgroups leave. The kernel gives pages as long as there are some, and then kills a process, of
// this cgroup where it is its limit; so code that reserves memory asks first.
#pragma once

#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/sync/internal/relaxed.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// How many bytes could be had without killing a process for them; as many as there can be where
// nothing says it. `root` stands before the paths of the files that say it.
std::uint64_t memory_left(const char* root = "") noexcept;

// What may be taken without asking what is left, which takes longer than to have a few pages.
class MemoryCredit {
 public:
  bool take(std::uint64_t bytes) noexcept {
    std::uint64_t left = left_.get();
    while (left >= bytes) {
      if (left_.exchange_if(left, left - bytes)) return true;
    }
    return false;
  }
  // Somebody has looked: from here on this much is left.
  void grant(std::uint64_t bytes) noexcept { left_.set(bytes); }

 private:
  sync::relaxed<std::uint64_t> left_;
};

// Whether this much memory can be had. May say yes without a look as long as what it said yes to
// since the last one is little beside what was left then.
bool is_memory_there(std::uint64_t bytes) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail
