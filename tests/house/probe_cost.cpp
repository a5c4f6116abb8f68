// SPDX-License-Identifier: MIT
//
// Each kind of probe, alone in a function: probe_cost_test.py counts in the assembly what it is
// while nothing looks.
#include <handoff/probe/internal/hook.hpp>

namespace probe = handoff::probe;

extern "C" {

void hand_over_probe(const void* what) { probe::hand_over(probe::Kind::task, what); }
void share_out_probe(const void* what) { probe::share_out(probe::Kind::loop, what); }
void move_probe(const void* from, const void* to) { probe::move(probe::Kind::task, from, to); }
void begin_probe(const void* what) {
  probe::tell(probe::Mark::begin, probe::Kind::event, what, "name");
}
void end_probe(const void* what) { probe::end(probe::Kind::event, what); }
void gone_probe(const void* what) { probe::gone(probe::Kind::event, what); }
void moment_probe() { probe::moment(probe::Kind::steal); }
}
