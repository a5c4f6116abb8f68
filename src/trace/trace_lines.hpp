// SPDX-License-Identifier: MIT
//
// The lines of a trace file: Chrome's trace events, one a line (docs/design/tracing.md).
//
// Concurrency: one thread's. Allocates: as its text grows. Exceptions: std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <handoff/config.hpp>
#include <handoff/trace/trace.hpp>

#include "hand_overs.hpp"
#include "thread_times.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

// As JSON wants it inside quotes; what is no UTF-8 is left out.
std::string in_json(std::string_view text);

class TraceLines {
 public:
  explicit TraceLines(std::int32_t process);

  void begin(std::string_view program);
  // How many CPUs the program may use.
  void cpus(unsigned count);
  // What the kernel has counted of a thread since it was asked before.
  void times(std::int32_t thread, const ThreadTimes& times);
  // Names are in JSON's form already. Times are nanoseconds since the start.
  void thread(std::int32_t thread, std::string_view name);
  void slice(std::string_view category, std::string_view name, std::int32_t thread,
             std::int64_t from, std::int64_t until);
  void moment(std::string_view category, std::int32_t thread, std::int64_t when);
  void depth(std::string_view queue, std::int32_t thread, std::int64_t when, std::size_t depth);
  // Where the giving side was in no slice a very short one is around it: an arrow needs a slice at
  // both ends.
  void hand_over(const HandOver& hand);
  void end(const Tally& tally);

  // What was written since the last clear(), whole lines.
  std::string_view text() const noexcept { return {text_.data(), used_}; }
  void clear() noexcept { used_ = 0; }
  // Lines with something that happened, ever.
  std::uint64_t count() const noexcept { return count_; }

 private:
  struct Time {
    std::int64_t ns;
  };
  struct Moment {
    std::int32_t thread;
    std::int64_t when;
  };
  static std::uint64_t number_of(std::int32_t thread) noexcept {
    return static_cast<std::uint64_t>(thread);
  }

  // All parts of a line, whose names have so many bytes.
  template <class... Parts>
  void line(std::size_t names, const Parts&... parts) {
    begin_line(names);
    (put(parts), ...);
  }
  void begin_line(std::size_t names);
  void put(std::string_view text) noexcept {
    __builtin_memcpy(text_.data() + used_, text.data(), text.size());
    used_ += text.size();
  }
  void put(std::uint64_t number) noexcept;
  void put(Time time) noexcept;
  void put(Moment moment) noexcept;

  const std::string process_;  // ,"pid":1,"tid":
  std::string text_;  // room; the text is its beginning
  std::size_t used_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t hand_overs_ = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::trace
