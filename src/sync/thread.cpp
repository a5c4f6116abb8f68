// SPDX-License-Identifier: MIT
//
// Starting and joining threads.
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <exception>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/internal/thread_slot.hpp>
#include <system_error>

#include "internal/file_limit.hpp"
#include "internal/joined.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {
namespace {

// Everything but what a faulty instruction raises: blocking those would only turn the program's
// own crash handler off.
sigset_t signals_to_block() noexcept {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
    sigdelset(&all, fault);
  }
  return all;
}

// A new thread inherits its starter's mask: so block around the start, and no signal finds the
// thread in between.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    const sigset_t blocked = signals_to_block();
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// Owns the attributes of one start.
class Attributes {
 public:
  Attributes() noexcept { pthread_attr_init(&attributes_); }
  ~Attributes() { pthread_attr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  int pin_to(int cpu) noexcept {
    // equivalent(bound): CPU_SET leaves out what is beyond the set, and the kernel refuses an empty
    // one with the same error
    if (cpu >= CPU_SETSIZE) return EINVAL;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    return pthread_attr_setaffinity_np(&attributes_, sizeof set, &set);
  }
  int allow(const unsigned long* bits) noexcept {
    cpu_set_t set;
    std::memcpy(&set, bits, sizeof set);
    return pthread_attr_setaffinity_np(&attributes_, sizeof set, &set);
  }
  const pthread_attr_t* get() const noexcept { return &attributes_; }

 private:
  pthread_attr_t attributes_;
};

}  // namespace

ThreadId this_thread_id() noexcept {
  struct Id;
  return &thread_slot<char, Id>::get();
}

KernelThread this_kernel_thread() noexcept { return gettid(); }

std::array<char, 16> name_of_this_thread() noexcept {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name;
}

bool is_alive(KernelThread thread) noexcept {
  if (thread <= 0) return false;
  const int before = errno;
  const bool alive = tgkill(getpid(), thread, 0) == 0 || errno != ESRCH;
  errno = before;
  return alive;
}

CpuSet CpuSet::of_this_thread() noexcept {
  static_assert(sizeof(cpu_set_t) == sizeof(CpuSet::bits_));
  CpuSet here;
  cpu_set_t set;
  CPU_ZERO(&set);
  here.known_ = sched_getaffinity(0, sizeof set, &set) == 0;
  std::memcpy(here.bits_.data(), &set, sizeof set);
  return here;
}

void Thread::start(const ThreadOptions& options, std::unique_ptr<Entry> entry) {
  Attributes attributes;
  options.name.copy(entry->name.data(), entry->name.size() - 1);
  int error = 0;
  if (options.cpu >= 0) {
    error = attributes.pin_to(options.cpu);
  } else if (options.cpus != nullptr && options.cpus->known_) {
    error = attributes.allow(options.cpus->bits_.data());
  }
  if (error == 0) {
    const SignalsBlocked blocked;
    error = pthread_create(&handle_, attributes.get(), &Thread::enter, entry.get());
  }
  if (error != 0) {
    throw std::system_error(error, std::generic_category(),
                            joined({"starting thread '", options.name, "'"}));
  }
  // equivalent(swap): two members of one thread
  static_cast<void>(entry.release());  // the thread owns it now
  origin_ = Origin::here();
  joinable_ = true;
}

void* Thread::enter(void* entry) noexcept {
  const std::unique_ptr<Entry> owned(static_cast<Entry*>(entry));
  // By the thread itself: another one would have to open a file of /proc for it. A name is a
  // comfort: not worth failing for.
  if (owned->name.front() != '\0') pthread_setname_np(pthread_self(), owned->name.data());
  handoff::detail::file_limit_is_no_signal_here();  // it has all of signals_to_block() blocked
  owned->run();
  return nullptr;
}

void Thread::join() noexcept {
  if (!std::exchange(joinable_, false) || !origin_.is_here()) return;
  const probe::Slice asleep(probe::Kind::sleep, "join");
  pthread_join(handle_, nullptr);
}

}}}  // namespace handoff::HANDOFF_ABI::sync
