// SPDX-License-Identifier: MIT
#include "memory_left.hpp"

#include <algorithm>
#include <handoff/core/internal/attempt.hpp>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "../sync/internal/control_groups.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

using sync::ControlGroup;

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kCreditMost = std::uint64_t{16} << 20U;

std::uint64_t plus(std::uint64_t a, std::uint64_t b) noexcept {
  return a > kUnknown - b ? kUnknown : a + b;
}
std::uint64_t minus(std::uint64_t a, std::uint64_t b) noexcept { return a > b ? a - b : 0; }

// A file with a number in it. "max" is none.
std::optional<std::uint64_t> number_in(const ControlGroup& group, const char* name) {
  return sync::parse_number(sync::first_line(group.folder + name));
}

// "NAME 123", "NAME: 123 kB": the number of such a line.
std::optional<std::uint64_t> number_of(const std::vector<std::string>& lines,
                                       std::string_view name) {
  for (const std::string& line : lines) {
    const auto fields = sync::split(line, ' ');
    if (fields.size() > 1 && fields[0] == name) return sync::parse_number(fields[1]);
  }
  return std::nullopt;
}

// What a limit leaves, with what the kernel can take back before it kills. A 32nd is for the pages
// of the kernel, and for what the process has to go on with.
std::uint64_t left_of(std::uint64_t limit, std::uint64_t used, std::uint64_t reclaimable) noexcept {
  return minus(plus(minus(limit, used), reclaimable), limit / 32);
}

struct GroupFiles {
  const char* limit;
  const char* used;
  const char* total_limit;  // of swap in v2, of both in v1
  const char* total_used;
  const char* cache[2];  // in memory.stat
};
constexpr GroupFiles kOfV1{"/memory.limit_in_bytes",
                           "/memory.usage_in_bytes",
                           "/memory.memsw.limit_in_bytes",
                           "/memory.memsw.usage_in_bytes",
                           {"total_inactive_file", "total_active_file"}};
constexpr GroupFiles kOfV2{"/memory.max",
                           "/memory.current",
                           "/memory.swap.max",
                           "/memory.swap.current",
                           {"inactive_file", "active_file"}};

std::uint64_t left_in(const ControlGroup& group, std::uint64_t swap_free) {
  const bool is_v1 = group.hierarchy == sync::Hierarchy::v1;
  const GroupFiles& files = is_v1 ? kOfV1 : kOfV2;
  const auto limit = number_in(group, files.limit);
  const auto used = number_in(group, files.used);
  const auto total_limit = number_in(group, files.total_limit);
  const auto total_used = number_in(group, files.total_used);
  if (!limit || !used) return kUnknown;
  std::uint64_t cache = 0;
  const auto statistics = sync::read_lines(group.folder + "/memory.stat");
  for (const char* const name : files.cache) cache += number_of(statistics, name).value_or(0);
  const std::uint64_t here = left_of(*limit, *used, cache);
  if (!total_limit || !total_used) return plus(here, swap_free);
  if (!is_v1) return plus(here, std::min(swap_free, minus(*total_limit, *total_used)));
  return std::min(plus(here, swap_free), left_of(*total_limit, *total_used, cache));
}

std::uint64_t read_left(const std::string& root) {
  const auto of_machine = sync::read_lines(root + "/proc/meminfo");
  const auto available = number_of(of_machine, "MemAvailable:");
  const std::uint64_t swap_free = 1024 * number_of(of_machine, "SwapFree:").value_or(0);
  std::uint64_t left = available ? plus(*available * 1024, swap_free) : kUnknown;
  for (const ControlGroup& group : sync::control_groups(root, "memory")) {
    left = std::min(left, left_in(group, swap_free));
  }
  return left;
}

}  // namespace

std::uint64_t memory_left(const char* root) noexcept {
  std::uint64_t left = kUnknown;
  (void)attempt([&] { left = read_left(root); });
  return left;
}

bool is_memory_there(std::uint64_t bytes) noexcept {
  static constinit MemoryCredit credit;
  if (credit.take(bytes)) return true;
  const std::uint64_t left = memory_left();
  if (bytes > left) return false;
  credit.grant(std::min(kCreditMost, (left - bytes) / 4));
  return true;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
