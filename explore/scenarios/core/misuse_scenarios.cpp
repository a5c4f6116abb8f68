// SPDX-License-Identifier: MIT
//
// The handlers of misuse and of what nobody took may be set while another thread reports.
#include <handoff/core/internal/unheard.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/on_unheard.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "core/internal/line_limit.hpp"
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

const Scenario unheard_while_set("on_unheard/set_while_told", [] {
  sync::cell<int> data(0);
  prepared = &data;
  set_unheard_handler([](const char*) noexcept {});
  explore::Thread setter([&] {
    data.write() = 1;
    set_unheard_handler(
        [](const char*) noexcept { explore::check(prepared->read() == 1, "prepared"); });
  });
  detail::unheard(std::make_exception_ptr(std::logic_error("a test")),
                  {.type = "a", .remedy = "b"});
  setter.join();
  set_unheard_handler(nullptr);
});

// Two at the same moment: one writes the line.
const Scenario one_line("on_unheard/one_line_of_two", [] {
  detail::LineLimit limit;
  bool may = false;
  explore::Thread other([&] { may = limit.may(7); });
  const bool may_here = limit.may(7);
  other.join();
  explore::check(may != may_here, "one of them");
  explore::check(limit.take_left_out() == 1, "and the other one counted");
});

}}  // namespace misuse_scenarios
