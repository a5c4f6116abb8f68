// SPDX-License-Identifier: MIT
// One operation is a chain of `links` links, from 1.
#include "harness/contender.hpp"
#include "self_test/chain.hpp"

namespace handoff::lab {

Prepared prepare(const Parameters& parameters, std::span<const std::byte>) {
  return answering([links = parameters.number("links")](Burst&) {
    volatile std::uint64_t start = 1;  // hides from the compiler that the end is always the same
    return chain(start, links);
  });
}

}  // namespace handoff::lab
