// SPDX-License-Identifier: MIT
//
// The state of one exploration: the execution that runs, its threads and memory, and the choices
// that make it this one and not another.
//
// engine.cpp schedules, memory.cpp is the memory model, search.cpp chooses and goes on to the next
// execution. The ideas and their limits: docs/design/explorer.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <explore/engine/explore.hpp>
#include <explore/engine/model.hpp>

#include "fiber.hpp"
#include "sight.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace explore {

using model::order;
using model::Where;

inline constexpr unsigned kThreads = model::Accesses::kThreads;
inline constexpr unsigned kEntries = 512;   // of a view: threads' clocks, then locations
inline constexpr unsigned kHistory = 8;     // stores of a location that a load may still return

// What a thread knows: how far each thread has come, and of each location the oldest store that it
// may still read. Joining two of these is all that synchronising is.
struct View {
  std::array<std::uint16_t, kEntries> at{};

  // Only the first `used` entries are alive; a multiple of 16, so that the loop is a few vectors.
  void join(const View& other, unsigned used) noexcept {
    for (unsigned i = 0; i < used; ++i) at[i] = at[i] < other.at[i] ? other.at[i] : at[i];
  }
  void assign(const View& other, unsigned used) noexcept {
    for (unsigned i = 0; i < used; ++i) at[i] = other.at[i];
  }
};

struct Store {
  std::uint64_t value = 0;
  View view;  // what a load that acquires it learns
  unsigned used = 0;  // how much of the view is alive: it may be older than some locations
};

struct History {  // one location
  std::uint16_t newest = 0;  // number of the newest store; numbers only grow, also over reuse
  std::uint16_t oldest = 0;  // of the oldest that is kept
  std::array<std::uint16_t, kThreads> used_at{};  // each thread's clock at its last access
  std::array<Store, kHistory> stores;
  Store& number(std::uint16_t n) noexcept { return stores[n % kHistory]; }
};

enum class Going : std::uint8_t { none, runnable, parked, joining, finished, dead };

struct ModelThread {
  Fiber fiber;
  Going going = Going::none;
  bool woken = false;  // parked: by an unpark, not by time
  bool fresh = false;  // has paused: its next load returns the newest store
  bool failed_spuriously = false;
  bool may_fail = false;  // its allocations may
  bool gets_no_thread = false;
  int process = -1;  // its first thread, with which it dies; -1: never
  const void* parked_on = nullptr;  // an address, never followed: the word may be gone
  std::uint32_t parked_since = 0;  // for first come, first woken
  int joins = -1;
  Where at;  // its last step
  std::int64_t deadline = model::never;
  model::Entry entry = nullptr;
  void* argument = nullptr;
  View now;  // what it knows
  View pending;  // what it will know at its next acquire fence
  View released;  // what its relaxed stores pass on, since its last release fence
  std::vector<std::pair<std::uint16_t, std::uint64_t>> buffer;  // x86: stores on their way
  struct Value {
    const void* key;
    void* value;
    void (*end)(void*);
  };
  std::vector<Value> values;
};

// One place where the execution could have gone another way.
struct Choice {
  std::uint32_t costly;  // bit i: alternative i is a deviation
  std::uint8_t taken;
  std::uint8_t count;
  std::uint16_t deviations_before;
};

// Remembers most keys that were inserted; says "new" again for one that was pushed out.
class SeenSites {
 public:
  bool insert(const char* file, std::uint64_t key) noexcept {
    const std::uint64_t both = key ^ reinterpret_cast<std::uintptr_t>(file);
    const std::uint64_t mixed = both * 0x9E3779B97F4A7C15U;
    std::uint64_t& slot = slots_[mixed >> 54];
    if (slot == mixed) return false;
    slot = mixed;
    return true;
  }

 private:
  std::array<std::uint64_t, 1024> slots_{};
};

class Engine {
 public:
  Result explore(const Options& options, const std::function<void()>& scenario);

  bool active() const noexcept { return active_; }

  // For the names of sync/, see model.hpp.
  std::uint64_t load(model::Location&, order, const Where&);
  void store(model::Location&, std::uint64_t, order, const Where&);
  std::uint64_t modify(model::Location&, model::Rmw, std::uint64_t operand, std::uint64_t mask,
                       order, const Where&);
  bool compare_exchange(model::Location&, std::uint64_t& expected, std::uint64_t desired, bool weak,
                        order success, order failure, const Where&);
  void fence(order, const Where&);
  void fence_heavy(const Where&);
  void construct(model::Location&) noexcept;
  void destroy(model::Location&, const Where&);
  void access(model::Accesses&, model::Access, const Where&);
  void pause(const Where&);
  void point(const char*, const Where&);
  bool park(model::Location&, std::uint64_t expected, std::int64_t deadline, const Where&);
  std::uint32_t unpark(model::Location&, std::uint32_t most, const Where&);
  std::int64_t now_ns() const noexcept { return now_ns_; }
  int start_thread(model::Entry, void*, bool is_process, const Where&);
  bool join_thread(int thread, const Where&);  // true if it died
  int this_thread() const noexcept { return running_; }
  void* thread_value(const void* key, void* (*make)(), void (*end)(void*));
  void* allocate(std::size_t bytes, std::size_t alignment, const Where&) noexcept;
  bool fails(const char* what, const Where&);
  unsigned any_of(unsigned count);
  bool allocation_fails() { return self().may_fail && fails("an allocation", self().at); }
  bool let_fail(bool may) noexcept { return std::exchange(self().may_fail, may); }
  bool thread_is_refused(const Where& where) {
    return self().gets_no_thread || fails("the start of a thread", where);
  }
  bool refuse_threads(bool all) noexcept { return std::exchange(self().gets_no_thread, all); }
  void deallocate(void* memory, const void* code, const Where&);
  void outcome(std::uint64_t value) noexcept;

  // An atomic of somebody else's, see hooks.cpp: a seq_cst fence, in effect.
  void foreign_atomic() noexcept;

  [[noreturn]] void fail(Fault fault, std::string message, const Where& where);
  // After the last step of the running thread.
  [[noreturn]] void fail(Fault fault, std::string message);

  static Engine& instance() noexcept {
    static Engine engine;
    return engine;
  }

 private:
  // search.cpp
  void begin_search();
  void search();
  unsigned choose(unsigned count, std::uint32_t costly, std::uint32_t number,
                  const std::uint8_t* threads = nullptr);
  unsigned choose_value(unsigned count, std::uint32_t costly) {
    return choose(count, costly, steps_ << 3 | 7);
  }
  unsigned choose_exhaustively(unsigned count, std::uint32_t costly);
  unsigned choose_randomly(unsigned count, std::uint32_t costly);
  unsigned choose_from_script(std::uint32_t number);
  bool may_deviate() const noexcept {
    return options_.search != Search::exhaustive || deviations_ < options_.deviations;
  }
  unsigned thread_by_priority(const std::uint8_t* threads, unsigned count) noexcept;
  bool next_path() noexcept;
  std::string schedule_text() const;
  void read_script(const std::string& schedule);
  void shorten_and_trace();
  bool script_fails();

  // engine.cpp
  [[noreturn]] void fail(Fault, std::string message, const char* place, const Where&);
  void execute();
  void begin_execution();
  void end_execution();
  void step(const Where& where);
  void go_on(bool may_stay);
  std::uint32_t able() const noexcept;
  unsigned list_alternatives(bool may_stay, std::uint8_t* list, std::uint32_t& costly);
  void take_alternative(std::uint8_t alternative);
  void advance_time();
  void wake(unsigned thread, bool by_unpark) noexcept;
  void kill(unsigned process);
  void end_by_force(unsigned thread);
  void change_to(unsigned thread);
  void run(unsigned thread) noexcept;
  void nobody_can_go_on();
  static void run_fiber(void* thread);
  void end_thread(ModelThread& thread);
  ModelThread& self() noexcept { return threads_[static_cast<unsigned>(running_)]; }
  template <class... Parts>
  void tell(const Where& where, const Parts&... parts) {
    if (!tracing_) return;
    std::ostringstream line;
    (line << ... << parts);
    note(where, line.str());
  }
  void note(const Where& where, const std::string& what);

  // memory.cpp
  History& touch(model::Location&, const Where&);
  void check_made(const model::Location&, const Where&);
  order mutated(order, Site::Kind, bool& dropped, const Where&);
  order mutated(order, const Where&);
  void join_sequential(ModelThread&) noexcept;
  void acquire(ModelThread&, const Store&, order) noexcept;
  void write(History&, std::uint16_t id, std::uint64_t value, order,
             const Store* continues) noexcept;
  std::uint16_t oldest_for(const History&, std::uint16_t id, order) noexcept;
  std::uint16_t pick_store(const History&, std::uint16_t id, order);
  void flush(ModelThread&, std::size_t count);
  void flush_late(const Where&);
  bool buffered(std::uint16_t id, std::uint64_t& value) noexcept;

  // The exploration.
  Options options_;
  const std::function<void()>* scenario_ = nullptr;
  Result result_;
  std::vector<Choice> path_;  // exhaustive: the choices of this execution
  std::size_t replayed_ = 0;  // how many of them were met again
  // Choices that were not the first alternative. A choice is numbered by the step it belongs to
  // and its place there, which do not depend on the bound, so that a schedule can be replayed and
  // shortened without one.
  std::vector<std::pair<std::uint32_t, std::uint8_t>> taken_;
  std::vector<std::pair<std::uint32_t, std::uint8_t>> script_;  // replay: what to take
  std::mt19937_64 random_;
  std::array<std::uint64_t, kThreads> priority_{};
  std::vector<std::uint32_t> change_at_;
  std::unordered_set<std::uint64_t> finals_;
  SeenSites seen_sites_;
  std::set<Site> sites_;

  // The execution.
  bool active_ = false;
  bool failed_ = false;
  bool tracing_ = false;
  std::uint32_t execution_ = 0;
  Fiber home_;
  std::array<ModelThread, kThreads> threads_;
  int running_ = -1;
  unsigned started_ = 0;
  std::uint32_t runnable_ = 0;  // bit per thread
  std::uint32_t waiting_ = 0;  // those that have paused since the last write
  std::array<std::uint32_t, kThreads> ran_{};  // those that ran since this thread's last pause
  std::array<std::uint32_t, kThreads> first_{};  // those that go before this thread: see pause()
  std::uint32_t timed_ = 0;  // parked with a deadline
  std::uint32_t steps_ = 0;
  std::uint32_t turns_ = 0;  // times somebody was chosen to go on, since the last step
  unsigned deviations_ = 0;
  unsigned deaths_ = 0;
  unsigned failures_ = 0;
  std::uint32_t parkings_ = 0;
  std::int64_t now_ns_ = 0;
  std::uint64_t final_ = 0;
  View sequential_;  // what the seq_cst order has seen
  std::array<std::uint16_t, kThreads> foreign_{};  // the clocks at atomics of somebody else
  std::array<History, kEntries - kThreads> memory_;
  std::vector<std::uint16_t> free_ids_;
  unsigned used_ = kThreads;
  unsigned locations_ = 0;
  struct Block {
    std::size_t bytes;
    std::size_t alignment;
    bool freed;
  };
  std::unordered_map<void*, Block> blocks_;
};

}}}  // namespace handoff::HANDOFF_ABI::explore
