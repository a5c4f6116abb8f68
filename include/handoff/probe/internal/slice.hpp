// SPDX-License-Identifier: MIT
//
// Work of this thread, or its sleep, from here to the end of the block: for the recorder that looks
// through the hook (hook.hpp). Not for users.
//
//   const probe::Slice slice(probe::Kind::loop, "loop", run);
//
// It asks once whether something looks: the end of what was not seen to begin is not told.
// Concurrency: of one thread. Blocks, allocates, throws: never.
#pragma once

#include <handoff/config.hpp>
#include <handoff/probe/internal/hook.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace probe {

class Slice {
 public:
  Slice(Kind kind, const char* name, const void* what = nullptr) noexcept
      : is_seen_(is_watched()), kind_(kind), what_(what) {
    if (is_seen_) [[unlikely]]
      seen(Mark::begin, kind, name, what);
  }
  ~Slice() {
    if (is_seen_) [[unlikely]]
      seen(Mark::end, kind_, nullptr, what_);
  }
  Slice(const Slice&) = delete;
  Slice& operator=(const Slice&) = delete;

 private:
  const bool is_seen_;
  const Kind kind_;
  const void* const what_;
};

}}}  // namespace handoff::HANDOFF_ABI::probe
