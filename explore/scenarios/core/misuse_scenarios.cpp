// SPDX-License-Identifier: MIT
//
// The handlers of misuse and of lost failures may be set while another thread reports.
#include <handoff/core/lost_failure.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/internal/cell.hpp>
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

const Scenario lost_while_set("lost_failure/set_while_reported", [] {
  sync::cell<int> data(0);
  prepared = &data;
  set_lost_failure_handler([](const char*) noexcept {});
  explore::Thread setter([&] {
    data.write() = 1;
    set_lost_failure_handler(
        [](const char*) noexcept { explore::check(prepared->read() == 1, "prepared"); });
  });
  lost_failure("a test");
  setter.join();
  set_lost_failure_handler(nullptr);
});

}}  // namespace misuse_scenarios
