// SPDX-License-Identifier: MIT
//
// Two files of /proc say where a group is. /proc/self/cgroup names this process's group in each
// hierarchy ("4:cpu,cpuacct:/a/b" in v1, "0::/a/b" in v2); /proc/self/mountinfo says which part of
// a hierarchy is mounted where. Both paths are relative to the root of the cgroup namespace, and
// begin with "/.." for what lies above it.
// See cgroups(7), cgroup_namespaces(7), proc(5).
#include "control_groups.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <utility>

#include "descriptor.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

namespace {

// All of the file, or as much of it as can be read.
[[gnu::cold]] std::string read_all(const std::string& path) {
  std::string text;
  const handoff::detail::Descriptor file(
      handoff::detail::descriptors::of_file(path.c_str(), O_RDONLY));
  if (!file.is_open()) return text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

[[gnu::cold]] std::vector<std::string> read_lines(const std::string& path) {
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

[[gnu::cold]] std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    if (!part.empty() || separator != ' ') parts.push_back(part);
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

[[gnu::cold]] std::string first_line(const std::string& path) {
  const std::vector<std::string> lines = read_lines(path);
  return lines.empty() ? std::string() : lines.front();
}

namespace {

struct Membership {  // a line of /proc/self/cgroup
  Hierarchy hierarchy;
  std::string path;
};

struct Mount {  // a line of /proc/self/mountinfo
  Hierarchy hierarchy;
  std::string root;   // the group that is visible at `point`
  std::string point;
};

bool lists(std::string_view comma_separated, std::string_view wanted) {
  return std::ranges::count(split(comma_separated, ','), wanted) != 0;
}

// mountinfo writes blanks and the like as \040: a backslash and three octal digits.
[[gnu::cold]] std::string unescape(std::string_view text) {
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

std::optional<Membership> parse_membership(std::string_view line, std::string_view controller) {
  const std::size_t first = line.find(':');
  if (first == line.npos) return std::nullopt;
  const std::size_t second = line.find(':', first + 1);
  if (second == line.npos) return std::nullopt;
  const std::string_view controllers = line.substr(first + 1, second - first - 1);
  const std::string path(line.substr(second + 1));
  if (line.substr(0, first) == "0" && controllers.empty()) {
    return Membership{Hierarchy::v2, path};
  }
  if (lists(controllers, controller)) return Membership{Hierarchy::v1, path};
  return std::nullopt;
}

// "36 25 0:31 ROOT POINT OPTIONS [TAG...] - TYPE SOURCE SUPER_OPTIONS"
std::optional<Mount> parse_mount(std::string_view line, std::string_view controller) {
  const std::vector<std::string_view> fields = split(line, ' ');
  const auto dash = std::ranges::find(fields, "-");
  if (dash - fields.begin() < 6 || fields.end() - dash < 4) return std::nullopt;
  const std::string_view type = dash[1];
  if (type == "cgroup2") return Mount{Hierarchy::v2, unescape(fields[3]), unescape(fields[4])};
  if (type == "cgroup" && lists(dash[3], controller)) {
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

void add_groups(std::vector<ControlGroup>& groups, const Mount& mount, const Membership& member,
                const std::string& root) {
  const auto names = way_down(mount.root, member.path);
  if (!names) return;
  std::string folder = root + mount.point;
  groups.push_back({mount.hierarchy, folder});
  for (const std::string_view name : *names) {
    folder.append("/").append(name);
    groups.push_back({mount.hierarchy, folder});
  }
}

}  // namespace

[[gnu::cold]] std::vector<ControlGroup> control_groups(const std::string& root,
                                                       std::string_view controller) {
  std::vector<Membership> members;
  for (const std::string& line : read_lines(root + "/proc/self/cgroup")) {
    if (auto member = parse_membership(line, controller)) members.push_back(*member);
  }
  std::vector<ControlGroup> groups;
  for (const std::string& line : read_lines(root + "/proc/self/mountinfo")) {
    const auto mount = parse_mount(line, controller);
    if (!mount) continue;
    for (const Membership& member : members) {
      if (member.hierarchy == mount->hierarchy) add_groups(groups, *mount, member, root);
    }
  }
  return groups;
}

}}}  // namespace handoff::HANDOFF_ABI::sync
