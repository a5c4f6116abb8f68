// SPDX-License-Identifier: MIT
//
// Where the names of sync/ and the scenarios meet the engine. Takes the place of clock.cpp,
// park.cpp, stack.cpp, thread.cpp, asymmetric_fence.cpp and cpu_budget.cpp in an exploring build.
//
// Outside an execution (globals, a test's own code) an atomic is a plain variable.
#include <errno.h>

#include <exception>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/internal/fork.hpp>
#include <handoff/sync/internal/park.hpp>
#include <handoff/sync/internal/stack.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <system_error>

#include "engine.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace explore {

namespace {
Engine& engine() noexcept { return Engine::instance(); }

// Calls the engine, whose own accesses are not looked at.
template <class R, class... P, class... A>
R pass_on(R (Engine::*call)(P...), A&&... arguments) {
  const Unseen unseen;
  return (engine().*call)(std::forward<A>(arguments)...);
}
// Outside an execution: nothing.
template <class R, class... P, class... A>
R in_execution(R (Engine::*call)(P...), A&&... arguments) {
  return engine().active() ? pass_on(call, std::forward<A>(arguments)...) : R();
}
}  // namespace

namespace model {

std::uint64_t load(Location& location, order o, const Where& where) {
  const Unseen unseen;
  return engine().active() ? engine().load(location, o, where) : location.initial;
}

void store(Location& location, std::uint64_t value, order o, const Where& where) {
  const Unseen unseen;
  if (engine().active()) return engine().store(location, value, o, where);
  location.initial = value;
}

std::uint64_t modify(Location& location, Rmw how, std::uint64_t operand, std::uint64_t mask,
                     order o, const Where& where) {
  const Unseen unseen;
  if (engine().active()) return engine().modify(location, how, operand, mask, o, where);
  return std::exchange(location.initial, changed(how, location.initial, operand) & mask);
}

bool compare_exchange(Location& location, std::uint64_t& expected, std::uint64_t desired,
                      bool may_fail_spuriously, order success, order failure, const Where& where) {
  const Unseen unseen;
  if (engine().active()) {
    return engine().compare_exchange(location, expected, desired, may_fail_spuriously, success,
                                     failure, where);
  }
  const bool same = location.initial == expected;
  (same ? location.initial : expected) = same ? desired : location.initial;
  return same;
}

void construct(Location& location) noexcept { in_execution(&Engine::construct, location); }
void destroy(Location& location, const Where& where) {
  in_execution(&Engine::destroy, location, where);
}
void fence(order o, const Where& where) { in_execution(&Engine::fence, o, where); }
void fence_heavy(const Where& where) { in_execution(&Engine::fence_heavy, where); }
void access(Accesses& accesses, Access how, const Where& where) {
  if (engine().active()) return in_execution(&Engine::access, accesses, how, where);
  if (how == Access::construct || how == Access::destroy) {
    accesses.alive = accesses.initially_alive = how == Access::construct;
  }
}
void pause(const Where& where) { in_execution(&Engine::pause, where); }
void point(const char* label, const Where& where) { in_execution(&Engine::point, label, where); }
bool park(Location& word, std::uint64_t expected, std::int64_t deadline, const Where& where) {
  return pass_on(&Engine::park, word, expected, deadline, where);
}
std::uint32_t unpark(Location& word, std::uint32_t most, const Where& where) {
  return in_execution(&Engine::unpark, word, most, where);
}
std::int64_t now_ns() noexcept { return engine().now_ns(); }
int start_thread(Entry entry, void* argument, bool is_process, const Where& where) {
  return pass_on(&Engine::start_thread, entry, argument, is_process, where);
}
bool join_thread(int thread, const Where& where) {
  return pass_on(&Engine::join_thread, thread, where);
}
int this_thread() noexcept { return engine().this_thread(); }
void* thread_value(const void* key, void* (*make)(), void (*end)(void*)) {
  return pass_on(&Engine::thread_value, key, make, end);
}
bool fails(const char* what, const Where& where) {
  return in_execution(&Engine::fails, what, where);
}
bool thread_is_refused(const Where& where) {
  return in_execution(&Engine::thread_is_refused, where);
}
void* allocate(std::size_t bytes, std::size_t alignment, const Where& where) noexcept {
  return pass_on(&Engine::allocate, bytes, alignment, where);
}
void deallocate(void* memory, const Where& where) {
  const Unseen unseen;
  engine().deallocate(memory, __builtin_return_address(0), where);
}

}  // namespace model

// ---- What scenarios call -----------------------------------------------------------------------

const char* to_string(Fault fault) noexcept {
  switch (fault) {
    case Fault::none: return "no fault";
    case Fault::assertion: return "assertion failed";
    case Fault::deadlock: return "deadlock";
    case Fault::livelock: return "livelock";
    case Fault::race: return "data race";
    case Fault::uninitialised: return "uninitialised";
    case Fault::use_after_end: return "use after end";
    case Fault::leak: return "leak";
    case Fault::double_free: return "double free";
    case Fault::exception: return "exception";
  }
  return "?";
}

const char* to_string(model::order o) noexcept {
  switch (o) {
    case model::order::relaxed: return "relaxed";
    case model::order::consume: return "consume";
    case model::order::acquire: return "acquire";
    case model::order::release: return "release";
    case model::order::acq_rel: return "acq_rel";
    case model::order::seq_cst: return "seq_cst";
  }
  return "?";
}

Result run(const Options& options, const std::function<void()>& scenario) {
  return engine().explore(options, scenario);
}

void check(bool condition, const char* what, const std::source_location& where) {
  if (condition) [[likely]]
    return;
  const Unseen unseen;
  engine().fail(Fault::assertion, what, where);
}

void outcome(std::uint64_t value) { engine().outcome(value); }

unsigned any_of(unsigned count) { return engine().any_of(count); }

void may_throw(const char* what, const std::source_location& where) {
  if (model::fails(what, where)) throw Planned{what};
}

MayFail::MayFail() noexcept : before_(engine().let_fail(true)) {}
MayFail::~MayFail() { engine().let_fail(before_); }

NoThreads::NoThreads() noexcept : before_(engine().refuse_threads(true)) {}
NoThreads::~NoThreads() { engine().refuse_threads(before_); }

Unwatched::Unwatched() noexcept : before_(sight.set(false)) {}
Unwatched::~Unwatched() { sight.set(before_); }

std::string Result::report() const {
  std::ostringstream text;
  text << (ok()                   ? "ok"
           : fault != Fault::none ? to_string(fault)
                                  : "cut: not all was explored")
       << ": " << executions << " executions, at most " << deepest << " steps, " << final_states
       << " final states, "
       << static_cast<std::uint64_t>(static_cast<double>(executions) / std::max(seconds, 1e-9))
       << " executions/s\n";
  if (fault == Fault::none) return text.str();
  text << with_source_lines(message) << "\nschedule: " << schedule << "\n";
  for (const auto& step : trace) text << "  " << with_source_lines(step) << "\n";
  return text.str();
}

Thread::Thread(std::function<void()> function, const std::source_location& where)
    : function_(std::move(function)),
      thread_(model::start_thread(&Thread::enter, this, false, where)) {}

void Thread::enter(void* self) { static_cast<Thread*>(self)->function_(); }

void Thread::join(const std::source_location& where) {
  if (thread_ >= 0) model::join_thread(std::exchange(thread_, -1), where);
}

Process::Process(std::function<void()> function, const std::source_location& where)
    : function_(std::move(function)),
      thread_(model::start_thread(&Process::enter, this, true, where)) {}

void Process::enter(void* self) { static_cast<Process*>(self)->function_(); }

bool Process::wait(const std::source_location& where) {
  if (thread_ >= 0) died_ = model::join_thread(std::exchange(thread_, -1), where);
  return died_;
}

}}}  // namespace handoff::HANDOFF_ABI::explore

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

namespace model = explore::model;
using model::Where;

clock::time_point clock::now() noexcept { return time_point(duration(model::now_ns())); }

bool park(const atomic<std::uint32_t>& word, std::uint32_t expected, Deadline deadline,
          ParkScope) noexcept {
  return model::park(word.location(), expected, deadline.time_since_epoch().count(),
                     Where::current());
}

std::uint32_t unpark(const atomic<std::uint32_t>& word, std::uint32_t most, ParkScope) noexcept {
  return model::unpark(word.location(), most, Where::current());
}

ThreadId this_thread_id() noexcept {
  return reinterpret_cast<ThreadId>(static_cast<std::uintptr_t>(model::this_thread() + 1));
}

// A model thread is there as long as somebody may ask.
KernelThread this_kernel_thread() noexcept {
  return static_cast<KernelThread>(model::this_thread() + 1);
}
bool is_alive(KernelThread thread) noexcept { return thread > 0; }

// Two CPUs, and no spinning: a model thread that waits by looking again and again only multiplies
// the schedules.
CpuBudget cpu_budget(const CpuBudgetSource&) noexcept { return {2, 2}; }
CpuBudget recent_cpu_budget() noexcept { return cpu_budget({}); }
unsigned CpuBudget::width() const noexcept { return affinity; }
Spin spin_policy() noexcept { return Spin::never; }

bool stack_is_short() noexcept { return false; }

int Origin::forks() noexcept { return 0; }  // a model has none

CpuSet CpuSet::of_this_thread() noexcept { return {}; }

void Thread::start(const ThreadOptions& options, std::unique_ptr<Entry> entry) {
  if (model::thread_is_refused(Where::current())) {
    throw std::system_error(EAGAIN, std::generic_category(),
                            "starting thread '" + options.name + "'");
  }
  handle_ = model::start_thread(&Thread::enter, entry.release(), false, Where::current());
  joinable_ = true;
}

void Thread::enter(void* entry) {
  const std::unique_ptr<Entry> owned(static_cast<Entry*>(entry));
  owned->run();
}

void Thread::join() noexcept {
  if (std::exchange(joinable_, false)) model::join_thread(handle_, Where::current());
}

}}}  // namespace handoff::HANDOFF_ABI::sync
