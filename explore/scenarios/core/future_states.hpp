// SPDX-License-Identifier: MIT
//
// States of Futures whose tasks are played by the scenario.
#pragma once

#include <handoff/core/internal/future_work.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <utility>

namespace handoff::test {

// Of no executor, or of this one.
template <class F>
auto state_of(F function, detail::FutureHost* host = nullptr) {
  using Work = detail::FutureWork<detail::WorkResult<F>, F>;
  return detail::RawBox<Work>().make(host, std::move(function));
}

}  // namespace handoff::test
