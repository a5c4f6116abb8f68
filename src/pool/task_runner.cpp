// SPDX-License-Identifier: MIT
//
// What is rare about running a task: it throws, is traced, or needs another stack.
#include "task_runner.hpp"

#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/inside.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/pool/task_failure.hpp>
#include <handoff/pool/thread_pool_options.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <new>
#include <system_error>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Called deep inside tasks, so a new thread each time costs nothing against what lies above it.
bool TaskRunner::on_new_stack(const Rest& rest) noexcept {
  Workplace* const here = workplace();
  Inside* const inside = Inside::innermost();
  try {
    const sync::Thread next({.name = options_.name}, [&rest, here, inside]() noexcept {
      workplace() = here;
      Inside::innermost() = inside;
      rest.call(rest.function);
      workplace() = nullptr;
    });
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;  // joined
}

[[gnu::cold, gnu::noinline]] Outcome TaskRunner::drop(Task& task, GroupTasks* group,
                                                      Outcome why) noexcept {
  if (group != nullptr) group->given_up(why);
  return task.drop(why);
}

// Keeps the exception that is being handled, of a task whose closure is gone.
void TaskRunner::keep_failure(Task& task, GroupTasks* group) noexcept {
  if (group == nullptr) {
    return tell_failure(task.kind_here().leaves_name ? task.as<const char*>() : "");
  }
  const std::exception_ptr failure = caught_failure();
  failures_.note(failure);  // equivalent(swap): two books of failures that do not know each other
  group->keep_failure(failure);
}

void TaskRunner::tell_failure(const char* name) noexcept {
  failures_.tell(options_.on_error, caught_failure(), name,
                 {.type = "ThreadPool", .name = options_.name});
}

void TaskRunner::tell_begun(Task& task, const void* what) noexcept {
  TaskName name{nullptr};
  if (const auto ask = task.kind_here().name) name = ask(task);
  const bool is_given = *name.given != 0;
  probe::seen(is_given ? probe::Mark::begin_named : probe::Mark::begin, probe::Kind::task,
              is_given ? name.given : name.type, what);
}

Outcome TaskRunner::run_uncounted(Task& task) noexcept {
  if (probe::is_watched()) [[unlikely]]
    tell_begun(task, nullptr);
  struct End {
    ~End() { probe::end(probe::Kind::task, nullptr); }
  };
  const End end;
  try {
    return task.run();  // also if the pool is dropping tasks: this one has begun
  } catch (...) {
    keep_failure(task, nullptr);
    return Outcome::failed;
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
