// SPDX-License-Identifier: MIT
// xcp, a cp with threads, where it is installed.
#include "scenarios/files/copying.hpp"

namespace handoff::lab::files {
namespace {

// It does not promise hard links, owners or times of links.
class Xcp final : public Copying {
 public:
  Xcp() : Copying("xcp", {"--recursive", "--reflink=never", "--no-progress"}) {}
  bool keeps_attributes() const override { return false; }
};

}  // namespace

std::unique_ptr<Way> contender(const Task& /*task*/) { return std::make_unique<Xcp>(); }

}  // namespace handoff::lab::files
