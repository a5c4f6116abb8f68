// SPDX-License-Identifier: MIT
//
// A loop that nothing can end early: what another executor would refuse, the caller does. Not for
// users.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/graph/detail/serial_start.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// body(part) for each of `parts`, which are at most `most`. It is noexcept.
template <std::size_t most, class E, class Body>
void whole_loop(E& executor, std::size_t parts, const Body& body) noexcept {
  static_assert(noexcept(body(parts)));
  bool is_done[most] = {};
  auto once = [&](std::size_t part) {
    is_done[part] = true;
    body(part);
  };
  // What is thrown here is the executor's, such as std::bad_alloc before anything is begun.
  if (detail::attempt([&] { handoff::parallel_for(executor, std::size_t{0}, parts, once); })) {
    return;
  }
  for (std::size_t part = 0; part < parts; ++part) {
    if (!is_done[part]) body(part);
  }
}

// body(IndexRange) for parts of [0, count), by the caller alone if these are few. It is noexcept.
template <class E, class Body>
void whole_loop_over(E& executor, std::size_t count, const Body& body) noexcept {
  constexpr std::size_t most_parts = 128;
  constexpr std::size_t few = 4096;
  if (count <= few) return body(IndexRange{0, count});
  const std::size_t parts = min(8 * members_of(executor), most_parts);
  detail::whole_loop<most_parts>(executor, parts, [&](std::size_t part) noexcept {
    const std::size_t begin = count / parts * part;
    body(IndexRange{begin, part + 1 == parts ? count : begin + count / parts});
  });
}

}}}  // namespace handoff::HANDOFF_ABI::detail
