// SPDX-License-Identifier: MIT
//
// A job of a ProcessPool, as its master has it: the Future's other end, and the kernel as a plain
// function on bytes. Not for users, who get the Future.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/status.hpp>
#include <handoff/sync/mutex.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class JobMaster;

// How a worker calls any kernel: with the arguments' bytes and room for the result's.
using JobCall = void (*)(const void* arguments, void* result);

// A function of arguments that can be copied as bytes, without a capture.
template <auto kernel, class Arguments>
concept JobKernel = std::is_trivially_copyable_v<Arguments> &&
                    std::is_function_v<std::remove_pointer_t<decltype(kernel)>> &&
                    requires(const Arguments& arguments) { kernel(arguments); };

template <auto kernel, class Arguments>
using JobResult = std::remove_cv_t<std::invoke_result_t<decltype(kernel), const Arguments&>>;

// The kernel as a JobCall.
template <auto kernel, class Arguments>
void call_job(const void* arguments, void* result) {
  using Result = JobResult<kernel, Arguments>;
  const Arguments& given = *static_cast<const Arguments*>(arguments);
  if constexpr (std::is_void_v<Result>) {
    kernel(given);
    (void)result;
  } else {
    ::new (result) Result(kernel(given));
  }
}

// One of the three calls, once, ends it.
class ProcessJob {
 public:
  // The bytes of the result; nobody changes them meanwhile.
  virtual void take_result(const void* bytes) noexcept = 0;
  virtual void take_error(std::exception_ptr error) noexcept = 0;
  // It never began. `why`: stopped or timed_out.
  virtual void take_drop(Status why) noexcept = 0;

  // What hears of a stop of its Future; null: the job is out of the pool.
  void set_master(JobMaster* master) noexcept;

 protected:
  ProcessJob() noexcept = default;
  ~ProcessJob() = default;
  // By any thread: it is not to begin any more. False: it has ended, or so it was told before.
  bool stop() noexcept;

 private:
  sync::Mutex mutex_;  // of the pointer, and of the master's life meanwhile
  JobMaster* master_ = nullptr;
};

template <class R>
class OwedJob final : public OwedResult<R>, public ProcessJob {
 public:
  explicit OwedJob(const char* name) noexcept : name_(name) {}

  void take_result(const void* bytes) noexcept override {
    if constexpr (std::is_void_v<R>) {
      this->deliver([] {});
      (void)bytes;
    } else {
      this->deliver([bytes]() -> R {
        struct Copy {
          alignas(R) std::byte bytes[sizeof(R)];
        } copy;
        std::memcpy(copy.bytes, bytes, sizeof(R));
        return std::bit_cast<R>(copy);
      });
    }
  }
  void take_error(std::exception_ptr error) noexcept override { this->fail(std::move(error)); }
  void take_drop(Status why) noexcept override { this->drop(why); }

  const char* given_name() const noexcept override { return name_; }

 private:
  bool ask_to_stop(FutureState::Asking& asking) noexcept override {
    asking.asked |= stop();
    return true;
  }
  void destroy() noexcept override { RawBox<OwedJob>::destroy(this); }

  const char* const name_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
