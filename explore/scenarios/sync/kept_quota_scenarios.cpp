// SPDX-License-Identifier: MIT
//
// KeptQuota: a reader never gets the quota of another second, even while threads store new ones.
#include <handoff/sync/detail/kept_quota.hpp>

#include "explore/scenario.hpp"

namespace kept_quota_scenarios { namespace {

using namespace handoff;
using sync::KeptQuota;
using test::Scenario;

const Scenario belongs_to_its_second("kept_quota/belongs_to_its_second", [] {
  KeptQuota kept;
  explore::Thread first([&] { kept.keep(1.5, 7); });
  explore::Thread second([&] { kept.keep(3, 8); });
  explore::check(kept.of(7).value_or(1.5) == 1.5, "that of the first second, or none");
  explore::check(kept.of(8).value_or(3) == 3, "that of the second one, or none");
  explore::check(!kept.of(9), "nothing of a second in which nobody kept one");
});

}}  // namespace kept_quota_scenarios
