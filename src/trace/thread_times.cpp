// SPDX-License-Identifier: MIT
//
// The CPU time is asked of the thread's clock: /proc/self/task/N/schedstat tells it too, but late,
// as of the last tick.
#include "thread_times.hpp"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "../sync/internal/descriptor.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

namespace {

// The kernel's number for the clock of a thread (clock_getcpuclockid(3) knows those of processes
// only): the inverted number of the thread, and what kind of clock it is.
clockid_t cpu_clock_of(std::int32_t thread) noexcept {
  constexpr std::uint32_t of_a_thread = 4;
  constexpr std::uint32_t as_scheduled = 2;
  const std::uint32_t inverted = ~static_cast<std::uint32_t>(thread);
  return static_cast<clockid_t>(inverted << 3U | of_a_thread | as_scheduled);
}

std::optional<std::uint64_t> cpu_of(std::int32_t thread) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  timespec time{};
  if (::clock_gettime(cpu_clock_of(thread), &time) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(time.tv_sec) * second +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// The second number of its schedstat.
std::optional<std::uint64_t> ready_of(std::int32_t thread) noexcept {
  constexpr std::string_view folder = "/proc/self/task/";
  constexpr std::string_view name = "/schedstat";
  std::array<char, 64> text{};
  char* at = text.data() + folder.copy(text.data(), folder.size());
  at = std::to_chars(at, text.data() + text.size(), thread).ptr;
  name.copy(at, name.size());
  const detail::Descriptor file(detail::descriptors::of_file(text.data(), O_RDONLY));
  if (!file.is_open()) return std::nullopt;
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  const std::string_view line(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  std::uint64_t ready = 0;
  const auto read = std::from_chars(line.data() + blank + 1, line.data() + line.size(), ready);
  if (read.ec != std::errc{}) return std::nullopt;
  return ready;
}

}  // namespace

[[gnu::cold]] std::optional<ThreadTimes> times_of(std::int32_t thread) noexcept {
  const int before = errno;
  const std::optional<std::uint64_t> cpu = cpu_of(thread);
  const std::optional<std::uint64_t> ready = ready_of(thread);
  errno = before;
  if (!cpu || !ready) return std::nullopt;
  return ThreadTimes{*cpu, *ready};
}

}}}  // namespace handoff::HANDOFF_ABI::trace
