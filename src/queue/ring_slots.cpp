// SPDX-License-Identifier: MIT
//
// What a ring says of a capacity that it cannot have.
#include <handoff/core/misuse.hpp>
#include <handoff/queue/internal/ring_slots.hpp>
#include <stdexcept>
#include <string>

#include "../sync/internal/joined.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

void refuse_capacity(std::size_t asked, std::size_t most) {
  if (asked == 0) {
    misuse(
        "a queue, bus or broadcast was made with a capacity of 0: say 1 or more; a channel without "
        "places is a RendezvousChannel");
  }
  raise(std::length_error(sync::joined({"a ring has between 1 and ", std::to_string(most),
                                        " places, not ", std::to_string(asked)})));
}

void refuse_storage(std::size_t bytes, std::size_t needed) {
  raise(std::length_error("the storage has " + std::to_string(bytes) + " bytes, not the " +
                          std::to_string(needed) + " that storage_bytes() asks for"));
}

}}}  // namespace handoff::HANDOFF_ABI::detail
