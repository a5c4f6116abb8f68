// SPDX-License-Identifier: MIT
// This library's rings, polled: the one that is made for as many threads as there are.
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/mpsc_ring.hpp>
#include <handoff/queue/spsc_ring.hpp>

#include "scenarios/messages/own_queue.hpp"

namespace handoff::lab::messages {
namespace {

template <class Message>
using OneToOne = OwnQueue<SpscRing<Message>>;
template <class Message>
using ManyToOne = OwnQueue<MpscRing<Message>>;
template <class Message>
using ManyToMany = OwnQueue<MpmcRing<Message>>;

}  // namespace

Operation contender(const Task& task) {
  if (task.one_each()) return measure<OneToOne>(task);
  return task.consumers == 1 ? measure<ManyToOne>(task) : measure<ManyToMany>(task);
}

}  // namespace handoff::lab::messages
