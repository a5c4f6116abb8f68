// SPDX-License-Identifier: MIT
// oneTBB's bounded queue.
#include "peers/onetbb_queue.hpp"
#include "scenarios/messages/measure.hpp"

namespace handoff::lab::messages {

template <class Message>
using OneTbb = peers::OneTbbQueue<Message, capacity>;

Operation contender(const Task& task) { return measure<OneTbb>(task); }

}  // namespace handoff::lab::messages
