// SPDX-License-Identifier: MIT
// eventpp as it is: its callback list, and its queue to listeners.
#include "scenarios/events/eventpp_program.hpp"

namespace handoff::lab::events {

Operation contender(const Task& task) { return eventpp_program(task); }

}  // namespace handoff::lab::events
