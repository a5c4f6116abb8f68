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
#include <handoff/sync/internal/thread.hpp>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

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
using detail::OwnFile;

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

// What is to be copied, looked at before anything is begun. No descriptor stays open for a source
// but those of the directory that it is in, which the sources in it share.
class Sources {
 public:
  Sources(CopyJob& job, const std::string& to) : job_(job), calls_(job.calls()), to_(to) {}

  // "", or why nothing is begun. What cannot be opened is told as a problem.
  std::string prepare(const std::vector<std::string>& from) {
    if (from.empty() || to_.empty()) return "a source and a destination are needed";
    if (detail::has_zero_byte(to_)) return in_quotes(to_) + " has a zero byte in it";
    into_ = is_directory();
    if (from.size() > 1 && !into_) {
      return in_quotes(to_) + " is no directory, and several sources need one";
    }
    for (const std::string& source : from) {
      std::string refusal = add(source);
      if (!refusal.empty()) return refusal;
    }
    return {};
  }

  // About how many descriptors are in use.
  std::size_t descriptors() const noexcept { return static_cast<std::size_t>(highest_) + 1; }

 private:
  std::string add(const std::string& source) {
    const bool named = !source.empty() && !detail::has_zero_byte(source);
    if (!named) return job_.problem(source, {"open"}, source.empty() ? -ENOENT : -EINVAL), "";
    const Way way = way_of(source, to_, into_);
    long error = 0;
    std::string refusal;
    CopyFolder* const root = pinned_root(way, error, refusal);
    struct statx attributes{};
    if (root != nullptr) {
      error = calls_.stat(root->from, way.from_name.c_str(), attributes);
      if (error == 0) refusal = refusal_of(source, way, *root, attributes);
      job_.folders().unpin(*root);
    }
    if (error < 0) return job_.problem(source, {"open"}, error), "";
    if (!refusal.empty()) return refusal;
    CopyEntry entry{.name = way.from_name, .to_name = way.to_name};
    entry.type = static_cast<unsigned char>(attributes.stx_mode >> 12);
    job_.begin(*root, std::move(entry));
    return {};
  }

  // Null: `error` of the source, or a refusal because of the destination.
  CopyFolder* pinned_root(const Way& way, long& error, std::string& refusal) {
    const auto found = roots_.find(way.from_folder);  // the destination is the same for all
    if (found != roots_.end()) {
      error = job_.folders().pin(*found->second);
      return error == 0 ? found->second : nullptr;
    }
    OwnFile from(calls_.tap(), calls_.open(AT_FDCWD, way.from_folder.c_str(), detail::kOpenRoot));
    struct statx there{};
    error = from.get() < 0 ? from.get() : calls_.stat(from.get(), "", there);
    if (error < 0) return nullptr;
    auto root = std::make_unique<CopyFolder>();
    root->from_id = id_of(there);
    OwnFile to(calls_.tap(), calls_.open(AT_FDCWD, way.to_folder.c_str(), detail::kOpenRoot));
    if (to.get() < 0) {
      refusal = in_quotes(way.to_folder) + " cannot be opened: " + reason(to.get());
      return nullptr;
    }
    const long result = calls_.stat(to.get(), "", there);
    if (result < 0) {
      refusal = in_quotes(way.to_folder) + ": " + reason(result);
      return nullptr;
    }
    root->to_id = id_of(there);
    root->from_name = way.from_folder;
    root->name = way.to_folder;
    root->to_is_path = true;
    char none = 0;
    root->inherits = calls_.get_attribute({to.get(), "."}, detail::kDefaultList, &none, 0) > 0;
    CopyFolder*& place = roots_[way.from_folder];
    highest_ = std::max({highest_, from.get(), to.get()});
    return place = &job_.add_root(std::move(root), from, to);
  }

  // "", or why nothing may be copied.
  std::string refusal_of(const std::string& source, const Way& way, const CopyFolder& root,
                         const struct statx& attributes) {
    if (!into_ && to_.back() == '/' && !S_ISDIR(attributes.stx_mode)) {
      return in_quotes(to_) + " is no directory, as its slash says, nor is " + in_quotes(source);
    }
    struct statx target{};
    const bool exists = calls_.stat(root.to, way.to_name.c_str(), target) == 0;
    if (exists && id_of(target) == id_of(attributes)) {
      return in_quotes(source) + " would be copied onto itself";
    }
    if (S_ISDIR(attributes.stx_mode) && lies_in(calls_, again(root.to), id_of(attributes))) {
      return in_quotes(to_) + " lies inside " + in_quotes(source) +
             ": it would be copied into itself";
    }
    if (exists && lies_in(calls_, again(root.from), id_of(target))) {
      return in_quotes(source) + " lies inside what it would replace in " + in_quotes(to_);
    }
    if (!names_.insert(way.to_name).second) {
      return "two sources would become " + in_quotes(way.to_name) + " in " + in_quotes(to_);
    }
    return {};
  }

  long again(int folder) const { return calls_.open(folder, ".", O_PATH | O_DIRECTORY); }

  bool is_directory() const {
    const OwnFile folder(calls_.tap(), calls_.open(AT_FDCWD, to_.c_str(), O_PATH | O_DIRECTORY));
    return folder.get() >= 0;
  }

  CopyJob& job_;
  const CopyCalls& calls_;
  const std::string& to_;
  bool into_ = false;
  int highest_ = 0;  // descriptor: the lowest free one is given
  std::unordered_map<std::string, CopyFolder*> roots_;
  std::unordered_set<std::string> names_;
};

// Descriptors that this process may have.
std::size_t descriptors() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  return static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur, 1 << 16));
}

// Threads wait for the device more than they compute: several to a processor, so that others are
// at work meanwhile, and the device has something to choose from.
std::size_t chosen_width(std::size_t asked, std::size_t free_descriptors) noexcept {
  constexpr std::size_t each = 8;  // descriptors of one thread: two directories, two files, spare
  constexpr std::size_t several = 4;
  constexpr std::size_t enough = 32;
  const std::size_t wanted =
      asked != 0 ? asked : std::min<std::size_t>(several * sync::cpu_budget().width(), enough);
  return std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(1, free_descriptors / each));
}

}  // namespace

std::string CopyTreeProblem::text() const {
  std::string line = path.empty() ? "" : escaped(path) + ": ";
  line += escaped(what);
  if (error != 0) line += ": " + reason(error);
  return line;
}

CopyTreeResult copy_tree(const std::vector<std::string>& from, const std::string& to,
                         CopyTreeOptions options) {
  const std::size_t most = descriptors();
  constexpr std::size_t many = 256;  // directories: two descriptors each
  CopyJob job(options, std::clamp<std::size_t>(most / 8, 1, many));
  Sources sources(job, to);
  std::string refusal = sources.prepare(from);
  if (!refusal.empty()) {
    CopyTreeResult refused;
    refused.refusal = std::move(refusal);
    return refused;
  }
  std::size_t in_use = sources.descriptors();
  std::optional<detail::CopyCount> count;
  if (options.count) {
    const std::size_t deepest = std::min<std::size_t>(64, most / 16);
    count.emplace(job, from, deepest);
    in_use += deepest + 1;
  }
  job.run(chosen_width(options.width, most - std::min(most, in_use)));
  count.reset();
  return job.take_result();
}

}}  // namespace handoff::HANDOFF_ABI
