// SPDX-License-Identifier: MIT
// For tests: looks at memory each second time only.
#include "scenarios/spawn/mapping.hpp"

namespace handoff::lab::spawn { namespace {

class LooksAway {
 public:
  std::uint64_t look() { return ++count_ % 2 == 0 ? kFirstWord : 0; }

 private:
  std::uint64_t count_ = 0;
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& /*parameters*/,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_attach<spawn::LooksAway>();
}
