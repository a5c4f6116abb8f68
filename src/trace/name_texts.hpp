// SPDX-License-Identifier: MIT
//
// The texts of names that lasted when they were noted: literals, each looked at once.
//
// A literal may be gone by the time it is read, with the shared object that it was in. So
// the kernel reads it, and returns an error where a load of this process would fault.
// Concurrency: one thread's. Allocates: each name once. Exceptions: std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

// The name of a function's type, for people: without what the compiler writes around it.
std::string_view spoken(std::string_view type) noexcept;

class NameTexts {
 public:
  // In JSON's form, for as long as this lives. `otherwise`, where there is none to be read.
  std::string_view of(std::uint64_t name, std::string_view otherwise);

 private:
  std::unordered_map<std::uint64_t, std::string> texts_;
};

}}}  // namespace handoff::HANDOFF_ABI::trace
