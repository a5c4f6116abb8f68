// SPDX-License-Identifier: MIT
//
// Reads the affinity mask and the CPU quota, and decides by them whether spinning makes sense.
//
// Two files of /proc say where the quota stands. /proc/self/cgroup names this process's group in
// each hierarchy ("4:cpu,cpuacct:/a/b" in v1, "0::/a/b" in v2); /proc/self/mountinfo says which
// part of a hierarchy is mounted where. Both paths are relative to the root of the cgroup
// namespace, and begin with "/.." for what lies above it.
// See cgroups(7), cgroup_namespaces(7), proc(5).
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <handoff/sync/backoff.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/detail/kept_quota.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// The two kinds of hierarchy that can limit CPU time.
enum class Hierarchy { v1, v2 };

struct Membership {  // a line of /proc/self/cgroup
  Hierarchy hierarchy;
  std::string path;
};

struct Mount {  // a line of /proc/self/mountinfo
  Hierarchy hierarchy;
  std::string root;   // the group that is visible at `point`
  std::string point;
};

// All of the file, or as much of it as can be read.
std::string read_all(const std::string& path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(file);
  return text;
}

std::vector<std::string> read_lines(const std::string& path) {
  const std::string text = read_all(path);
  std::vector<std::string> lines;
  // equivalent(bound): an empty line more, which no parser takes
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
    at = end + 1;
  }
  return lines;
}

// The parts between separators. With a blank as separator, empty parts do not count.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    if (!part.empty() || separator != ' ') parts.push_back(part);
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool lists(std::string_view comma_separated, std::string_view wanted) {
  return std::ranges::count(split(comma_separated, ','), wanted) != 0;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

// mountinfo writes blanks and the like as \040: a backslash and three octal digits.
std::string unescape(std::string_view text) {
  std::string plain;
  const auto octal = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '7'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    // equivalent(bound): behind a field stands a blank or the end of the line, which is no digit
    if (text[i] == '\\' && i + 3 < text.size() && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      const int code = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::optional<Membership> parse_membership(std::string_view line) {
  const std::size_t first = line.find(':');
  if (first == line.npos) return std::nullopt;
  const std::size_t second = line.find(':', first + 1);
  if (second == line.npos) return std::nullopt;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  const std::string path(line.substr(second + 1));
  if (line.substr(0, first) == "0" && controllers.empty()) {
    return Membership{Hierarchy::v2, path};
  }
  if (lists(controllers, "cpu")) return Membership{Hierarchy::v1, path};
  return std::nullopt;
}

// "36 25 0:31 ROOT POINT OPTIONS [TAG...] - TYPE SOURCE SUPER_OPTIONS"
std::optional<Mount> parse_mount(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ' ');
  const auto dash = std::ranges::find(fields, "-");
  if (dash - fields.begin() < 6 || fields.end() - dash < 4) return std::nullopt;
  const std::string_view type = dash[1];
  if (type == "cgroup2") return Mount{Hierarchy::v2, unescape(fields[3]), unescape(fields[4])};
  if (type == "cgroup" && lists(dash[3], "cpu")) {
    return Mount{Hierarchy::v1, unescape(fields[3]), unescape(fields[4])};
  }
  return std::nullopt;
}

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> names = split(path, '/');
  std::erase(names, "");
  return names;
}

// The names that lead from the mounted group down to `path`; nothing if the mount does not show
// a group above the process at all. A mount of a group above the namespace ("/..") may show such
// groups without our knowing by which name they go on: then the way ends early.
std::optional<std::vector<std::string_view>> way_down(std::string_view root,
                                                      std::string_view path) {
  std::vector<std::string_view> above = components(root);
  std::vector<std::string_view> names = components(path);
  const auto [in_root, in_names] = std::ranges::mismatch(above, names);
  if (in_root != above.end()) {
    const bool only_up = std::all_of(in_root, above.end(), [](auto name) { return name == ".."; });
    return only_up ? std::optional(std::vector<std::string_view>{}) : std::nullopt;
  }
  if (in_names != names.end() && *in_names == "..") return std::nullopt;
  names.erase(names.begin(), in_names);
  return names;
}

double ratio(std::optional<std::uint64_t> quota, std::optional<std::uint64_t> period) {
  if (!quota || !period || *quota == 0 || *period == 0) return kUnlimited;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::string first_line(const std::string& path) {
  const std::vector<std::string> lines = read_lines(path);
  return lines.empty() ? std::string() : lines.front();
}

// What the files of one group say. "max" and -1 stand for no limit and are no numbers here.
double quota_of_group(Hierarchy hierarchy, const std::string& folder) {
  if (hierarchy == Hierarchy::v1) {
    return ratio(parse_number(first_line(folder + "/cpu.cfs_quota_us")),
                 parse_number(first_line(folder + "/cpu.cfs_period_us")));
  }
  const std::string line = first_line(folder + "/cpu.max");
  const std::vector<std::string_view> fields = split(line, ' ');
  if (fields.size() != 2) return kUnlimited;
  return ratio(parse_number(fields[0]), parse_number(fields[1]));
}

double quota_below_mount(const Mount& mount, const Membership& member, const std::string& prefix) {
  const auto names = way_down(mount.root, member.path);
  if (!names) return kUnlimited;
  std::string folder = prefix + mount.point;
  double quota = quota_of_group(mount.hierarchy, folder);
  for (const std::string_view name : *names) {
    folder.append("/").append(name);
    quota = std::min(quota, quota_of_group(mount.hierarchy, folder));
  }
  return quota;
}

double read_quota(const std::string& prefix) {
  std::vector<Membership> members;
  for (const std::string& line : read_lines(prefix + "/proc/self/cgroup")) {
    if (auto member = parse_membership(line)) members.push_back(*member);
  }
  double quota = kUnlimited;
  for (const std::string& line : read_lines(prefix + "/proc/self/mountinfo")) {
    const auto mount = parse_mount(line);
    if (!mount) continue;
    for (const Membership& member : members) {
      if (member.hierarchy != mount->hierarchy) continue;
      quota = std::min(quota, quota_below_mount(*mount, member, prefix));
    }
  }
  return quota;
}

// The size of a thread's affinity mask. The kernel refuses a set smaller than its own with EINVAL,
// and does not say how large its own is.
unsigned read_affinity(pid_t thread) noexcept {
  constexpr std::size_t kMostCpus = std::size_t{1} << 20;
  // equivalent(bound): a set that is a little larger holds the same CPUs
  for (std::size_t cpus = CPU_SETSIZE; cpus <= kMostCpus; cpus *= 2) {
    cpu_set_t* const set = CPU_ALLOC(cpus);
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    const int failed = ::sched_getaffinity(thread, bytes, set);
    const int error = errno;
    const int count = failed ? 0 : CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    if (count > 0) return static_cast<unsigned>(count);
    if (error != EINVAL) break;
  }
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);  // for sandboxes that forbid the call
  // equivalent(bound): the system says at least 1, or -1 if it does not know
  return online > 0 ? static_cast<unsigned>(online) : 1;
}

}  // namespace

unsigned CpuBudget::width() const noexcept {
  const double cut = std::ceil(std::min(static_cast<double>(affinity), quota));
  return std::max(1U, static_cast<unsigned>(cut));
}

CpuBudget cpu_budget(const CpuBudgetSource& source) noexcept {
  CpuBudget budget{source.affinity != 0 ? source.affinity : read_affinity(0), kUnlimited};
#if defined(__cpp_exceptions)
  try {
    budget.quota = read_quota(source.root);
  } catch (...) {  // out of memory: the affinity alone is an answer
  }
#else
  budget.quota = read_quota(source.root);
#endif
  return budget;
}

CpuBudget recent_cpu_budget() noexcept {
  static constinit KeptQuota kept;
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(clock::now().time_since_epoch());
  const auto second = static_cast<std::uint32_t>(now.count() + 1);
  if (const auto quota = kept.of(second)) return {read_affinity(0), *quota};
  const CpuBudget budget = cpu_budget();
  kept.keep(budget.quota, second);
  return budget;
}

Spin spin_policy() noexcept {
  // The main thread's mask, not the caller's: whoever asks first may be a worker pinned to one
  // CPU, and that says nothing about the others. A quota of 1.5 makes a width of 2, but two
  // spinning threads would burn it in three quarters of each period and then stand still.
  static const Spin policy = [] {
    const bool two_at_once = read_affinity(::getpid()) >= 2 && cpu_budget().quota >= 2.0;
    return two_at_once ? Spin::allowed : Spin::never;
  }();
  return policy;
}

}}}  // namespace handoff::HANDOFF_ABI::sync
