// SPDX-License-Identifier: MIT
//
// What is to be copied where, what is refused, and the run.
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <handoff/file/copy_tree.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/detail/thread.hpp>
#include <memory>
#include <optional>
#include <system_error>

#include "copy_tree_count.hpp"
#include "copy_tree_job.hpp"
#include "path.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

using detail::CopyCalls;
using detail::CopyEntry;
using detail::CopyFolder;
using detail::CopyJob;
using detail::escaped;
using detail::FileId;
using detail::id_of;

std::string in_quotes(std::string_view name) {
  std::string text("'");  // not by operator+: g++ 12 warns of a copy that cannot be
  return text.append(escaped(name)).append("'");
}
std::string reason(long error) {
  return std::generic_category().message(static_cast<int>(error < 0 ? -error : error));
}

// Where one source is, and where it goes.
struct Way {
  std::string from_folder;  // the directory that its name is in
  std::string from_name;
  std::string to_folder;
  std::string to_name;
};

std::string_view without_slashes(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

// The directory, "." if the path names none, and the name.
std::pair<std::string, std::string> parts(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {".", std::string(path)};
  const std::string_view folder = slash == 0 ? "/" : without_slashes(path.substr(0, slash));
  return {std::string(folder), std::string(path.substr(slash + 1))};
}

Way way_of(const std::string& source, const std::string& to, bool into) {
  const std::string_view bare = without_slashes(source);
  auto [folder, name] = parts(bare);
  const bool contents = name.empty() || name == "." || name == "..";
  Way way;
  if (contents) {
    way.from_folder = source;
    way.from_name.assign(1, '.');  // of a text, g++ 12 warns of a copy that cannot be
  } else {
    way.from_folder = std::move(folder);
    // A slash behind the name of a link means what it leads to.
    way.from_name = bare.size() < source.size() ? name + '/' : name;
  }
  if (into) {
    way.to_folder = to;
    way.to_name = contents ? "." : name;
  } else {
    std::tie(way.to_folder, way.to_name) = parts(without_slashes(to));
  }
  return way;
}

// Whether the directory `inside` lies in `folder`, or is it. Takes over `inside`.
bool lies_in(const CopyCalls& calls, long inside, FileId folder) {
  FileId last;
  while (inside >= 0) {
    struct statx here{};
    const bool known = calls.stat(static_cast<int>(inside), "", here) == 0;
    const bool found = known && id_of(here) == folder;
    const bool top = !known || id_of(here) == last;
    const long above =
        found || top ? -1 : calls.open(static_cast<int>(inside), "..", O_PATH | O_DIRECTORY);
    calls.close(static_cast<int>(inside));
    if (found) return true;
    if (top) return false;
    last = id_of(here);
    inside = above;
  }
  return false;
}

// One source, opened.
class Start {
 public:
  Start(const CopyCalls& calls, Way way) : calls_(calls), way_(std::move(way)) {}
  Start(Start&& other) noexcept
      : calls_(other.calls_), way_(std::move(other.way_)), root_(std::move(other.root_)) {}
  Start& operator=(Start&&) = delete;
  ~Start() {
    if (root_ == nullptr) return;
    if (root_->from >= 0) calls_.close(root_->from);
    if (root_->to >= 0) calls_.close(root_->to);
  }

  // 0, or -errno of the source.
  long open_source() {
    root_ = std::make_unique<CopyFolder>();
    root_->from_path = way_.from_folder == "." && way_.from_name != "." ? "" : way_.from_folder;
    const long from = calls_.open(AT_FDCWD, way_.from_folder.c_str(), O_RDONLY | O_DIRECTORY);
    if (from < 0) return from;
    root_->from = static_cast<int>(from);
    long result = calls_.stat(root_->from, "", folder_);
    if (result == 0) result = calls_.stat(root_->from, way_.from_name.c_str(), source_);
    return result;
  }

  // "", or why nothing may be copied.
  std::string open_target() {
    const long to = calls_.open(AT_FDCWD, way_.to_folder.c_str(), O_RDONLY | O_DIRECTORY);
    if (to < 0) return in_quotes(way_.to_folder) + " cannot be opened: " + reason(to);
    root_->to = static_cast<int>(to);
    root_->to_path = way_.to_folder == "." ? "" : way_.to_folder;
    struct statx there{};
    const long result = calls_.stat(root_->to, "", there);
    if (result < 0) return in_quotes(way_.to_folder) + ": " + reason(result);
    root_->from_id = id_of(folder_);
    root_->to_id = id_of(there);
    char none = 0;
    root_->inherits = calls_.get_attribute(root_->to, "system.posix_acl_default", &none, 0) > 0;
    return {};
  }

  // "", or why: one is inside the other.
  std::string refusal(const std::string& source, const std::string& to) const {
    struct statx target{};
    const bool exists = calls_.stat(root_->to, way_.to_name.c_str(), target) == 0;
    if (exists && id_of(target) == id_of(source_)) {
      return in_quotes(source) + " would be copied onto itself";
    }
    if (S_ISDIR(source_.stx_mode) && lies_in(calls_, again(root_->to), id_of(source_))) {
      return in_quotes(to) + " lies inside " + in_quotes(source) +
             ": it would be copied into itself";
    }
    if (exists && lies_in(calls_, again(root_->from), id_of(target))) {
      return in_quotes(source) + " lies inside what it would replace in " + in_quotes(to);
    }
    return {};
  }

  const Way& way() const noexcept { return way_; }
  FileId target_folder() const noexcept { return root_->to_id; }

  void begin(CopyJob& job) {
    CopyEntry entry{.name = way_.from_name, .to_name = way_.to_name};
    entry.type = static_cast<unsigned char>(source_.stx_mode >> 12);
    job.begin(*root_.release(), std::move(entry));
  }

 private:
  long again(int folder) const { return calls_.open(folder, ".", O_PATH | O_DIRECTORY); }

  const CopyCalls& calls_;
  Way way_;
  std::unique_ptr<CopyFolder> root_;
  struct statx folder_{};
  struct statx source_{};
};

bool is_directory(const CopyCalls& calls, const std::string& path) {
  const long folder = calls.open(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY);
  if (folder >= 0) calls.close(static_cast<int>(folder));
  return folder >= 0;
}

// All sources, opened and found to be possible. "", or why nothing is begun.
std::string prepare(const CopyCalls& calls, const std::vector<std::string>& from,
                    const std::string& to, CopyJob& job, std::vector<Start>& starts) {
  if (from.empty() || to.empty()) return "a source and a destination are needed";
  const bool into = is_directory(calls, to);
  if (from.size() > 1 && !into) {
    return in_quotes(to) + " is no directory, and several sources need one";
  }
  for (const std::string& source : from) {
    Start start(calls, way_of(source, to, into));
    const long result = source.empty() ? -ENOENT : start.open_source();
    if (result < 0) {
      job.problem(source, "open", result);
      continue;
    }
    std::string refusal = start.open_target();
    if (refusal.empty()) refusal = start.refusal(source, to);
    if (!refusal.empty()) return refusal;
    for (const Start& other : starts) {
      if (other.way().to_name == start.way().to_name) {
        return "two sources would become " + in_quotes(start.way().to_name) + " in " +
               in_quotes(to);
      }
    }
    starts.push_back(std::move(start));
  }
  return {};
}

// Descriptors that this process may have.
std::size_t descriptors() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  return static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur, 1 << 16));
}

// Threads wait for the device more than they compute: several to a processor, so that others are
// at work meanwhile, and the device has something to choose from.
std::size_t chosen_width(std::size_t asked, std::size_t most_descriptors) noexcept {
  constexpr std::size_t each = 8;  // descriptors of one thread: two directories, two files, spare
  constexpr std::size_t several = 4;
  constexpr std::size_t enough = 32;
  const std::size_t chosen = std::min<std::size_t>(several * sync::cpu_budget().width(), enough);
  const std::size_t wanted = asked != 0 ? asked : chosen;
  return std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(1, most_descriptors / each));
}

}  // namespace

std::string CopyTreeProblem::text() const {
  std::string line = escaped(path) + ": " + escaped(what);
  if (error != 0) line += ": " + reason(error);
  return line;
}

CopyTreeResult copy_tree(const std::vector<std::string>& from, const std::string& to,
                         CopyTreeOptions options) {
  const std::size_t most = descriptors();
  const std::size_t width = chosen_width(options.width, most);
  constexpr std::size_t many = 256;  // directories: two descriptors each
  CopyJob job(options, std::clamp<std::size_t>(most / 8, 1, many));
  std::vector<Start> starts;
  std::string refusal = prepare(job.calls(), from, to, job, starts);
  if (!refusal.empty()) {
    CopyTreeResult refused;
    refused.refusal = std::move(refusal);
    return refused;
  }
  for (Start& start : starts) start.begin(job);
  std::optional<detail::CopyCount> count;
  if (options.count) count.emplace(job, from);
  job.run(width);
  count.reset();
  return job.take_result();
}

}}  // namespace handoff::HANDOFF_ABI
