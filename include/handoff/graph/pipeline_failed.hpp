// SPDX-License-Identifier: MIT
//
// Says which stage of a Pipeline threw, at which item, and what.
//
// For: what run() and wait() of a Pipeline throw, and the first_failure of its Tally.
// Concurrency: a value. Blocks: never. Allocates: the text, when it is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class PipelineFailed : public std::runtime_error {
 public:
  // The stage() of a source.
  static constexpr std::size_t source = ~std::size_t{0};

  // `name`: the stage's, "" for none.
  PipelineFailed(std::uint64_t item, std::size_t stage, const char* name,
                 const std::exception_ptr& cause);

  // The number of the item: how many came from the source, or were pushed, before it.
  [[nodiscard]] std::uint64_t item() const noexcept { return item_; }
  // The number of the stage, 0 is the first one.
  [[nodiscard]] std::size_t stage() const noexcept { return stage_; }
  // What the stage threw.
  [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }

 private:
  std::uint64_t item_;
  std::size_t stage_;
  std::exception_ptr cause_;
};

}}  // namespace handoff::HANDOFF_ABI
