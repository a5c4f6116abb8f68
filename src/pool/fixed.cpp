// SPDX-License-Identifier: MIT
//
// The mode `fixed`: one queue for all tasks, taken one by one, so they begin in the order in which
// they were handed over.
#include <memory>

#include "modes.hpp"
#include "one_queue.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

std::unique_ptr<TaskSource> make_fixed(Claimer& claimer) {
  return std::make_unique<OneQueue>(claimer);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
