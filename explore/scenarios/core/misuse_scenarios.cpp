// SPDX-License-Identifier: MIT
//
// The misuse handler may be set while another thread reports.
#include <handoff/core/misuse.hpp>
#include <handoff/sync/detail/cell.hpp>
#include <stdexcept>

#include "explore/scenario.hpp"

namespace misuse_scenarios { namespace {

using namespace handoff;
using test::Scenario;

sync::cell<int>* prepared = nullptr;

const Scenario set_while_reported("misuse/set_while_reported", [] {
  sync::cell<int> data(0);
  int seen = -1;
  prepared = &data;
  explore::Thread setter([&] {
    data.write() = 1;
    set_misuse_handler([](const char*) { explore::check(prepared->read() == 1, "prepared"); });
  });
  try {
    misuse("a test");
  } catch (const std::logic_error&) {
    seen = 0;
  }
  setter.join();
  explore::check(seen == 0, "reported");
});

}}  // namespace misuse_scenarios
