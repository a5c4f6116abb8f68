// SPDX-License-Identifier: MIT
//
// The memory model: what a load may return, and what a thread learns by it.
//
// A location keeps its last stores in their modification order. A thread's view says of each
// location which store is the oldest it may still read. A releasing store carries its thread's
// view; a load that acquires joins it. Views also hold the threads' clocks, so the same joins tell
// which accesses to plain data happen before which.
#include <algorithm>
#include <string>

#include "engine.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace explore {
namespace {

constexpr bool acquires(order o) noexcept {
  return o == order::acquire || o == order::acq_rel || o == order::seq_cst;
}
constexpr bool releases(order o) noexcept {
  return o == order::release || o == order::acq_rel || o == order::seq_cst;
}
constexpr unsigned entry_of(std::uint16_t id) noexcept { return kThreads + id; }

std::string number(std::uint64_t value) {
  return value < 1'000'000 ? std::to_string(value)
                           : std::to_string(static_cast<std::int64_t>(value));
}

// Alternative 0 is free, all others are deviations.
constexpr std::uint32_t all_but_first = ~std::uint32_t{1};

}  // namespace

// Making a variable is a write of plain data, which each use must come after, not only here. A
// variable that was made before the execution is there for everybody.
void Engine::construct(model::Location& location) noexcept {
  if (running_ < 0) return;
  location.made_in = execution_;
  location.maker = static_cast<std::uint8_t>(running_);
  location.made_at = self().now.at[location.maker];
}

void Engine::check_made(const model::Location& location, const Where& where) {
  if (location.made_in != execution_ || options_.memory == Memory::x86) return;
  if (self().now.at[location.maker] >= location.made_at) [[likely]]
    return;
  fail(Fault::race,
       "thread " + std::to_string(running_) + " uses an atomic that thread " +
           std::to_string(location.maker) + " made, without an order between the two",
       where);
}

// The location's history in this execution; made at the first use.
History& Engine::touch(model::Location& location, const Where& where) {
  const auto me = static_cast<unsigned>(running_);
  check_made(location, where);
  if (sight.is_freed(&location)) [[unlikely]] {
    fail(Fault::use_after_end, "an atomic was used in memory that was given back", where);
  }
  if (location.execution == execution_) [[likely]] {
    if (location.dead) fail(Fault::use_after_end, "an atomic was used after its end", where);
    History& history = memory_[location.id];
    history.used_at[me] = self().now.at[me];
    return history;
  }
  if (!free_ids_.empty()) {
    location.id = free_ids_.back();
    free_ids_.pop_back();
  } else {
    if (locations_ == memory_.size()) {
      fail(Fault::assertion, "the scenario has more atomics than the model has room for", where);
    }
    location.id = static_cast<std::uint16_t>(locations_++);
    used_ = (entry_of(location.id) + 16) & ~15U;
    used_ = std::min(used_, kEntries);
  }
  location.execution = execution_;
  location.dead = false;
  History& history = memory_[location.id];
  history.used_at = {};
  history.used_at[me] = self().now.at[me];
  history.oldest = ++history.newest;  // older numbers belonged to a variable that is gone
  Store& first = history.number(history.newest);
  first.value = location.initial;
  first.used = 0;
  return history;
}

// Every access must happen before the end of the variable, not only have come before it here.
void Engine::destroy(model::Location& location, const Where& where) {
  if (location.execution != execution_) {  // nobody has used it, and nobody may from now on
    location.execution = execution_;
    location.dead = true;
    return;
  }
  if (location.dead) return;
  flush(self(), self().buffer.size());
  location.dead = true;
  const History& history = memory_[location.id];
  for (unsigned t = 0; t < started_ && options_.memory != Memory::x86; ++t) {
    // A thread that was killed uses nothing any more.
    if (threads_[t].going == Going::dead || history.used_at[t] <= self().now.at[t]) continue;
    fail(Fault::race,
         "an atomic ends that thread " + std::to_string(t) +
             " has used, without an order between the two",
         where);
  }
  free_ids_.push_back(location.id);
}

// The order that this site has under the mutation being tried, if any; lists all sites if asked.
order Engine::mutated(order o, Site::Kind kind, bool& dropped, const Where& where) {
  if (options_.mutation == nullptr && !options_.list_sites) return o;
  const std::uint64_t key =
      (std::uint64_t{where.line()} << 32 | where.column() << 4 | static_cast<std::uint64_t>(o))
          << 2 |
      static_cast<unsigned>(kind);
  if (seen_sites_.insert(where.file_name(), key)) {
    sites_.insert({where.file_name(), where.line(), o, kind});
  }
  const Mutation* const mutation = options_.mutation;
  if (mutation == nullptr || mutation->line != where.line() || mutation->from != o ||
      !std::string_view(where.file_name()).ends_with(mutation->file)) {
    return o;
  }
  dropped = mutation->drop_fence;
  return mutation->to;
}

order Engine::mutated(order o, const Where& where) {
  bool dropped = false;
  return mutated(o, Site::Kind::access, dropped, where);
}

void Engine::acquire(ModelThread& thread, const Store& store, order o) noexcept {
  (acquires(o) ? thread.now : thread.pending).join(store.view, store.used);
}

// Appends a store of the running thread. `continues`: the store that this one modified, whose
// release sequence goes on through it.
void Engine::write(History& history, std::uint16_t id, std::uint64_t value, order o,
                   const Store* continues) noexcept {
  ModelThread& thread = self();
  const std::uint16_t number = ++history.newest;
  if (number - history.oldest >= static_cast<int>(kHistory)) ++history.oldest;
  const unsigned entry = entry_of(id);
  thread.now.at[entry] = number;
  Store& store = history.number(number);
  store.value = value;
  store.used = used_;
  store.view.assign(releases(o) ? thread.now : thread.released, used_);
  store.view.at[entry] = number;
  if (continues != nullptr) store.view.join(continues->view, continues->used);
  if (o == order::seq_cst) sequential_.at[entry] = number;
  ++thread.now.at[static_cast<unsigned>(running_)];  // what comes now was not released by this
  waiting_ = 0;
}

// The oldest store that a load of the running thread may return.
std::uint16_t Engine::oldest_for(const History& history, std::uint16_t id, order o) noexcept {
  const unsigned entry = entry_of(id);
  const std::uint16_t oldest = std::max(history.oldest, self().now.at[entry]);
  return o == order::seq_cst ? std::max(oldest, sequential_.at[entry]) : oldest;
}

// Which store a load returns.
std::uint16_t Engine::pick_store(const History& history, std::uint16_t id, order o) {
  ModelThread& thread = self();
  if (options_.memory != Memory::cpp || thread.fresh) {
    thread.fresh = false;
    return history.newest;
  }
  const auto count = static_cast<unsigned>(history.newest - oldest_for(history, id, o)) + 1;
  if (count == 1) return history.newest;
  return static_cast<std::uint16_t>(history.newest - choose_value(count, all_but_first));
}

std::uint64_t Engine::load(model::Location& location, order o, const Where& where) {
  step(where);
  o = mutated(o, where);
  History& history = touch(location, where);
  std::uint64_t value = 0;
  if (options_.memory == Memory::x86 && buffered(location.id, value)) {
    tell(where, "load #", location.id, " = ", number(value), ", from its own store buffer");
    return value;
  }
  const std::uint16_t chosen = pick_store(history, location.id, o);
  const Store& store = history.number(chosen);
  ModelThread& thread = self();
  thread.now.at[entry_of(location.id)] = chosen;
  acquire(thread, store, o);
  if (tracing_) {
    tell(where, "load #", location.id, " = ", number(store.value), " (", to_string(o), ")",
         chosen == history.newest ? "" : ", stale: newer stores exist");
  }
  return store.value;
}

void Engine::store(model::Location& location, std::uint64_t value, order o, const Where& where) {
  step(where);
  o = mutated(o, where);
  History& history = touch(location, where);
  if (options_.memory == Memory::x86) {
    auto& buffer = self().buffer;
    if (o == order::seq_cst) {
      flush(self(), buffer.size());
    } else if (choose_value(2, buffer.empty() ? 0b10 : 0b01) == 1) {
      // A buffer that holds something is a deviation already; emptying it now is another one.
      buffer.emplace_back(location.id, value);
      tell(where, "store #", location.id, " = ", number(value), ", stays in its store buffer");
      return;
    } else {
      flush(self(), buffer.size());
    }
  }
  write(history, location.id, value, o, nullptr);
  if (tracing_) tell(where, "store #", location.id, " = ", number(value), " (", to_string(o), ")");
}

std::uint64_t Engine::modify(model::Location& location, model::Rmw how, std::uint64_t operand,
                             std::uint64_t mask, order o, const Where& where) {
  step(where);
  o = mutated(o, where);
  History& history = touch(location, where);
  flush(self(), self().buffer.size());
  const Store& before = history.number(history.newest);
  const std::uint64_t old = before.value;
  const std::uint64_t value = model::changed(how, old, operand) & mask;
  self().fresh = false;
  acquire(self(), before, o);
  write(history, location.id, value, o, &before);
  if (tracing_) {
    tell(where, "modify #", location.id, ": ", number(old), " -> ", number(value), " (",
         to_string(o), ")");
  }
  return old;
}

bool Engine::compare_exchange(model::Location& location, std::uint64_t& expected,
                              std::uint64_t desired, bool weak, order success, order failure,
                              const Where& where) {
  step(where);
  success = mutated(success, where);
  failure = mutated(failure, where);
  History& history = touch(location, where);
  ModelThread& thread = self();
  flush(thread, thread.buffer.size());
  const unsigned entry = entry_of(location.id);
  // What it may do: act on the newest store; fail on an older one, since a failing exchange is only
  // a load; fail for no reason, even though it reads what is expected. A processor of the x86 kind
  // does the last two never.
  const bool may_fail = weak && !thread.failed_spuriously && options_.memory != Memory::x86;
  std::uint16_t outcomes[kHistory + 1] = {history.newest};
  unsigned count = 1;
  if (options_.memory == Memory::cpp && !thread.fresh) {
    const std::uint16_t oldest = oldest_for(history, location.id, failure);
    for (std::uint16_t n = history.newest; n > oldest; --n) {
      const auto older = static_cast<std::uint16_t>(n - 1);
      if (may_fail || history.number(older).value != expected) outcomes[count++] = older;
    }
  }
  thread.fresh = false;
  const bool matches = history.number(history.newest).value == expected;
  if (may_fail && matches) outcomes[count++] = history.newest;
  const unsigned taken = count > 1 ? choose_value(count, all_but_first) : 0;
  const std::uint16_t chosen = outcomes[taken];
  const Store& read = history.number(chosen);
  const bool spurious = taken != 0 && read.value == expected;
  thread.now.at[entry] = chosen;
  if (taken == 0 && matches) {
    acquire(thread, read, success);
    write(history, location.id, desired, success, &read);
    if (tracing_) {
      tell(where, "compare_exchange #", location.id, ": ", number(expected), " -> ",
           number(desired), " (", to_string(success), ")");
    }
    return true;
  }
  thread.failed_spuriously |= spurious;
  acquire(thread, read, failure);
  if (tracing_) {
    tell(where, "compare_exchange #", location.id, " failed", spurious ? " spuriously" : "",
         ": expected ", number(expected), ", found ", number(read.value));
  }
  expected = read.value;
  return false;
}

void Engine::fence(order o, const Where& where) {
  // Only fences of the seq_cst order have an order among each other that a switch could change.
  if (o == order::seq_cst) step(where);
  bool dropped = false;
  o = mutated(o, Site::Kind::fence, dropped, where);
  if (dropped) return;
  ModelThread& thread = self();
  flush(thread, o == order::seq_cst ? thread.buffer.size() : 0);
  if (acquires(o)) thread.now.join(thread.pending, used_);
  if (o == order::seq_cst) join_sequential(thread);
  if (releases(o)) {
    thread.released.assign(thread.now, used_);
    ++thread.now.at[static_cast<unsigned>(running_)];
  }
  if (tracing_) tell(where, "fence (", to_string(o), ")");
}

// Locations only: the order of fences says what may be read, but makes no access to plain data
// happen before another.
void Engine::join_sequential(ModelThread& thread) noexcept {
  for (unsigned i = kThreads; i < used_; ++i) {
    const std::uint16_t newer = std::max(thread.now.at[i], sequential_.at[i]);
    thread.now.at[i] = sequential_.at[i] = newer;
  }
}

// The kernel runs a full barrier on every CPU that runs a thread of the process: as if each had a
// seq_cst fence just here.
void Engine::fence_heavy(const Where& where) {
  step(where);
  bool dropped = false;
  mutated(order::seq_cst, Site::Kind::heavy_fence, dropped, where);
  if (dropped) return;
  for (unsigned twice = 0; twice < 2; ++twice) {  // first all tell, then all hear
    for (unsigned t = 0; t < started_; ++t) {
      flush(threads_[t], threads_[t].buffer.size());
      join_sequential(threads_[t]);
    }
  }
  if (tracing_) tell(where, "asymmetric fence, heavy");
}

// x86: lets the first `count` stores of a thread's buffer reach memory.
void Engine::flush(ModelThread& thread, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto [id, value] = thread.buffer[i];
    write(memory_[id], id, value, order::relaxed, nullptr);
  }
  thread.buffer.erase(thread.buffer.begin(),
                      thread.buffer.begin() + static_cast<std::ptrdiff_t>(count));
}

// x86: the thread's stores reach memory at the latest now. Before that others get their chance to
// look once more.
void Engine::flush_late(const Where& where) {
  if (self().buffer.empty()) return;
  step(where);
  flush(self(), self().buffer.size());
}

bool Engine::buffered(std::uint16_t id, std::uint64_t& value) noexcept {
  const auto& buffer = self().buffer;
  for (auto at = buffer.rbegin(); at != buffer.rend(); ++at) {
    if (at->first == id) {
      value = at->second;
      return true;
    }
  }
  return false;
}

// Plain data is no step: a race is one in any execution in which nothing orders the two accesses,
// whichever came first here.
void Engine::access(model::Accesses& data, model::Access how, const Where& where) {
  using model::Access;
  if (data.execution != execution_) {
    const bool alive = data.initially_alive;
    data = {.execution = execution_, .alive = alive, .initially_alive = alive};
  }
  if (options_.memory == Memory::x86) return;  // views are not kept there
  const auto me = static_cast<unsigned>(running_);
  const View& now = self().now;
  const auto race = [&](unsigned other, const char* what) {
    const char* const does = how == Access::read ? " reads" : " writes";
    fail(Fault::race,
         "thread " + std::to_string(me) + does + " plain data that thread " +
             std::to_string(other) + " " + what + " without an order between the two",
         where);
  };
  if (now.at[data.writer] < data.write_at) race(data.writer, "wrote");
  if (how != Access::construct && !data.alive) {
    fail(Fault::uninitialised, "plain data was used before it was made or after its end", where);
  }
  if (how == Access::read) {
    data.read_at[me] = now.at[me];
    return;
  }
  for (unsigned t = 0; t < started_; ++t) {
    if (now.at[t] < data.read_at[t]) race(t, "read");
  }
  data.writer = static_cast<std::uint8_t>(me);
  data.write_at = now.at[me];
  if (how != Access::write) data.alive = how == Access::construct;
}

}}}  // namespace handoff::HANDOFF_ABI::explore
