// SPDX-License-Identifier: MIT
//
// What is said of a failure when the pool ends and nobody was told.
#include "failures.hpp"

#include <handoff/core/detail/attempt.hpp>
#include <handoff/core/lost_failure.hpp>

#include "../core/escaped_text.hpp"
#include "../core/failure_text.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

void Failures::tell_lost(const std::string& pool) noexcept {
  const Untold untold = take();
  if (!untold.error) return;
  const auto tell = [&] {
    std::string thrown;
    const auto keep = [&thrown](const char* text) noexcept {
      (void)attempt([&] { thrown = text; });
    };
    try {
      std::rethrow_exception(untold.error);
    } catch (...) {
      keep_failure_text(keep);
    }
    const std::string task =
        untold.task.empty() ? "a task" : "the task '" + escaped(untold.task) + "'";
    const std::string what = "ThreadPool '" + escaped(pool) + "': " + task +
                             " threw: " + escaped(thrown) +
                             "; nobody was told: catch it in the task, set on_error, or call "
                             "wait() before the pool ends";
    lost_failure(what.c_str());
  };
  const auto tell_at_least = []() noexcept {
    lost_failure("a task of a pool threw, nobody was told, and no memory is left to say what");
  };
  (void)attempt(tell, tell_at_least);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
