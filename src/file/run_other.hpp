// SPDX-License-Identifier: MIT
//
// FileRun::other(), for its parts.
#pragma once

#include <errno.h>

#include <utility>

#include <handoff/config.hpp>

#include "file_run.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A quick call that no ring has, made on the spot: function() says -1 and errno. Made again when it
// was interrupted.
template <class Function>
long FileRun::other(const char* name, int descriptor, Function&& function) noexcept {
  for (unsigned again = 0;; ++again) {
    const long result =
        perform_other(name, descriptor, nullptr, services_.tap(), [&function]() -> long {
          const long said = function();
          return said < 0 ? -static_cast<long>(errno) : said;
        });
    const bool repeat = result == -EINTR || (result == -EAGAIN && again < kMostAgain);
    if (!repeat) return result;
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
