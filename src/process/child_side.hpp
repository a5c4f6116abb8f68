// SPDX-License-Identifier: MIT
//
// What a child does between its birth and its program, as data, and the function that does it.
//
// The child has the memory of its parent until then, and its thread stands still meanwhile: so no
// page is copied, however large the parent is. It may make system calls and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The bytes of a set of CPUs: more of them than any kernel knows.
inline constexpr std::size_t kCpuSetBytes = 1024;

struct ChildDescriptor {
  int from;
  int to;
};

struct ChildLimit {
  int resource;
  std::uint64_t soft;
  std::uint64_t hard;
};

// What fails where it is the folder that is missing, and not the program.
inline constexpr char kGoToFolder[] = "go to the folder";

// All that a child needs, made before; and what failed, written by the child.
struct ChildPlan {
  long parent = 0;  // its process; 0: the parent is not visible from the child

  const char* directory = nullptr;  // null: the parent's
  ChildDescriptor* descriptors = nullptr;  // in the order of `to`
  std::size_t descriptor_count = 0;
  const ChildLimit* limits = nullptr;
  std::size_t limit_count = 0;
  const unsigned long* cpus = nullptr;  // kCpuSetBytes; null: as the thread that starts it
  bool own_group = false;
  bool no_new_privileges = false;

  const char* const* executables = nullptr;  // tried in this order; ends with null
  char* const* arguments = nullptr;
  char* const* environment = nullptr;

  // The answer; 0: the program runs.
  int error = 0;
  const char* failed = "";  // what the child was to do
};

// For clone(2). Returns only if something failed, what the child then ends with.
int run_child(void* plan) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail
