// SPDX-License-Identifier: MIT
// What an item of work took beside its time: where the threads were meanwhile, context switches,
// and what counters counted.
#pragma once

#include "harness/protocol.hpp"
#include "harness/thread_times.hpp"

namespace handoff::lab {

// By name. What is not known is NaN.
using Figures = std::map<std::string, double>;

// Where the time of some threads went, ns for an item of work.
struct ThreadTime {
  double on_cpu_ns = NAN;
  double ready_ns = NAN;  // for a CPU that others had
  double off_cpu_ns = NAN;
};

struct PerItem {
  ThreadTime submitter;  // the thread that hands over
  ThreadTime others;     // all other threads together
  double voluntary_switches = NAN;
  double involuntary_switches = NAN;
  Figures counters;  // those of harness/counters.hpp
};

// visit(name, figure) for all but the counters: by these names contenders report them, and files
// have them.
template <class PerItemOrConst, class Visit>
void for_each_usage(PerItemOrConst& each, Visit visit) {
  visit(protocol::voluntary_switches, each.voluntary_switches);
  visit(protocol::involuntary_switches, each.involuntary_switches);
  const auto visit_time = [&](const ThreadTimeNames& names, auto& time) {
    visit(names.on_cpu, time.on_cpu_ns);
    visit(names.ready, time.ready_ns);
    visit(names.off_cpu, time.off_cpu_ns);
  };
  visit_time(thread_time_names[0], each.submitter);
  visit_time(thread_time_names[1], each.others);
}

}  // namespace handoff::lab
