// SPDX-License-Identifier: MIT
// Loads the user's kernel, and makes an operation of a way: passes that are timed, and between them
// passes whose calls are looked at, to say where time was lost.
#include "scenarios/try/contender.hpp"

#include <dlfcn.h>
#include <handoff/core/try_kernel.h>

#include "peers/forks.hpp"
#include "peers/threads.hpp"
#include "scenarios/try/answer.hpp"

namespace handoff::lab::trial {
namespace {

using Nanoseconds = std::uint64_t;
using peers::clock_ns;

// What one thread or process did of a pass that is looked at.
struct alignas(64) Member {
  Nanoseconds first;  // when it began its first items
  Nanoseconds last;  // when it ended its last ones
  Nanoseconds busy;  // inside the kernel
  std::uint64_t items;
};

// In memory that worker processes share with the caller.
struct Board {
  static constexpr std::uint32_t kMost = 4096;  // threads in a pass

  std::atomic<std::uint32_t> watching;  // the number of the pass; 0: nothing is looked at
  std::atomic<std::uint32_t> members;
  Member member[kMost];
};

const handoff_try_kernel* kernel = nullptr;
Board* board = nullptr;
std::mutex failure_mutex;
std::string failure;  // the first of a pass

// This thread's place in the pass that is looked at; null if there are too many threads.
Member* my_place(std::uint32_t pass) {
  thread_local std::uint32_t of_pass = 0;
  thread_local Member* mine = nullptr;
  if (of_pass == pass) return mine;
  of_pass = pass;
  // order: the pass's reader comes after the way has waited for all members
  const std::uint32_t index = board->members.fetch_add(1, std::memory_order_relaxed);
  mine = index < Board::kMost ? &board->member[index] : nullptr;
  if (mine != nullptr) *mine = {clock_ns(), 0, 0, 0};
  return mine;
}

void keep_failure(const char* what) noexcept {
  const std::lock_guard lock(failure_mutex);
  if (failure.empty()) failure = std::string("the kernel threw: ") + what;
}

}  // namespace

void run_items_throwing(std::size_t first, std::size_t last) {
  // order: the way hands items out after it was set, and waits for them before it is unset
  const std::uint32_t pass = board->watching.load(std::memory_order_relaxed);
  Member* const place = pass == 0 ? nullptr : my_place(pass);
  if (place == nullptr) {
    kernel->run(first, last);
    return;
  }
  const Nanoseconds start = clock_ns();
  kernel->run(first, last);
  place->last = clock_ns();
  place->busy += place->last - start;
  place->items += last - first;
}

void run_items(std::size_t first, std::size_t last) noexcept {
  try {
    run_items_throwing(first, last);
  } catch (const std::exception& error) {
    keep_failure(error.what());
  } catch (...) {
    keep_failure("something that is no std::exception");
  }
}

namespace {

const handoff_try_kernel* load(const char* path) {
  void* const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) throw Unavailable(std::string("it cannot be loaded: ") + dlerror());
  void* const symbol = dlsym(object, "handoff_try_entry");
  if (symbol == nullptr) {
    throw Unavailable(
        "it has no handoff_try_entry(): define it, as handoff/core/try_kernel.h says");
  }
  const auto entry = reinterpret_cast<decltype(&handoff_try_entry)>(symbol);
  const handoff_try_kernel* const found = entry();
  if (found == nullptr) throw Unavailable("its handoff_try_entry() returns null");
  if (found->version != HANDOFF_TRY_VERSION) {
    throw Unavailable("it is of version " + std::to_string(found->version) +
                      " of try_kernel.h, and this program knows " +
                      std::to_string(HANDOFF_TRY_VERSION) + ": compile it again");
  }
  if (found->bytes < sizeof *found) {
    throw Unavailable("its kernel has " + std::to_string(found->bytes) + " bytes, not " +
                      std::to_string(sizeof *found) + ": set `bytes` to sizeof kernel");
  }
  if (!found->items || !found->run || !found->reset || !found->digest) {
    throw Unavailable("one of items, run, reset and digest is null: it needs all four");
  }
  return found;
}

// Its setup() is done, and its teardown() will be.
class Kernel : Pinned {
 public:
  Kernel() : board_(sizeof(Board)), result_((kernel = load_named())->result_bytes) {
    board = new (board_.get()) Board;
    const int code = kernel->setup == nullptr ? 0 : kernel->setup(result_.get());
    if (code != 0) throw Unavailable("its setup() returned " + std::to_string(code));
  }
  ~Kernel() {
    if (kernel->teardown != nullptr) kernel->teardown();
  }

 private:
  static const handoff_try_kernel* load_named() {
    const char* const path = std::getenv(kKernelVariable);
    if (path == nullptr) throw Unavailable("no kernel was named: use `handoff try KERNEL.so`");
    return load(path);
  }

  peers::SharedBytes board_;
  peers::SharedBytes result_;
};

// A kernel under a way.
class Passes {
 public:
  explicit Passes(const Parameters& parameters)
      : task_(task_of(parameters)), way_(contender(task_)) {
    answer_.items = task_.items;
    answer_.in_given_memory = task_.in_given_memory ? 1 : 0;
  }

  Answer operator()(Burst& burst) {
    if (passes_ == 0) first_passes();
    if (clock_ns() >= next_watch_) watched_pass();
    kernel->reset();
    burst.timed(way_);
    end_pass(Fault::other_pass);
    burst.figure(kWatchedNs, static_cast<double>(watched_ns_));
    burst.figure(kBusyNs, static_cast<double>(busy_ns_));
    burst.figure(kLateNs, static_cast<double>(late_ns_));
    burst.figure(kEarlyNs, static_cast<double>(early_ns_));
    burst.figure(kBetweenNs, static_cast<double>(between_ns_));
    return answer_;
  }

 private:
  static Task task_of(const Parameters& parameters) {
    const std::uint64_t items = kernel->items();
    if (items == 0) throw Unavailable("its items() says 0: there is nothing to run");
    return {items, parameters.number("width"), parameters.number("block", 0),
            kernel->result_bytes > 0};
  }

  // Before anything is timed: what happens seldom gets some chances to happen.
  void first_passes() {
    constexpr int most = 20;
    const Nanoseconds end = clock_ns() + 50'000'000;
    for (int i = 0; i < 2 || (i < most && clock_ns() < end); ++i) watched_pass();
    if (contender_name() == "limit.serial") backwards();
  }

  void backwards() {
    constexpr std::size_t most = 65536;  // calls
    const std::size_t block = task_.items / most + 1;
    kernel->reset();
    for (std::size_t last = task_.items; last > 0;) {
      const std::size_t first = last > block ? last - block : 0;
      run_items(first, last);
      last = first;
    }
    end_pass(Fault::other_order);
  }

  // order: the way's own hand-over puts all of this before and after what its members do
  void watched_pass() {
    static std::uint32_t number = 0;
    kernel->reset();
    board->members.store(0, std::memory_order_relaxed);  // order: as above
    board->watching.store(++number, std::memory_order_relaxed);  // order: as above
    const Nanoseconds start = clock_ns();
    way_();
    const Nanoseconds end = clock_ns();
    board->watching.store(0, std::memory_order_relaxed);  // order: as above
    sum_up(start, end);
    end_pass(Fault::other_pass);
    constexpr Nanoseconds often = 20'000'000;
    constexpr Nanoseconds seldom = 8;  // one pass of so many
    next_watch_ = end + std::max(often, seldom * (end - start));
  }

  void sum_up(Nanoseconds start, Nanoseconds end) {
    // order: as in watched_pass()
    const std::uint32_t came = board->members.load(std::memory_order_relaxed);
    const std::uint32_t seen = std::min(came, Board::kMost);
    watched_ns_ = end - start;
    busy_ns_ = late_ns_ = early_ns_ = between_ns_ = 0;
    std::uint64_t items = 0;
    for (std::uint32_t i = 0; i < seen; ++i) {
      const Member& member = board->member[i];
      items += member.items;
      busy_ns_ += member.busy;
      late_ns_ += member.first - start;
      early_ns_ += end - std::max(member.last, member.first);
      between_ns_ += std::max(member.last, member.first) - member.first - member.busy;
    }
    if (came < task_.width) late_ns_ += (task_.width - came) * watched_ns_;
    if (came == seen && items != task_.items) fault(Fault::other_items, items);
  }

  void end_pass(Fault otherwise) {
    if (!failure.empty()) throw std::runtime_error(failure);
    const std::uint64_t digest = kernel->digest();
    if (passes_++ == 0) answer_.digest = digest;
    if (digest != answer_.digest) fault(otherwise, digest);
  }

  void fault(Fault what, std::uint64_t instead) {
    if (answer_.fault != Fault::none) return;
    answer_.fault = what;
    answer_.other = instead;
  }

  Kernel kernel_;
  Task task_;
  Operation way_;
  Answer answer_{};
  std::uint64_t passes_ = 0;
  Nanoseconds next_watch_ = 0;
  Nanoseconds watched_ns_ = 0;
  Nanoseconds busy_ns_ = 0;
  Nanoseconds late_ns_ = 0;
  Nanoseconds early_ns_ = 0;
  Nanoseconds between_ns_ = 0;
};

}  // namespace
}  // namespace handoff::lab::trial

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return answering([passes = std::make_shared<trial::Passes>(parameters)](Burst& burst) {
    return (*passes)(burst);
  });
}
