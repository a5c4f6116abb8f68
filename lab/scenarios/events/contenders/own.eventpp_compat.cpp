// SPDX-License-Identifier: MIT
// The same program as peer.eventpp, built with compat/eventpp instead: what a user who changes one
// include path gets.
#include "scenarios/events/eventpp_program.hpp"

namespace handoff::lab::events {

Operation contender(const Task& task) { return eventpp_program(task); }

}  // namespace handoff::lab::events
