// SPDX-License-Identifier: MIT
//
// How the consumer of a bus counts, and what others make of its figures. Not for users.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class BusFigures {
 protected:
  // Written by the consumer alone; any thread reads the figures.
  static void count_one(sync::atomic<std::uint64_t>& figure) noexcept {
    // order: relaxed, twice: only the consumer writes it, and the head is published behind it.
    figure.store(figure.load(sync::order::relaxed) + 1, sync::order::relaxed);
  }
  static std::uint64_t now(const sync::atomic<std::uint64_t>& figure) noexcept {
    return figure.load(sync::order::relaxed);  // order: relaxed, a figure
  }
  static constexpr std::uint64_t less(std::uint64_t all, std::uint64_t some) noexcept {
    return all > some ? all - some : 0;
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
