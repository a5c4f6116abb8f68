// SPDX-License-Identifier: MIT
// One operation is a chain of `links` links, from 1.
#include <memory>

#include "harness/contender.hpp"
#include "self_test/chain.hpp"

namespace handoff::lab {

Prepared prepare(const Parameters& parameters, std::span<const std::byte>) {
  const auto end = std::make_shared<std::uint64_t>(0);
  const auto operation = [end, links = parameters.number("links")](Burst&) {
    volatile std::uint64_t start = 1;  // hides from the compiler that the end is always the same
    *end = chain(start, links);
  };
  return {operation, std::as_writable_bytes(std::span(end.get(), 1))};
}

}  // namespace handoff::lab
