// SPDX-License-Identifier: MIT
//
// The driver whose calls the kernel makes: one thread hands them to an io_uring and takes back what
// came of them, `width` at once. Where the library is built without liburing, there is none.
#pragma once

#include <handoff/config.hpp>
#include <memory>

#include "driver.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Null if the kernel refuses a ring or its ring cannot do enough; then `error` is an errno that
// says why: ENOSYS, EPERM (forbidden), ENOMEM, EMFILE. Throws std::system_error if the thread
// cannot be had.
std::unique_ptr<FileDriver> make_ring_driver(FileHost& host, const FileDriverOptions& options,
                                             int& error);

// What make_ring_driver() would say, without a thread. 0: there can be a ring.
int ring_refusal() noexcept;

}}}  // namespace handoff::HANDOFF_ABI::detail
