// SPDX-License-Identifier: MIT
//
// The spawner's queue, its life, and clone(2).
//
//   SW-1  An order that was taken into the queue is answered: the thread ends with an empty queue,
//         after the queue was closed.
#include "spawner.hpp"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/mutex.hpp>
#include <new>
#include <system_error>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"
#include "no_signals.hpp"
#include "process_place.hpp"

#if defined(__GLIBC__)
// The same as clone(), by a name that ThreadSanitizer does not replace: what it does around a clone
// is right for a copy of the memory only.
extern "C" int __clone(int (*)(void*), void*, int, void*, ...) noexcept;  // NOLINT
#define HANDOFF_CLONE __clone
#else
#define HANDOFF_CLONE ::clone
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::size_t kStackBytes = std::size_t{64} << 10;
constexpr std::size_t kGuardBytes = std::size_t{64} << 10;  // a page, however large they are

struct Order {
  ChildPlan* plan = nullptr;
  Spawned answer;
  Order* next = nullptr;
  bool answered = false;  // this and `next` under the spawner's mutex
};

// A stack for children, one after another. Below it lies what nobody may touch.
class ChildStack {
 public:
  ChildStack() noexcept
      : lowest_(::mmap(nullptr, kGuardBytes + kStackBytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {
    if (lowest_ == MAP_FAILED) return;
    if (::mprotect(static_cast<std::byte*>(lowest_) + kGuardBytes, kStackBytes,
                   PROT_READ | PROT_WRITE) != 0) {
      give_back();
    }
  }
  ~ChildStack() { give_back(); }
  ChildStack(const ChildStack&) = delete;
  ChildStack& operator=(const ChildStack&) = delete;

  void give_back() noexcept {
    if (is_there()) ::munmap(std::exchange(lowest_, MAP_FAILED), kGuardBytes + kStackBytes);
  }
  [[nodiscard]] bool is_there() const noexcept { return lowest_ != MAP_FAILED; }
  [[nodiscard]] void* top() const noexcept {
    return static_cast<std::byte*>(lowest_) + kGuardBytes + kStackBytes;
  }

 private:
  void* lowest_;
};

// The child has these CPUs as this thread does: nothing need be said.
void leave_out_own_cpus(ChildPlan& plan) noexcept {
  std::array<unsigned long, kCpuSetBytes / sizeof(unsigned long)> own{};
  static_assert(sizeof own == kCpuSetBytes);
  if (plan.cpus == nullptr) return;
  if (::syscall(SYS_sched_getaffinity, 0, sizeof own, own.data()) <= 0) return;
  if (std::memcmp(own.data(), plan.cpus, sizeof own) == 0) plan.cpus = nullptr;
}

// Its program does not run, so it has ended, and nobody but this thread knows of it: it was made
// without a signal for its end, and is none of those that a wait for any child means.
void reap(int pidfd) noexcept {
  siginfo_t ignored{};
  (void)descriptors::wait_for(pidfd, ignored, WEXITED | __WALL);
}

Spawned make_child(ChildPlan& plan, void* stack) noexcept {
  Spawned made;
  plan.parent = ::getpid();
  leave_out_own_cpus(plan);
  int pidfd = -1;
  int error = 0;
  {
    const NoSignals held;
    // descriptor: one with the number of a stream is copied below.
    made.id = HANDOFF_CLONE(&run_child, stack, CLONE_VM | CLONE_VFORK | CLONE_PIDFD, &plan, &pidfd);
    error = errno;
  }
  if (made.id < 0) {
    made.error = error;
    made.failed = "make a process";
    return made;
  }
  Descriptor own(pidfd);
  if (plan.error == 0) {
    // If there can be no copy, the child is waited for by the one there is.
    made.pidfd = pidfd > STDERR_FILENO ? std::move(own) : Descriptor(descriptors::copy_of(pidfd));
    if (made.pidfd.is_open()) {
      rusage usage{};
      if (::getrusage(RUSAGE_SELF, &usage) == 0) made.resident_kib_max = usage.ru_maxrss;
      return made;
    }
    plan.error = errno;  // as if it had not been made
    plan.failed = "make a process";
    (void)descriptors::send_signal(pidfd, SIGKILL);
  }
  reap(pidfd);
  made.error = plan.error;
  made.failed = plan.failed;
  return made;
}

class Spawner {
 public:
  // 0, or an errno.
  int start() noexcept {
    if (!stack_.is_there()) return ENOMEM;
    try {
      thread_ = sync::Thread({.name = "spawner"}, [this] { run(); });
    } catch (const std::system_error& error) {
      return error.code().value();
    } catch (const std::bad_alloc&) {
      return ENOMEM;
    }
    return 0;
  }

  // False: it ends, nothing was done.
  bool carry_out(Order& wanted) noexcept {
    {
      const sync::SeenLock lock(mutex_);
      if (closed_) return false;
      (last_ == nullptr ? first_ : last_->next) = &wanted;
      last_ = &wanted;
    }
    ordered_.notify_one();
    (void)answered_.await([&] {
      const sync::SeenLock lock(mutex_);
      return wanted.answered;
    });
    return true;
  }

  void end() noexcept {
    {
      const sync::SeenLock lock(mutex_);
      closed_ = true;
    }
    ordered_.notify_one();
    thread_.join();
    stack_.give_back();
  }

 private:
  void run() noexcept {
    for (;;) {
      Order* taken = nullptr;
      bool over = false;
      (void)ordered_.await([&] {
        const sync::SeenLock lock(mutex_);
        taken = first_;
        if (taken != nullptr && (first_ = taken->next) == nullptr) last_ = nullptr;
        over = closed_;
        return taken != nullptr || over;
      });
      if (taken == nullptr) return;
      taken->answer = make_child(*taken->plan, stack_.top());
      {
        const sync::SeenLock lock(mutex_);
        taken->answered = true;  // and may be gone after that
      }
      answered_.notify_all();
    }
  }

  sync::Mutex mutex_;
  Order* first_ = nullptr;  // these three under the mutex
  Order* last_ = nullptr;
  bool closed_ = false;
  sync::EventCount ordered_;
  sync::EventCount answered_;
  ChildStack stack_;
  sync::Thread thread_;
};

constinit ProcessPlace<Spawner> the_place;

std::uint64_t this_process() noexcept { return static_cast<std::uint64_t>(::getpid()); }

#if !defined(HANDOFF_EXPLORE)
// The thread must not outlive the code.
struct SpawnersEnd {
  SpawnersEnd() noexcept = default;
  SpawnersEnd(const SpawnersEnd&) = delete;
  SpawnersEnd& operator=(const SpawnersEnd&) = delete;
  ~SpawnersEnd() { the_place.end(this_process()); }
};
const SpawnersEnd the_spawners_end;
#endif

}  // namespace

Spawned spawn(ChildPlan& plan) noexcept {
  Order wanted;
  wanted.plan = &plan;
  if (const int error = the_place.need(this_process()); error != 0) {
    wanted.answer.error = error;
  } else if (!the_place.get().carry_out(wanted)) {
    wanted.answer.error = ECANCELED;
  }
  return std::move(wanted.answer);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
