// SPDX-License-Identifier: MIT
//
// The modes of a pool, each in a file of its own.
#pragma once

#include <cstddef>
#include <memory>

#include <handoff/config.hpp>
#include <handoff/pool/detail/task_source.hpp>

#include "claimer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// `bounded`: tasks leave the queue one by one, when they begin.
std::unique_ptr<TaskSource> make_stealing(Claimer& claimer, bool bounded);
std::unique_ptr<TaskSource> make_active(Claimer& claimer, std::size_t workers, bool bounded);
std::unique_ptr<TaskSource> make_fixed(Claimer& claimer);
std::unique_ptr<TaskSource> make_cached(Claimer& claimer);

}}}  // namespace handoff::HANDOFF_ABI::detail
