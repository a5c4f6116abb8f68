// SPDX-License-Identifier: MIT
//
// What the names of sync/ stand for in an exploring build (HANDOFF_EXPLORE): steps of a model.
//
// Only sync/ calls these functions, and only in an exploring build. Scenarios use explore.hpp.
// A model thread is a fiber; every access to an atomic asks the scheduler first, and every value
// that the memory model allows may be what a load returns. How it works and what it cannot show:
// docs/design/explorer.md.
// Outside an exploration (in constructors of globals, say) the names work like plain variables.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace explore::model {

using order = std::memory_order;
using Where = std::source_location;

// A variable's place in the running execution. The variable registers itself at its first use in
// each execution, so that globals start each one with their initial value.
struct Location {
  std::uint64_t initial = 0;
  std::uint32_t execution = 0;  // the one it is registered in; 0: none
  std::uint16_t id = 0;
  bool dead = false;
  // Who made it, and when by its clock, in which execution; 0: none.
  std::uint8_t maker = 0;
  std::uint16_t made_at = 0;
  std::uint32_t made_in = 0;
};

void construct(Location& location) noexcept;
std::uint64_t load(Location& location, order o, const Where& where);
void store(Location& location, std::uint64_t value, order o, const Where& where);

enum class Rmw : std::uint8_t { exchange, add, subtract, bit_or, bit_and, bit_xor };
constexpr std::uint64_t changed(Rmw how, std::uint64_t old, std::uint64_t operand) noexcept {
  switch (how) {
    case Rmw::exchange: return operand;
    case Rmw::add: return old + operand;
    case Rmw::subtract: return old - operand;
    case Rmw::bit_or: return old | operand;
    case Rmw::bit_and: return old & operand;
    case Rmw::bit_xor: return old ^ operand;
  }
  return old;
}
// Returns the value before; `mask` keeps results inside the variable's width.
std::uint64_t modify(Location& location, Rmw how, std::uint64_t operand, std::uint64_t mask,
                     order o, const Where& where);

bool compare_exchange(Location& location, std::uint64_t& expected, std::uint64_t desired,
                      bool may_fail_spuriously, order success, order failure, const Where& where);

void destroy(Location& location, const Where& where);

void fence(order o, const Where& where);
void fence_light(const Where& where);
void fence_heavy(const Where& where);

// Plain data: who read and wrote it last, for finding races.
struct Accesses {
  static constexpr std::size_t kThreads = 8;
  std::uint32_t execution = 0;
  std::uint16_t read_at[kThreads] = {};  // each thread's clock at its last read
  std::uint16_t write_at = 0;
  std::uint8_t writer = 0;
  bool alive = true;            // false: nothing is there yet, or no more
  bool initially_alive = true;  // at the begin of each execution, for what outlives them
};
enum class Access : std::uint8_t { read, write, construct, destroy };
void access(Accesses& accesses, Access how, const Where& where);

void pause(const Where& where);
void point(const char* label, const Where& where);

// As sync::park and unpark; times are nanoseconds of the model's clock, `never` for no deadline.
inline constexpr std::int64_t never = INT64_MAX;
bool park(Location& word, std::uint64_t expected, std::int64_t deadline, const Where& where);
std::uint32_t unpark(Location& word, std::uint32_t most, const Where& where);
std::int64_t now_ns() noexcept;

// Threads of the model, by number. The entry runs as a fiber of its own.
using Entry = void (*)(void* argument);
int start_thread(Entry entry, void* argument, bool is_process, const Where& where);
bool join_thread(int thread, const Where& where);  // true if it was killed
int this_thread() noexcept;

// One value per model thread and key. `make` at first use, `end` when the thread has ended.
void* thread_value(const void* key, void* (*make)(), void (*end)(void*));

// Whether a call that may fail does: `what` it was, for the trace.
bool fails(const char* what, const Where& where);
bool thread_is_refused(const Where& where);
// Null if it fails.
void* allocate(std::size_t bytes, std::size_t alignment, const Where& where) noexcept;
void deallocate(void* memory, const Where& where);

}}}  // namespace handoff::HANDOFF_ABI::explore::model
