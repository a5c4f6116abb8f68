// SPDX-License-Identifier: MIT
//
// The Executor whose threads make the calls of a FileEngine, and what it is given to call. Not for
// users, who name an Executor of theirs as FileEngineOptions::executor.
#pragma once

#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/status.hpp>
#include <handoff/pool/internal/pool_host.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A call that is made once. If the executor ends without it, by the thread that destroys it.
class FileJob {
 public:
  FileJob(void (*call)(void* of) noexcept, void* of) noexcept : call_(call), of_(of) {}
  FileJob(FileJob&& other) noexcept : call_(other.call_), of_(std::exchange(other.of_, nullptr)) {}
  FileJob& operator=(FileJob&& other) noexcept {
    std::swap(call_, other.call_);
    std::swap(of_, other.of_);
    return *this;
  }
  ~FileJob() {
    if (of_ != nullptr) (*this)();
  }

  void operator()() noexcept { call_(std::exchange(of_, nullptr)); }
  // It was refused.
  void forget() noexcept { of_ = nullptr; }

 private:
  void (*call_)(void* of) noexcept;
  void* of_;
};

// None, or one of the user's, which outlives the engine.
class FileExecutor {
 public:
  FileExecutor() noexcept = default;
  template <Executor E>
  FileExecutor(E& executor) noexcept  // NOLINT(*-explicit-*): it stands for the executor
      : executor_(&executor),
        try_post_(
            [](void* of, FileJob& job) { return static_cast<E*>(of)->try_post(std::move(job)); }),
        pool_(pool_host(executor)) {}

  explicit operator bool() const noexcept { return executor_ != nullptr; }
  Status try_post(FileJob& job) const { return try_post_(executor_, job); }
  // If it is one, as pool_host() says.
  const FutureHost* pool() const noexcept { return pool_; }

 private:
  void* executor_ = nullptr;
  Status (*try_post_)(void* executor, FileJob& job) = nullptr;
  const FutureHost* pool_ = nullptr;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
