// SPDX-License-Identifier: MIT
//
// The mode `cached`: for tasks that spend their time waiting for something else. One queue as in
// `fixed`, so that a task which blocks holds up nobody but itself. Threads come with the work: new
// work that finds all of them busy starts one more, up to the width, which starts the next one if
// it finds more than it takes. A worker that was idle for `idle_time` ends, down to the core.
// Coming and going are the Engine's business, by the same rules as waking and sleeping.
#include <memory>

#include "modes.hpp"
#include "one_queue.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

std::unique_ptr<TaskSource> make_cached(Claimer& claimer) {
  return std::make_unique<OneQueue>(claimer);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
