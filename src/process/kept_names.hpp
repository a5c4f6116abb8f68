// SPDX-License-Identifier: MIT
//
// The names of shared memory that this process has made. They stand in memory that it shares with
// its fork servers, which take them away when it was killed.
//
// Invariants
//   KN-1  A name is taken away only by a fork server, once the process that made it is gone, and
//         only while it is that of the file which this one made; or of a file that nobody has
//         locked, where it was killed between the calls that make a file and say which one it is.
//   KN-2  A place is written by one process, under its mutex, and read by another one only once the
//         kernel has said that the first is gone. What must be written first is so under a lock of
//         its own: whenever the process is killed, the state says no more than what is there.
//   KN-3  A process that was forked keeps its names elsewhere. So no fork server takes them away.
// Not kept: names beyond the places there are, or without memory for places.
// Concurrency: any thread. Blocks, throws: never.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <handoff/config.hpp>

#include "shared_pages.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class KeptName {
 public:
  KeptName() noexcept = default;
  // The name is gone by now, or was never taken.
  ~KeptName() { give_back(); }
  KeptName(const KeptName&) = delete;
  KeptName& operator=(const KeptName&) = delete;

  // Before the file is made: from here on it may be there.
  void expect(const char* name) noexcept;
  // It is there, and this one.
  void is(const FileFacts& facts) noexcept;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  void give_back() noexcept;

  std::size_t place_ = kNone;
  pid_t owner_ = -1;
};

// Whether a name of this process is there, or expected.
bool has_names() noexcept;

// Before a fork server is forked: there are places, which it will share.
void have_places_for_names() noexcept;

// In a fork server, once its program is gone.
void take_away_names_of(pid_t program) noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail
