// SPDX-License-Identifier: MIT
// For tests: leaves a block of rows out, once.
#include "scenarios/spawn/claims.hpp"

namespace handoff::lab::spawn { namespace {

class Leaves {
 public:
  explicit Leaves(std::size_t /*width*/) {}
  void run(const Rows& rows) { rows.do_block(rows.run == 3 ? kBlock : 0, rows.count); }
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_claims<spawn::Leaves>(parameters);
}
