// SPDX-License-Identifier: MIT
// eventpp's callback list, and its queue to listeners. Built twice: with eventpp as it is, and with
// compat/eventpp, which a user gets by changing one include path.
#include "scenarios/events/eventpp_program.hpp"

namespace handoff::lab::events {

Operation contender(const Task& task) { return eventpp_program(task); }

}  // namespace handoff::lab::events
