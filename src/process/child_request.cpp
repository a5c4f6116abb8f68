// SPDX-License-Identifier: MIT
//
// Checks what is asked for, and makes the child's strings, streams and lists.
#include "child_request.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <handoff/core/misuse.hpp>
#include <span>
#include <stdexcept>
#include <string_view>

#include "../core/internal/call_failed.hpp"
#include "../core/internal/escaped_text.hpp"
#include "../sync/internal/file_limit.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// Where execvp(3) looks if there is no PATH.
constexpr const char* kUsualPath = "/bin:/usr/bin";

void require(bool right, const char* what) {
  if (!right) raise(std::invalid_argument(std::string("Subprocess: ") + what));
}

// The kernel takes all up to the first zero byte.
void require_no_zero(const std::string& text, const char* what) {
  require(text.find('\0') == std::string::npos, what);
}

std::string_view name_of(std::string_view variable) noexcept {
  return variable.substr(0, variable.find('='));
}

char* unchanged(const std::string& text) noexcept { return const_cast<char*>(text.c_str()); }

}  // namespace

ChildRequest::ChildRequest(const std::vector<std::string>& arguments,
                           const SubprocessOptions& options)
    : options_(options),
      program_(options.executable.empty() && !arguments.empty() ? arguments.front()
                                                                : options.executable) {
  require(!arguments.empty(), "no arguments; the first one is the program");
  for (const std::string& argument : arguments) {
    require_no_zero(argument, "a zero byte in an argument");
    argument_pointers_.push_back(unchanged(argument));
  }
  argument_pointers_.push_back(nullptr);
  require_no_zero(options.executable, "a zero byte in `executable`");
  require_no_zero(options.directory, "a zero byte in `directory`");
  make_environment();
  find_executables();
  add_limits();
  choose_cpus();
  add_descriptors();

  if (!options.directory.empty()) plan_.directory = options.directory.c_str();
  plan_.own_group = options.own_group;
  plan_.no_new_privileges = options.no_new_privileges;
  plan_.arguments = argument_pointers_.data();
  plan_.environment = environment_.data();
  plan_.executables = executables_.data();
}

// The child's; null: it has none.
const char* ChildRequest::childs_path() const noexcept {
  constexpr std::string_view name = "PATH=";
  const auto found = std::find_if(
      environment_.begin(), environment_.end() - 1, [&](const char* variable) noexcept {
        return std::string_view(variable).substr(0, name.size()) == name;
      });
  return *found == nullptr ? nullptr : *found + name.size();
}

// An empty part of PATH is the directory in which the child is.
void ChildRequest::find_executables() {
  if (program_.find('/') != std::string::npos) {
    executables_ = {program_.c_str(), nullptr};
    return;
  }
  const char* const given = childs_path();
  std::string_view rest = given != nullptr ? given : kUsualPath;
  for (bool more = !program_.empty(); more;) {
    const std::size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    paths_.push_back(folder.empty() ? program_ : std::string(folder) + "/" + program_);
    more = colon != std::string_view::npos;
    if (more) rest.remove_prefix(colon + 1);
  }
  for (const std::string& path : paths_) executables_.push_back(path.c_str());
  executables_.push_back(nullptr);
}

void ChildRequest::make_environment() {
  const SubprocessEnvironment& asked = options_.environment;
  for (const std::string& name : asked.unset) {
    require(!name.empty() && name.find('=') == std::string::npos,
            "`unset` takes names of variables, without '='");
    require_no_zero(name, "a zero byte in the environment");
  }
  for (const std::string& variable : asked.set) {
    require(!name_of(variable).empty() && variable.find('=') != std::string::npos,
            "`set` takes variables as \"NAME=value\"");
    require_no_zero(variable, "a zero byte in the environment");
  }
  const auto is_name_of = [](std::string_view name) {
    return [name](const std::string& other) { return name_of(other) == name; };
  };
  for (char** each = asked.inherit ? ::environ : nullptr; each != nullptr && *each != nullptr;
       ++each) {
    const auto same = is_name_of(name_of(*each));
    if (std::any_of(asked.unset.begin(), asked.unset.end(), same)) continue;
    if (std::any_of(asked.set.begin(), asked.set.end(), same)) continue;
    environment_.push_back(*each);
  }
  for (auto each = asked.set.begin(); each != asked.set.end(); ++each) {
    // The last one of a name counts.
    if (std::any_of(each + 1, asked.set.end(), is_name_of(name_of(*each)))) continue;
    environment_.push_back(unchanged(*each));
  }
  environment_.push_back(nullptr);
}

void ChildRequest::add_limits() {
  const SubprocessLimits& asked = options_.limits;
  const auto add = [this](int resource, const std::optional<std::uint64_t>& limit,
                          std::uint64_t grace) {
    if (!limit) return;
    const std::uint64_t hard = *limit > UINT64_MAX - grace ? UINT64_MAX : *limit + grace;
    limits_.push_back({.resource = resource, .soft = *limit, .hard = hard});
  };
  add(RLIMIT_AS, asked.address_space_bytes, 0);
  add(RLIMIT_CPU, asked.cpu_seconds, 1);
  add(RLIMIT_NOFILE, asked.open_files, 0);
  add(RLIMIT_CORE, asked.core_bytes, 0);
  plan_.limits = limits_.data();
  plan_.limit_count = limits_.size();
}

void ChildRequest::choose_cpus() {
  constexpr int bits = CHAR_BIT * sizeof(unsigned long);
  for (const int cpu : options_.cpus) {
    require(cpu >= 0 && cpu < static_cast<int>(kCpuSetBytes * CHAR_BIT), "no such CPU in `cpus`");
    cpus_[static_cast<std::size_t>(cpu / bits)] |= 1UL << (cpu % bits);
  }
  if (options_.cpus.empty() &&
      ::syscall(SYS_sched_getaffinity, 0, sizeof cpus_, cpus_.data()) <= 0) {
    return;
  }
  plan_.cpus = cpus_.data();
}

void ChildRequest::add_descriptors() {
  for (const SubprocessDescriptor& each : options_.descriptors) {
    require(each.from >= 0, "a descriptor below 0 in `descriptors`");
    require(each.to > STDERR_FILENO && each.to < INT_MAX,
            "`descriptors` cannot be 0, 1, 2: see input, output, error");
    descriptors_.push_back({.from = each.from, .to = each.to});
  }
  open_streams();
  std::sort(descriptors_.begin(), descriptors_.end(),
            [](const ChildDescriptor& a, const ChildDescriptor& b) { return a.to < b.to; });
  const auto twice = std::adjacent_find(
      descriptors_.begin(), descriptors_.end(),
      [](const ChildDescriptor& a, const ChildDescriptor& b) { return a.to == b.to; });
  require(twice == descriptors_.end(), "a number of the child's comes twice in `descriptors`");
  plan_.descriptors = descriptors_.data();
  plan_.descriptor_count = descriptors_.size();
}

void ChildRequest::fail_stream(int error) const {
  raise(call_failed(error, "Subprocess " + escaped(program_) + ": make its streams"));
}

int ChildRequest::null_device() {
  if (!null_.is_open()) null_ = Descriptor(descriptors::of_file("/dev/null", O_RDWR));
  if (!null_.is_open()) fail_stream(errno);
  return null_.get();
}

// A program must not find its first file under the number of a stream.
int ChildRequest::inherited_or_null(int number) {
  return streams_open_[static_cast<std::size_t>(number)] ? number : null_device();
}

// Only this process' end does not block: a program expects that its own does.
void ChildRequest::make_pipe(std::size_t stream) {
  std::array<int, 2> ends{};
  if (descriptors::of_pipe(ends) != 0) fail_stream(errno);
  const bool child_reads = stream == STDIN_FILENO;
  childs_ends_[stream] = Descriptor(ends[child_reads ? 0 : 1]);
  own_ends_[stream] = Descriptor(ends[child_reads ? 1 : 0]);
  if (::fcntl(own_ends_[stream].get(), F_SETFL, O_NONBLOCK) != 0) fail_stream(errno);
}

// Sealed, so that what a child does to it is seen by nobody.
void ChildRequest::make_input_file(const std::string& bytes) {
  const int file = descriptors::of_memory("input");
  if (file < 0) fail_stream(errno);
  childs_ends_[STDIN_FILENO] = Descriptor(file);
  std::uint64_t written = 0;
  const auto all = std::as_bytes(std::span(bytes.data(), bytes.size()));
  if (const int error = write_fully(file, all, written); error != 0) fail_stream(error);
  constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (::fcntl(file, F_ADD_SEALS, seals) != 0 || ::lseek(file, 0, SEEK_SET) != 0) {
    fail_stream(errno);
  }
}

int ChildRequest::input_source() {
  switch (StreamAccess::kind(options_.input)) {
    case StreamKind::inherited: return inherited_or_null(STDIN_FILENO);
    case StreamKind::descriptor: return StreamAccess::descriptor(options_.input);
    case StreamKind::bytes:
      make_input_file(StreamAccess::bytes(options_.input));
      return childs_ends_[STDIN_FILENO].get();
    case StreamKind::pipe: make_pipe(STDIN_FILENO); return childs_ends_[STDIN_FILENO].get();
    case StreamKind::null:
    case StreamKind::captured:
    case StreamKind::output: break;
  }
  return null_device();
}

int ChildRequest::output_source(std::size_t stream, const SubprocessOutput& output, int other) {
  switch (StreamAccess::kind(output)) {
    case StreamKind::inherited: return inherited_or_null(static_cast<int>(stream));
    case StreamKind::descriptor: return StreamAccess::descriptor(output);
    case StreamKind::captured: make_pipe(stream); return childs_ends_[stream].get();
    case StreamKind::output:
      require(other >= 0, "the output cannot go where the output goes");
      return other;
    case StreamKind::null:
    case StreamKind::bytes:
    case StreamKind::pipe: break;
  }
  return null_device();
}

void ChildRequest::open_streams() {
  // Before pipes take the numbers of those that are closed.
  for (std::size_t i = 0; i < streams_open_.size(); ++i) {
    streams_open_[i] = ::fcntl(static_cast<int>(i), F_GETFD) >= 0;
  }
  const int input = input_source();
  const int output = output_source(STDOUT_FILENO, options_.output, -1);
  const int error = output_source(STDERR_FILENO, options_.error, output);
  for (const int source : {input, output, error}) {
    require(source >= 0, "a descriptor below 0 as a stream");
  }
  descriptors_.push_back({.from = input, .to = STDIN_FILENO});
  descriptors_.push_back({.from = output, .to = STDOUT_FILENO});
  descriptors_.push_back({.from = error, .to = STDERR_FILENO});
}

}}}  // namespace handoff::HANDOFF_ABI::detail
