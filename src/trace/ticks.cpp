// SPDX-License-Identifier: MIT
//
// Which clock, and its rate.
#include "ticks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string_view>

#include "../sync/internal/descriptor.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

namespace {

// What the kernel tells the time by. Asked on x86-64 alone.
[[maybe_unused]] bool kernel_uses_cycles() noexcept {
  const detail::Descriptor file(detail::descriptors::of_file(
      "/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY));
  if (!file.is_open()) return false;
  std::array<char, 16> text{};
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  return got > 0 && std::string_view(text.data(), static_cast<std::size_t>(got)) == "tsc\n";
}

}  // namespace

#if defined(__x86_64__)

bool cycles_are_even() noexcept {
  constexpr unsigned leaf = 0x80000007;
  constexpr unsigned invariant = 1U << 8;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && (d & invariant) != 0 && kernel_uses_cycles();
}

#else

bool cycles_are_even() noexcept { return false; }

#endif

TickRate::TickRate(bool by_cycles) noexcept
    : by_cycles_(by_cycles), moment_(sync::clock::now()), start_(now()) {}

void TickRate::measure() noexcept {
  if (!by_cycles_ || per_tick_ != 0) return;
  // A look at both clocks is some 50 ns wrong: of this time, 50 millionths.
  constexpr std::chrono::milliseconds least{1};
  sync::clock::time_point moment = sync::clock::now();
  while (moment - moment_ < least) moment = sync::clock::now();
  per_tick_ = static_cast<double>((moment - moment_).count()) / static_cast<double>(now() - start_);
}

}}}  // namespace handoff::HANDOFF_ABI::trace
