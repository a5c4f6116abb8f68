// SPDX-License-Identifier: MIT
//
// What a Subprocess gets: its streams, descriptors, environment, limits and rights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
enum class StreamKind : std::uint8_t { null, inherited, descriptor, bytes, pipe, captured, output };
struct StreamAccess;
}  // namespace detail

// Where a child's standard input comes from. By default from /dev/null.
class SubprocessInput {
 public:
  // /dev/null: every read is at the end.
  SubprocessInput() noexcept = default;
  // These bytes, then the end. They lie in a file in memory, so that nobody has to hand them over.
  SubprocessInput(std::string bytes) noexcept  // NOLINT(google-explicit-constructor)
      : kind_(detail::StreamKind::bytes), bytes_(std::move(bytes)) {}
  SubprocessInput(std::string_view bytes)  // NOLINT(google-explicit-constructor)
      : SubprocessInput(std::string(bytes)) {}
  SubprocessInput(const char* bytes)  // NOLINT(google-explicit-constructor)
      : SubprocessInput(std::string(bytes)) {}
  SubprocessInput(std::span<const std::byte> bytes)  // NOLINT(google-explicit-constructor)
      : SubprocessInput(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())) {}

  // The caller's own. A child in a group of its own that reads from a terminal is stopped by it:
  // see SubprocessOptions::own_group.
  static SubprocessInput inherited() noexcept { return {detail::StreamKind::inherited, 0}; }
  // A descriptor of the caller's, who keeps it.
  static SubprocessInput descriptor(int number) noexcept {
    return {detail::StreamKind::descriptor, number};
  }
  // A pipe: Subprocess::write() and close_input().
  static SubprocessInput pipe() noexcept { return {detail::StreamKind::pipe, -1}; }

 private:
  friend struct detail::StreamAccess;
  SubprocessInput(detail::StreamKind kind, int descriptor) noexcept
      : kind_(kind), descriptor_(descriptor) {}

  detail::StreamKind kind_ = detail::StreamKind::null;
  int descriptor_ = -1;
  std::string bytes_;
};

// Where a child's standard output or error goes. By default where the caller's own goes.
class SubprocessOutput {
 public:
  // How much is kept, unless another limit is given.
  static constexpr std::size_t usual_limit = std::size_t{64} << 20;

  // The caller's own.
  SubprocessOutput() noexcept = default;

  // /dev/null.
  static SubprocessOutput null() noexcept { return {detail::StreamKind::null, -1, 0}; }
  // A descriptor of the caller's, who keeps it.
  static SubprocessOutput descriptor(int number) noexcept {
    return {detail::StreamKind::descriptor, number, 0};
  }
  // Kept for Subprocess::output() and error(). No more than `limit` bytes: what comes beyond is
  // read and dropped, and counted, so that the child does not wait for ever. What is taken by
  // read_output() makes room again.
  static SubprocessOutput captured(std::size_t limit = usual_limit) noexcept {
    return {detail::StreamKind::captured, -1, limit};
  }
  // For standard error only: it goes where the output goes, in the order of the writes (2>&1).
  static SubprocessOutput same_as_output() noexcept { return {detail::StreamKind::output, -1, 0}; }

 private:
  friend struct detail::StreamAccess;
  SubprocessOutput(detail::StreamKind kind, int descriptor, std::size_t limit) noexcept
      : kind_(kind), descriptor_(descriptor), limit_(limit) {}

  detail::StreamKind kind_ = detail::StreamKind::inherited;
  int descriptor_ = -1;
  std::size_t limit_ = 0;
};

// The variables of the child's environment.
struct SubprocessEnvironment {
  bool inherit = true;  // begins with the caller's; false: with none
  std::vector<std::string> unset = {};  // names of variables that are taken out of these
  std::vector<std::string> set = {};  // "NAME=value": added, or instead of one of that name
};

// A descriptor of the caller's that the child gets under a number of its own.
struct SubprocessDescriptor {
  int from = -1;  // the caller's, who keeps it
  int to = -1;  // the child's: 3 or more
};

// Limits of the child and what it starts, each (soft and hard) as setrlimit(2) has them. What is
// not set is as in the caller.
struct SubprocessLimits {
  std::optional<std::uint64_t> address_space_bytes = {};
  std::optional<std::uint64_t> cpu_seconds = {};  // then SIGXCPU; a second later SIGKILL
  std::optional<std::uint64_t> open_files = {};  // numbers of descriptors below this one
  std::optional<std::uint64_t> core_bytes = {};  // 0: no core file
};

struct SubprocessOptions {
  // The file to run, if it is not the one that the first argument names.
  std::string executable = {};
  // Where the child runs; empty: where the caller does. An executable that is named by a relative
  // path with a slash in it is looked for from there.
  std::string directory = {};
  SubprocessEnvironment environment = {};
  SubprocessInput input = {};
  SubprocessOutput output = {};
  SubprocessOutput error = {};
  std::vector<SubprocessDescriptor> descriptors = {};  // besides 0, 1, 2; there are no others
  SubprocessLimits limits = {};
  std::vector<int> cpus = {};  // where it may run; none: where the caller may
  // The child leads a process group, which ends with it: what of the group is left when the child
  // has ended is killed. Not for programs that a terminal talks to: it stops groups that are not
  // in its foreground, and does not interrupt them.
  bool own_group = true;
  bool no_new_privileges = false;  // set-user-ID files give it no rights (PR_SET_NO_NEW_PRIVS)
};

}}  // namespace handoff::HANDOFF_ABI
