// SPDX-License-Identifier: MIT
//
// Runs a small concurrent program through its interleavings and through the values that the C++
// memory model lets its loads return, and says what went wrong, when, and how to see it again.
//
//   const Result result = explore::run({.name = "ring/one_item", .deviations = 2}, [] {
//     SpscRing<int> ring(1);
//     explore::Thread producer([&] { (void)ring.try_push(1); });
//     int item = 0;
//     if (ring.try_pop(item) == Status::ok) explore::check(item == 1, "the item is whole");
//     producer.join();
//   });
//
// For: the proof of lock-free parts, in a build with HANDOFF_EXPLORE. Not for: code that uses real
// threads, clocks or files.
// The program is run again and again, each time on another schedule. It must do the same for the
// same schedule: no real time, no addresses as values, no randomness of its own.
// Concurrency: one exploration at a time in a process.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include <explore/engine/model.hpp>
#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace explore {

enum class Search : std::uint8_t {
  exhaustive,  // every schedule with at most `deviations` deviations
  random,      // `executions` random walks
  pct,         // `executions` runs by random priorities that change `deviations` times
  replay,      // the one run that `schedule` tells
};

enum class Memory : std::uint8_t {
  cpp,         // the C++ memory model, less what docs/design/explorer.md lists
  x86,         // store buffers only
  sequential,  // every load returns the newest store
};

enum class Fault : std::uint8_t {
  none,
  assertion,
  deadlock,       // nobody can go on: a lost wake-up, a lock that is never let go
  livelock,       // more steps than `steps_limit`
  race,           // two accesses to plain data, one of them a write, with no order between
  uninitialised,  // plain data read before it was made, or after its end
  use_after_end,  // an atomic used after its destructor
  leak,
  double_free,
  exception,  // one left a thread
};
const char* to_string(Fault fault) noexcept;
const char* to_string(model::order o) noexcept;

// One site of the program where an order is weakened, or a fence left out, to see whether the
// scenarios notice.
struct Mutation {
  std::string file;  // the end of its path
  std::uint_least32_t line = 0;
  model::order from{};
  model::order to{};
  bool drop_fence = false;
};

// An order that the program used, and where.
struct Site {
  std::string file;
  std::uint_least32_t line = 0;
  model::order used{};
  enum class Kind : std::uint8_t {
    access,
    fence,
    heavy_fence,  // has no other order than the one it has
  } kind = Kind::access;
  friend auto operator<=>(const Site&, const Site&) = default;
};

struct Options {
  std::string name = {};
  Search search = Search::exhaustive;
  Memory memory = Memory::cpp;
  // Preemptions, stale reads, spurious failures, early time-outs, deaths and failures together.
  // Switches to another thread because one cannot go on are free.
  unsigned deviations = 2;
  std::uint64_t executions = 100'000'000;  // at most; more would be needed: the result is cut
  std::uint64_t seed = 1;
  unsigned steps_limit = 2000;
  unsigned deaths = 0;   // processes that may be killed in one execution
  unsigned failures = 0;  // calls that may fail in one execution: see MayFail and may_throw()
  std::string schedule = {};  // for replay
  const Mutation* mutation = nullptr;
  bool list_sites = false;  // fills Result::sites
};

struct Result {
  Fault fault = Fault::none;
  std::string message;
  std::string schedule;            // of the failed execution, as short as it could be made
  std::vector<std::string> trace;  // its steps
  std::uint64_t executions = 0;
  std::uint64_t steps = 0;
  unsigned deepest = 0;  // steps of the longest execution
  std::uint64_t final_states = 0;
  bool complete = false;  // nothing was left out within the bound
  double seconds = 0;
  std::vector<Site> sites;  // if asked for

  bool ok() const noexcept { return fault == Fault::none && complete; }
  std::string report() const;  // some lines for a person
};

Result run(const Options& options, const std::function<void()>& scenario);

// Ends the execution as failed unless `condition`.
void check(bool condition, const char* what,
           const std::source_location& where = std::source_location::current());

// Tells apart final states, for counting them; mixed into one hash per execution.
void outcome(std::uint64_t value);

// One of the numbers below `count` (at most 32). Each is explored, at no deviation.
unsigned any_of(unsigned count);

// Failures are choices of the explorer, at most Options::failures of them in an execution, each a
// deviation. sync::Thread fails to start, with std::system_error. may_throw() throws Planned: a
// scenario calls it in its closures, listeners, copies and hashes. Allocations of a thread fail
// while it has a MayFail: operator new and sync::allocate() throw std::bad_alloc,
// sync::try_allocate() returns null.
struct Planned {
  const char* what;
};
void may_throw(const char* what,
               const std::source_location& where = std::source_location::current());

class MayFail {
 public:
  MayFail() noexcept;
  ~MayFail();
  MayFail(const MayFail&) = delete;
  MayFail& operator=(const MayFail&) = delete;

 private:
  bool before_;
};

// While it lives, what its thread asks for is refused: sync::Thread fails to start. No choice, and
// no deviation: for a fault that takes a refusal and a switch.
class NoThreads {
 public:
  NoThreads() noexcept;
  ~NoThreads();
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  bool before_;
};

// While it lives, what the thread does is none of the program's, and its plain data is not looked
// at: for a scenario that writes down what it sees of all threads. It makes no step meanwhile.
class Unwatched {
 public:
  Unwatched() noexcept;
  ~Unwatched();
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;

 private:
  bool before_;
};

// A thread of the scenario; joined by its destructor.
class Thread {
 public:
  explicit Thread(std::function<void()> function,
                  const std::source_location& where = std::source_location::current());
  ~Thread() { join(); }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  void join(const std::source_location& where = std::source_location::current());

 private:
  static void enter(void* self);
  std::function<void()> function_;
  int thread_ = -1;
};

// A thread, and all that it starts, which die together, at any step, if Options::deaths allows:
// their stores stay, nothing of theirs is unwound. The survivors know of it as a parent does, by
// waiting, after the fact.
class Process {
 public:
  explicit Process(std::function<void()> function,
                   const std::source_location& where = std::source_location::current());
  ~Process() { wait(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  // Waits for its end; true if it died before it was done.
  bool wait(const std::source_location& where = std::source_location::current());

 private:
  static void enter(void* self);
  std::function<void()> function_;
  int thread_ = -1;
  bool died_ = false;
};

}}}  // namespace handoff::HANDOFF_ABI::explore
