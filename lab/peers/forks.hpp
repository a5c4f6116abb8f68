// SPDX-License-Identifier: MIT
// Forks of a contender, and memory that they share with it.
#pragma once

#include <sys/prctl.h>

#include "harness/contender.hpp"
#include "harness/protocol.hpp"

namespace handoff::lab::peers {

// Memory that later forks share, all zero; none where no bytes are asked for.
class SharedBytes : Pinned {
 public:
  explicit SharedBytes(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    place_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place_ != MAP_FAILED) return;
    throw Unavailable("there is no room for " + std::to_string(bytes) + " bytes of shared memory");
  }
  ~SharedBytes() {
    if (place_ != nullptr) munmap(place_, bytes_);
  }

  [[nodiscard]] void* get() const { return place_; }

 private:
  std::size_t bytes_;
  void* place_ = nullptr;
};

// A T in such memory.
template <class T>
class Common {
 public:
  T* operator->() const { return value_; }
  T& operator*() const { return *value_; }

 private:
  SharedBytes bytes_{sizeof(T)};
  T* value_ = ::new (bytes_.get()) T;
};

// Calls once more what a signal has interrupted.
template <class Call>
auto uninterrupted(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// The first thing that a fork does: it ends with its parent, and the coordinator sees when the
// contender closes its end of the protocol.
inline void live_as_child() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close(protocol::command_fd);
}

inline void wait_for(pid_t child) {
  uninterrupted([child] { return waitpid(child, nullptr, 0); });
}

// A child of this process that was not waited for yet.
inline void end_child(pid_t child) {
  if (child <= 0) return;
  kill(child, SIGKILL);
  wait_for(child);
}

}  // namespace handoff::lab::peers
