// SPDX-License-Identifier: MIT
//
// Handles of an open file that come and go on two threads.
#include "file/open_file_state.hpp"

#include <handoff/file/open_file.hpp>

#include "explore/scenario.hpp"

namespace open_file_scenarios { namespace {

namespace explore = handoff::explore;
using handoff::OpenFile;
using handoff::detail::OpenFileAccess;
using handoff::detail::OpenFileState;
using handoff::test::Scenario;

// The last handle ends the file, whichever that is; what others did with it comes before.
const Scenario handles("open_file/handles", [] {
  auto* const state = new OpenFileState;
  OpenFile first = OpenFileAccess::make(state);
  OpenFile second = first;
  explore::Thread other([&second] {
    OpenFileAccess::state(second)->path = "other";
    second = OpenFile();
  });
  const OpenFile third = first;
  first = OpenFile();
  other.join();
});

}}  // namespace open_file_scenarios
