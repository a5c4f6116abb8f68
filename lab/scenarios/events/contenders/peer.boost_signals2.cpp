// SPDX-License-Identifier: MIT
// Boost.Signals2 with its default mutex: a signal and slots.
#include <boost/signals2.hpp>

#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

struct Signal : boost::signals2::signal<void(const Payload&)> {
  template <class F>
  void append(F f) {
    connect(f);
  }
};

}  // namespace

Operation contender(const Task& task) { return detail::invoke<Signal>(task); }

}  // namespace handoff::lab::events
