// SPDX-License-Identifier: MIT
//
// What is no template of Latest.
#include <handoff/bus/latest.hpp>
#include <handoff/core/misuse.hpp>
#include <stdexcept>
#include <string>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

std::size_t latest_slots(std::size_t at_once) {
  constexpr std::size_t most = 31;  // 2 * 31 + 1 slots have a bit each in one word
  if (at_once == 0) misuse("a Latest was made for 0 calls at once: say 1 or more");
  if (at_once > most) {
    raise(std::length_error("a Latest has between 1 and 31 calls at once, not " +
                            std::to_string(at_once)));
  }
  return 2 * at_once + 1;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
