// SPDX-License-Identifier: MIT
//
// Work of this thread, or its sleep, from here to the end of the block: for the recorder that looks
// through the hook (hook.hpp). Not for users.
//
//   const probe::Slice slice(probe::Kind::loop, "loop", run);
//
// Concurrency: of one thread. Blocks, allocates, throws: never.
#pragma once

#include <handoff/config.hpp>
#include <handoff/probe/detail/hook.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace probe {

class Slice {
 public:
  Slice(Kind kind, const char* name, const void* what = nullptr) noexcept
      : kind_(kind), what_(what) {
    begin(kind, name, what);
  }
  ~Slice() { end(kind_, what_); }
  Slice(const Slice&) = delete;
  Slice& operator=(const Slice&) = delete;

 private:
  const Kind kind_;
  const void* const what_;
};

}}}  // namespace handoff::HANDOFF_ABI::probe
