// SPDX-License-Identifier: MIT
//
// A thread of the library's own: named, deaf to signals, joined by its destructor.
//
// For: workers and members. Not for: users, who have std::jthread.
// It blocks every signal but those that a faulty instruction raises, so that the handlers of the
// program run on the program's own threads.
// Concurrency: a Thread object belongs to one thread at a time.
// Order: what came before the constructor happens before the function; the function happens
// before the return of join().
// Blocks: join() and the destructor. Allocates: once, for the function.
// Throws: std::system_error if the system refuses another thread; then nothing is left behind.
#pragma once

#include <pthread.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/sync/internal/fork.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

// Where a thread may run, kept for others that any thread starts later.
class CpuSet {
 public:
  static CpuSet of_this_thread() noexcept;

 private:
  friend class Thread;
  static constexpr std::size_t most = 1024;
  std::array<unsigned long, most / (8 * sizeof(unsigned long))> bits_{};
  bool known_ = false;  // the kernel said so
};

// What the kernel calls this one, ended by a zero.
std::array<char, 16> name_of_this_thread() noexcept;

struct ThreadOptions {
  std::string name = {};  // what debuggers and `top` show; the kernel keeps 15 characters
  int cpu = -1;           // the only CPU it may run on; -1: see `cpus`
  const CpuSet* cpus = nullptr;  // where it may run; null: where its starter may
};

class Thread {
 public:
  Thread() noexcept = default;

  // `function()` must not throw.
  template <class F>
  Thread(const ThreadOptions& options, F&& function) {
    start(options, std::make_unique<Call<std::decay_t<F>>>(std::forward<F>(function)));
  }

  Thread(Thread&& other) noexcept
      : handle_(other.handle_),
        origin_(other.origin_),
        joinable_(std::exchange(other.joinable_, false)) {}
  Thread& operator=(Thread&& other) noexcept {
    join();
    handle_ = other.handle_;
    origin_ = other.origin_;
    joinable_ = std::exchange(other.joinable_, false);
    return *this;
  }
  ~Thread() { join(); }

  // Waits until the function has returned; nothing if there is none, or in a fork of the process
  // that started it.
  void join() noexcept;

 private:
  struct Entry {
    virtual ~Entry() = default;
    virtual void run() noexcept = 0;
    std::array<char, 16> name{};  // what the kernel keeps of it
  };
  template <class F>
  struct Call final : Entry {
    explicit Call(F f) : function(std::move(f)) {}
    void run() noexcept override { function(); }
    F function;
  };

  void start(const ThreadOptions& options, std::unique_ptr<Entry> entry);

#if defined(HANDOFF_EXPLORE)
  static void enter(void* entry);
  int handle_ = -1;
#else
  static void* enter(void* entry) noexcept;
  pthread_t handle_{};
#endif
  Origin origin_;
  bool joinable_ = false;
};

}}}  // namespace handoff::HANDOFF_ABI::sync
