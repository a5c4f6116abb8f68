// SPDX-License-Identifier: MIT
//
// A function with each kind of probe, each beside a twin without: probe_cost_test.py counts in the
// assembly what the probe adds while nothing looks.
#include <handoff/probe/detail/hook.hpp>

namespace probe = handoff::probe;

extern "C" {

void work(void* what);

void none_twin(void* what) { work(what); }
void hand_over_probe(void* what) {
  probe::hand_over(probe::Kind::task, what);
  work(what);
}
void share_out_probe(void* what) {
  probe::share_out(probe::Kind::loop, what);
  work(what);
}
void move_probe(void* what) {
  probe::move(probe::Kind::task, what, what);
  work(what);
}
void begin_probe(void* what) {
  probe::begin(probe::Kind::event, "name", what);
  work(what);
}
void end_probe(void* what) {
  probe::end(probe::Kind::event, what);
  work(what);
}
void moment_probe(void* what) {
  probe::moment(probe::Kind::steal);
  work(what);
}
}
