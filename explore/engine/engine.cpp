// SPDX-License-Identifier: MIT
//
// Threads of the model, and who goes next.
#include "engine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <string>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace explore {
namespace {

constexpr std::uint32_t bit(unsigned thread) noexcept { return std::uint32_t{1} << thread; }

// Alternatives of one choice: a thread that goes on, one whose time runs out early, one that dies.
constexpr std::uint8_t kTimeOut = 0x40;
constexpr std::uint8_t kFlush = 0x20;
constexpr std::uint8_t kDeath = 0x80;

std::string source_line(const Where& where) {
  std::ifstream file(where.file_name());
  std::string line;
  for (unsigned i = 0; i < where.line() && std::getline(file, line); ++i) {
  }
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

}  // namespace

// ---- One execution -----------------------------------------------------------------------------

void Engine::begin_execution() {
  ++execution_;
  for (unsigned i = 0; i < locations_; ++i) memory_[i].newest = memory_[i].oldest = 0;
  locations_ = 0;
  used_ = (kThreads + 15) & ~15U;
  free_ids_.clear();
  blocks_.clear();
  sequential_ = {};
  foreign_ = {};
  sight.begin_execution(execution_, kSeesAll && options_.memory != Memory::x86);
  running_ = -1;
  started_ = runnable_ = waiting_ = timed_ = steps_ = turns_ = parkings_ = 0;
  ran_.fill(~std::uint32_t{0});
  first_.fill(0);
  deviations_ = deaths_ = failures_ = 0;
  now_ns_ = 1'000'000'000;
  final_ = 0;
  failed_ = false;
  taken_.clear();
  result_.trace.clear();
}

// Runs the scenario once, as the choices will have it.
void Engine::execute() {
  begin_execution();
  active_ = true;
  const auto enter = [](void* scenario) {
    (*static_cast<const std::function<void()>*>(scenario))();
  };
  start_thread(enter, const_cast<std::function<void()>*>(scenario_), false, Where::current());
  run(0);
  Fiber::change(home_, threads_[0].fiber);
  sight.set(false);
  sight.leave();
  active_ = false;
  end_execution();
}

void Engine::end_execution() {
  ++result_.executions;
  result_.steps += steps_;
  result_.deepest = std::max(result_.deepest, steps_);
  for (auto& [memory, block] : blocks_) {
    if (!block.freed && !failed_ && deaths_ == 0) {
      failed_ = true;
      result_.fault = Fault::leak;
      result_.message = std::to_string(block.bytes) + " bytes were never given back";
    }
    if (!kSeesAll) {
      ::operator delete(memory, std::align_val_t{block.alignment});
    } else if (!block.freed) {
      sight.deallocate(memory, nullptr);
    }
  }
  blocks_.clear();
  if (!failed_) finals_.insert(final_);
}

void Engine::fail(Fault fault, std::string message, const Where& where) {
  fail(fault, std::move(message), ", at ", where);
}

void Engine::fail(Fault fault, std::string message) {
  fail(fault, std::move(message), ", after ", self().at);
}

void Engine::fail(Fault fault, std::string message, const char* place, const Where& where) {
  if (tracing_) note(where, std::string(to_string(fault)) + ": " + message);
  failed_ = true;
  result_.fault = fault;
  result_.message =
      std::move(message) + place + where.file_name() + ":" + std::to_string(where.line());
  Fiber::change(self().fiber, home_, true);  // what is on the fibers' stacks stays there
  std::terminate();  // terminate: nobody comes back to a failed execution
}

// A step for the reader: who did what, and the line of the program that says to which variable.
void Engine::note(const Where& where, const std::string& what) {
  result_.trace.push_back("thread " + std::to_string(std::max(running_, 0)) + "  " + what +
                          "\n      " + where.file_name() + ":" + std::to_string(where.line()) +
                          ": " + source_line(where));
}

// ---- Threads -----------------------------------------------------------------------------------

int Engine::start_thread(model::Entry entry, void* argument, bool is_process, const Where& where) {
  if (running_ >= 0) {
    step(where);
    flush(self(), self().buffer.size());
  }
  if (started_ == kThreads) {
    fail(Fault::assertion, "more threads than the model has room for", where);
  }
  const unsigned number = started_++;
  ModelThread& thread = threads_[number];
  thread.going = Going::runnable;
  thread.woken = thread.fresh = thread.failed_spuriously = thread.may_fail = false;
  thread.gets_no_thread = false;
  thread.process = is_process ? static_cast<int>(number) : running_ >= 0 ? self().process : -1;
  thread.joins = -1;
  thread.deadline = model::never;
  thread.entry = entry;
  thread.argument = argument;
  thread.at = where;
  thread.buffer.clear();
  thread.values.clear();
  thread.now = running_ >= 0 ? self().now : View{};
  thread.pending = thread.released = View{};
  thread.now.at[number] = 1;
  if (running_ >= 0) ++self().now.at[static_cast<unsigned>(running_)];
  if (kSeesAll) thread.fiber.lend(sight.stack(number));
  thread.fiber.start(&Engine::run_fiber, &thread);
  runnable_ |= bit(number);
  tell(where, "starts thread ", number);
  return static_cast<int>(number);
}

// The bottom of every fiber.
void Engine::run_fiber(void* argument) {
  Engine& engine = instance();
  auto& thread = *static_cast<ModelThread*>(argument);
  try {
    const Seen seen;
    thread.entry(thread.argument);
  } catch (const std::exception& error) {
    engine.fail(Fault::exception, std::string("an exception left a thread: ") + error.what(),
                thread.at);
  } catch (...) {
    engine.fail(Fault::exception, "an exception left a thread", thread.at);
  }
  engine.end_thread(thread);
}

void Engine::end_thread(ModelThread& thread) {
  for (std::size_t i = thread.values.size(); i-- > 0;) {
    const Seen seen;
    thread.values[i].end(thread.values[i].value);
  }
  thread.values.clear();
  if (thread.process == running_) step(thread.at);  // it may still die when all is done
  flush_late(thread.at);
  thread.going = Going::finished;
  runnable_ &= ~bit(static_cast<unsigned>(running_));
  waiting_ = 0;  // what it was may be what somebody waits for
  for (unsigned t = 0; t < started_; ++t) {
    if (threads_[t].going == Going::joining && threads_[t].joins == running_) wake(t, true);
  }
  go_on(false);
}

bool Engine::join_thread(int number, const Where& where) {
  step(where);
  ModelThread& other = threads_[static_cast<unsigned>(number)];
  flush(self(), self().buffer.size());
  if (other.going != Going::finished && other.going != Going::dead) {
    ModelThread& me = self();
    me.going = Going::joining;
    me.joins = number;
    runnable_ &= ~bit(static_cast<unsigned>(running_));
    go_on(false);
  }
  self().now.join(other.now, used_);
  if (other.going != Going::dead) return false;
  // The kernel orders the end of all that died together before this.
  for (unsigned t = 0; t < started_; ++t) {
    if (threads_[t].process == number) self().now.join(threads_[t].now, used_);
  }
  return true;
}

void Engine::wake(unsigned number, bool by_unpark) noexcept {
  ModelThread& thread = threads_[number];
  thread.going = Going::runnable;
  thread.woken = by_unpark;
  timed_ &= ~bit(number);
  runnable_ |= bit(number);
}

void* Engine::thread_value(const void* key, void* (*make)(), void (*end)(void*)) {
  ModelThread& thread = self();
  for (const auto& value : thread.values) {
    if (value.key == key) return value.value;
  }
  // It stands for a variable of the thread, which takes no memory that could be lacking.
  const bool may_fail = std::exchange(thread.may_fail, false);
  const auto made = [make] {
    const Seen seen;
    return make();
  };
  thread.values.push_back({key, made(), end});
  thread.may_fail = may_fail;
  return thread.values.back().value;
}

// ---- Who goes next -----------------------------------------------------------------------------

// Before each access: the moment at which somebody else may come in between.
void Engine::step(const Where& where) {
  self().at = where;
  turns_ = 0;
  if (++steps_ > options_.steps_limit) {
    fail(Fault::livelock, "more than " + std::to_string(options_.steps_limit) + " steps", where);
  }
  // Beyond the bound there is nothing to choose: the running thread goes on. Most steps are of this
  // kind.
  const std::uint32_t able = runnable_ & ~waiting_;
  if (may_deviate() || (able & bit(static_cast<unsigned>(running_))) == 0) go_on(true);
}

// Lets the schedule choose who goes on; returns when it is this thread's turn again.
void Engine::go_on(bool may_stay) {
  for (;;) {
    std::uint8_t list[4 * kThreads];
    std::uint32_t costly = 0;
    const unsigned count = list_alternatives(may_stay, list, costly);
    if (count == 0) {
      if (timed_ == 0) return nobody_can_go_on();
      advance_time();
      continue;
    }
    const std::uint32_t number = steps_ << 3 | std::min(turns_++, 6U);
    const unsigned chosen = count > 1 ? choose(count, costly, number, list) : 0;
    if (list[chosen] < kFlush) return change_to(list[chosen]);
    take_alternative(list[chosen]);
    if (self().going == Going::dead) may_stay = false;
  }
}

// Those that neither wait for a write nor let somebody else go first. Not empty as long as one does
// not wait: a thread that lets others go first has run after them.
std::uint32_t Engine::able() const noexcept {
  const std::uint32_t ready = runnable_ & ~waiting_;
  std::uint32_t able = ready;
  for (std::uint32_t rest = ready; rest != 0; rest &= rest - 1) {
    const auto t = static_cast<unsigned>(std::countr_zero(rest));
    if ((first_[t] & ready) != 0) able &= ~bit(t);
  }
  return able;
}

// Who may go on now. The first is what happens if nothing unusual does.
unsigned Engine::list_alternatives(bool may_stay, std::uint8_t* list, std::uint32_t& costly) {
  std::uint32_t able = this->able();
  if (able == 0) {
    waiting_ = 0;  // all that are left have paused: they go on, one after another
    able = this->able();
  }
  unsigned count = 0;
  const auto me = static_cast<unsigned>(running_);
  const bool stay = may_stay && (able & bit(me)) != 0;
  if (stay) {
    list[count++] = static_cast<std::uint8_t>(me);
    if (!may_deviate()) return 1;
  }
  for (std::uint32_t rest = able & ~(stay ? bit(me) : 0); rest != 0; rest &= rest - 1) {
    if (stay) costly |= bit(count);
    list[count++] = static_cast<std::uint8_t>(std::countr_zero(rest));
  }
  // If nobody can go on it is a deadlock, though a death might hide it.
  if (!may_deviate() || count == 0) return count;
  for (std::uint32_t rest = timed_; rest != 0; rest &= rest - 1) {
    costly |= bit(count);
    list[count++] = static_cast<std::uint8_t>(kTimeOut | std::countr_zero(rest));
  }
  if (options_.memory == Memory::x86) {
    for (unsigned t = 0; t < started_; ++t) {
      if (threads_[t].buffer.empty()) continue;
      costly |= bit(count);
      list[count++] = static_cast<std::uint8_t>(kFlush | t);
    }
  }
  for (unsigned t = 0; deaths_ < options_.deaths && t < started_; ++t) {
    const Going going = threads_[t].going;
    const bool is_first = threads_[t].process == static_cast<int>(t);
    if (!is_first || going == Going::finished || going == Going::dead) continue;
    costly |= bit(count);
    list[count++] = static_cast<std::uint8_t>(kDeath | t);
  }
  return count;
}

void Engine::take_alternative(std::uint8_t alternative) {
  const unsigned thread = alternative & (kFlush - 1);
  if (alternative >= kDeath) return kill(thread);
  if (alternative >= kTimeOut) {
    now_ns_ = std::max(now_ns_, threads_[thread].deadline);
    tell(threads_[thread].at, "lets the time of thread ", thread, " run out");
    return wake(thread, false);
  }
  const int me = std::exchange(running_, static_cast<int>(thread));
  flush(threads_[thread], 1);
  running_ = me;
}

// A process dies with all its threads.
void Engine::kill(unsigned process) {
  ++deaths_;
  for (unsigned t = 0; t < started_; ++t) {
    const bool ended = threads_[t].going == Going::finished || threads_[t].going == Going::dead;
    if (threads_[t].process == static_cast<int>(process) && !ended) end_by_force(t);
  }
}

void Engine::end_by_force(unsigned number) {
  tell(threads_[number].at, "sees thread ", number, " killed");
  threads_[number].going = Going::dead;
  flush(threads_[number], threads_[number].buffer.size());  // they were on their way already
  runnable_ &= ~bit(number);
  timed_ &= ~bit(number);
  for (unsigned t = 0; t < started_; ++t) {
    if (threads_[t].going == Going::joining && threads_[t].joins == static_cast<int>(number)) {
      wake(t, true);
    }
  }
}

void Engine::run(unsigned thread) noexcept {
  running_ = static_cast<int>(thread);
  sight.thread(thread, threads_[thread].now.at.data());
}

void Engine::change_to(unsigned thread) {
  if (static_cast<int>(thread) == running_) return;
  ModelThread& from = self();
  run(thread);
  for (unsigned t = 0; t < started_; ++t) {
    ran_[t] |= bit(thread);
    first_[t] &= ~bit(thread);
  }
  Fiber::change(from.fiber, threads_[thread].fiber, from.going == Going::finished);
}

// Nobody runs and somebody waits for a moment: the moment comes.
void Engine::advance_time() {
  unsigned first = 0;
  std::int64_t earliest = model::never;
  for (std::uint32_t rest = timed_; rest != 0; rest &= rest - 1) {
    const auto t = static_cast<unsigned>(std::countr_zero(rest));
    if (threads_[t].deadline < earliest) {
      earliest = threads_[t].deadline;
      first = t;
    }
  }
  now_ns_ = std::max(now_ns_, earliest);
  wake(first, false);
}

void Engine::nobody_can_go_on() {
  std::string stuck;
  Where where = Where::current();
  for (unsigned t = 0; t < started_; ++t) {
    const Going going = threads_[t].going;
    if (going != Going::parked && going != Going::joining) continue;
    where = threads_[t].at;
    stuck += " thread " + std::to_string(t) +
             (going == Going::parked ? " sleeps"
                                     : " joins thread " + std::to_string(threads_[t].joins)) +
             " (" + where.file_name() + ":" + std::to_string(where.line()) + ");";
  }
  if (!stuck.empty()) fail(Fault::deadlock, "nobody can go on:" + stuck, where);
  Fiber::change(self().fiber, home_, true);  // all threads are done
}

// ---- Waiting -----------------------------------------------------------------------------------

// Threads that write while they wait, as to a lock, keep each other from waiting for a write. So a
// thread that could have run from one pause of this thread to the next, and did not, goes before it
// (the fair schedules of M. Musuvathi and S. Qadeer, "Fair stateless model checking", 2008).
void Engine::pause(const Where& where) {
  self().at = where;
  turns_ = 0;
  if (++steps_ > options_.steps_limit) {
    fail(Fault::livelock, "more than " + std::to_string(options_.steps_limit) + " steps", where);
  }
  flush_late(where);
  self().fresh = true;
  const auto me = static_cast<unsigned>(running_);
  waiting_ |= bit(me);
  first_[me] = runnable_ & ~ran_[me] & ~bit(me);
  ran_[me] = ~runnable_;  // a thread that cannot run now is not kept waiting
  go_on(true);
}

void Engine::point(const char* label, const Where& where) {
  step(where);
  tell(where, "passes ", label);
}

bool Engine::park(model::Location& word, std::uint64_t expected, std::int64_t deadline,
                  const Where& where) {
  step(where);
  History& history = touch(word, where);
  ModelThread& me = self();
  flush(me, me.buffer.size());
  const Store& newest = history.number(history.newest);
  me.now.at[kThreads + word.id] = history.newest;  // the kernel reads what is really there
  me.pending.join(newest.view, newest.used);
  if (newest.value != expected) return true;
  if (deadline <= now_ns_) return false;
  if (may_deviate() && choose_value(2, 0b10) == 1) {
    tell(where, "wakes up for no reason");
    return true;
  }
  tell(where, "sleeps on #", word.id);
  me.going = Going::parked;
  me.parked_on = &word;
  me.parked_since = ++parkings_;
  me.deadline = deadline;
  runnable_ &= ~bit(static_cast<unsigned>(running_));
  if (deadline != model::never) timed_ |= bit(static_cast<unsigned>(running_));
  go_on(false);
  tell(where, self().woken ? "is woken" : "is out of time");
  return self().woken;
}

std::uint32_t Engine::unpark(model::Location& word, std::uint32_t most, const Where& where) {
  step(where);
  flush(self(), self().buffer.size());
  std::uint32_t woken = 0;
  for (; woken < most; ++woken) {
    ModelThread* first = nullptr;
    for (unsigned t = 0; t < started_; ++t) {
      ModelThread& thread = threads_[t];
      if (thread.going == Going::parked && thread.parked_on == &word &&
          (first == nullptr || thread.parked_since < first->parked_since)) {
        first = &thread;
      }
    }
    if (first == nullptr) break;
    wake(static_cast<unsigned>(first - threads_.data()), true);
  }
  tell(where, "unparks ", woken);
  return woken;
}

// ---- Memory of the scenario --------------------------------------------------------------------

// A step of its own, so that its choice has a number that no bound changes.
bool Engine::fails(const char* what, const Where& where) {
  if (options_.failures == 0) return false;
  ++steps_;
  turns_ = 0;
  if (failures_ == options_.failures || !may_deviate()) return false;
  if (choose(2, 0b10, steps_ << 3) == 0) return false;
  ++failures_;
  tell(where, "sees ", what, " fail");
  return true;
}

unsigned Engine::any_of(unsigned count) {
  ++steps_;
  turns_ = 0;
  return count < 2 ? 0 : choose(count, 0, steps_ << 3);
}

void* Engine::allocate(std::size_t bytes, std::size_t alignment, const Where& where) noexcept {
  if (running_ >= 0 && self().may_fail && fails("an allocation", where)) return nullptr;
  void* const memory = kSeesAll ? sight.allocate(bytes, alignment)
                                : ::operator new(bytes, std::align_val_t{alignment});
  if (memory == nullptr) fail(Fault::assertion, "the scenario takes too much memory", where);
  tell(where, "allocates ", bytes, " bytes");
  blocks_[memory] = {bytes, alignment, false};
  return memory;
}

// Nothing is reused within an execution, so that every later use finds its variable ended.
void Engine::deallocate(void* memory, const void* code, const Where& where) {
  const auto found = blocks_.find(memory);
  if (found == blocks_.end() || found->second.freed) {
    fail(Fault::double_free, "memory is given back that is not in use", where);
  }
  found->second.freed = true;
  if (kSeesAll) sight.deallocate(memory, code);
}

void Engine::foreign_atomic() noexcept {
  View& now = self().now;
  for (unsigned t = 0; t < kThreads; ++t) {
    now.at[t] = foreign_[t] = std::max(now.at[t], foreign_[t]);
  }
  ++now.at[static_cast<unsigned>(running_)];
}

void Engine::outcome(std::uint64_t value) noexcept {
  final_ = (final_ ^ value) * 0x9E3779B97F4A7C15U;
  final_ ^= final_ >> 29;
}

}}}  // namespace handoff::HANDOFF_ABI::explore
