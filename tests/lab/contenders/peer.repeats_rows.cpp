// SPDX-License-Identifier: MIT
// For tests: does the last row of each run twice.
#include "scenarios/spawn/claims.hpp"

namespace handoff::lab::spawn { namespace {

class Repeats {
 public:
  explicit Repeats(std::size_t /*width*/) {}
  void run(const Rows& rows) {
    rows.do_block(0, rows.count);
    rows.do_block(rows.count - 1, rows.count);
  }
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_claims<spawn::Repeats>(parameters);
}
