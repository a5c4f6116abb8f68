// SPDX-License-Identifier: MIT
// Can the lab's verdict be believed on this machine? A contender is compared with itself, which
// must not be called a change, and with itself doing 5 % more, which must be found. And in each
// scenario a contender is compared with a canary, the same code in other layouts: they must be
// equal.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "commands/options.hpp"
#include "harness/verdict.hpp"

namespace handoff::lab {

struct SelfTestComparison {
  bool planted = false;
  std::size_t launches = 0;    // of each side, until it was told
  int repeats = 0;             // because the machine was disturbed
  std::string disturbed = {};  // why it still was; empty: it was not
  JudgedChange judged = {};
  std::string canary = {};     // which one it is of; empty: of none
};

// What all comparisons say together.
struct SelfTestSummary {
  int equals = 0;
  int called_different = 0;  // of the equals
  int planted = 0;
  int found = 0;             // of the planted
  int wrong = 0;             // equals called different, planted called unchanged or improved
  int too_noisy = 0;         // of all
  int disturbed = 0;         // of the too noisy
  // None of the above counts canaries.
  int canaries = 0;
  int canaries_equal = 0;
  int canaries_different = 0;
  std::vector<std::string> canaries_not_equal = {};  // a line each
  // Of the equals that nothing disturbed:
  double floor = 0;    // the A-against-A floor: 99 % of them were this near to 1
  double visible = 0;  // a difference of this size is found in 95 % of all cases
  int exit_code = 0;

  [[nodiscard]] std::string text() const;
};

[[nodiscard]] SelfTestSummary summary_of(const std::vector<SelfTestComparison>& comparisons);

[[nodiscard]] nlohmann::json to_json(const SelfTestSummary& summary,
                                     const std::vector<SelfTestComparison>& comparisons);

// Measures; throws Interrupted, and UserError where the contender is missing or broken.
std::vector<SelfTestComparison> self_test(const DoctorOptions& options, std::uint64_t seed);

}  // namespace handoff::lab
