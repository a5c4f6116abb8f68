// SPDX-License-Identifier: MIT
//
// The simulated disk: a list of what each call changed and when.
#include <limits.h>
#include <linux/fs.h>
#include <sys/uio.h>

#include "fault/power_loss.hpp"
#include "support/test.hpp"

namespace handoff::test {
namespace {

// Where a descriptor leads to now; "" if nowhere.
std::string target_of(int descriptor) {
  std::array<char, PATH_MAX> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  return length <= 0 ? "" : std::string(target.data(), static_cast<std::size_t>(length));
}

std::uint64_t length_of(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::uint64_t device_of(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 ? static_cast<std::uint64_t>(status.st_dev) : 0;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool sets_attributes(std::string_view name) {
  return is_one_of(name, {"fchmod", "fchmodat", "fchown", "fchownat", "futimens", "utimensat",
                          "fsetxattr", "lsetxattr", "fremovexattr", "lremovexattr"});
}
// Of the other calls.
bool changes_nothing(std::string_view name) {
  return is_one_of(name, {"lseek", "lseek(SEEK_DATA)", "getdents64", "fcntl", "getrandom",
                          "posix_fadvise", "sync_file_range", "cachestat", "readlinkat",
                          "flistxattr", "fgetxattr", "llistxattr", "lgetxattr"});
}

}  // namespace

// ---- What is where ----

SimulatedDisk::SimulatedDisk(const std::string& root, Watch watch) : watch_(watch) {
  root_ = std::filesystem::canonical(root).string();
  struct stat status{};
  if (::stat(root_.c_str(), &status) == 0) device_ = static_cast<std::uint64_t>(status.st_dev);
  std::map<std::uint64_t, int> known;
  load(root_, known);
}

int SimulatedDisk::load(const std::string& path, std::map<std::uint64_t, int>& known) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) throw std::logic_error("is not there: " + path);
  const auto [found, is_new] = known.try_emplace(status.st_ino, static_cast<int>(nodes_.size()));
  const int number = found->second;
  if (!is_new) return number;
  Node node;
  if (watch_ == Watch::attributes_too) {
    const int file = ::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    node.attributes = node.live_attributes = read_attributes(file, "", true);
    ::close(file);
  }
  if (S_ISREG(status.st_mode)) {
    node.start = node.live = contents(path);
  } else if (S_ISLNK(status.st_mode)) {
    node.type = Type::link;
    node.start = std::filesystem::read_symlink(path).string();
  } else if (!S_ISDIR(status.st_mode)) {
    node.type = Type::special;
    node.start = std::to_string(status.st_mode & S_IFMT);
  } else {
    node.type = Type::directory;
  }
  nodes_.push_back(std::move(node));
  if (!S_ISDIR(status.st_mode)) return number;
  std::map<std::string, int> names;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    names[entry.path().filename().string()] = load(entry.path().string(), known);
  }
  at(number).names = at(number).live_names = std::move(names);
  return number;
}

int SimulatedDisk::node_of(int descriptor) const {
  const auto found = descriptors_.find(descriptor);
  return found == descriptors_.end() ? -1 : found->second;
}

int SimulatedDisk::parent_of(int directory) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const auto& [name, child] : nodes_[i].live_names) {
      if (child == directory) return static_cast<int>(i);
    }
  }
  return -1;
}

int SimulatedDisk::child_of(int directory, const std::string& name) const {
  if (directory < 0) return -1;
  if (name.empty() || name == ".") return directory;
  if (name == "..") return parent_of(directory);
  const auto found = at(directory).live_names.find(name);
  return found == at(directory).live_names.end() ? -1 : found->second;
}

int SimulatedDisk::walk(const std::string& path, int from) const {
  int node = from;
  for (std::size_t begin = 0; begin < path.size() && node >= 0;) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    node = child_of(node, path.substr(begin, end - begin));
    begin = end + 1;
  }
  return node;
}

// By what is known of the descriptor, whatever became of its directory's name; else by the path as
// it leads now.
SimulatedDisk::Place SimulatedDisk::place(int descriptor, const std::string& path) const {
  const bool absolute = !path.empty() && path.front() == '/';
  const std::size_t its_slash = path.rfind('/');
  if (const int base = absolute ? -1 : node_of(descriptor); base >= 0) {
    if (its_slash == std::string::npos) return {base, path};
    const int directory = walk(path.substr(0, its_slash), base);
    if (directory < 0 || at(directory).type == Type::directory) {
      return {directory, path.substr(its_slash + 1)};
    }
  }
  std::string whole = path;
  if (!absolute) {
    const std::string base =
        descriptor == AT_FDCWD ? std::filesystem::current_path().string() : target_of(descriptor);
    whole = base + "/" + path;
  }
  const std::size_t slash = whole.rfind('/');
  std::error_code error;
  const auto parent = std::filesystem::canonical(whole.substr(0, slash + 1), error).string();
  if (error || (parent + "/").rfind(root_ + "/", 0) != 0) return {};
  return {walk(parent.substr(root_.size())), whole.substr(slash + 1)};
}

// ---- What is seen ----

FileTap::Verdict SimulatedDisk::before(const FileCallView& call) noexcept {
  const std::lock_guard lock(mutex_);
  Pending pending{.view = &call,
                  .name = call.name,
                  .kind = call.kind,
                  .descriptor = call.descriptor,
                  .to_descriptor = call.to_descriptor,
                  .offset = call.offset,
                  .path = call.path == nullptr ? "" : call.path,
                  .to_path = call.to_path == nullptr ? "" : call.to_path,
                  .flags = call.flags,
                  .begin = moment_++};
  if (call.kind == FileCallKind::write) {
    for (std::size_t i = 0; i < call.piece_count; ++i) {
      pending.bytes.append(static_cast<const char*>(call.pieces[i].iov_base),
                           call.pieces[i].iov_len);
    }
  }
  if (call.kind == FileCallKind::close) descriptors_.erase(call.descriptor);
  if (call.kind == FileCallKind::fsync || call.kind == FileCallKind::fdatasync ||
      pending.name == "syncfs") {
    pending.drop = static_cast<int>(sync_names_.size()) == dropped_;
    sync_names_.push_back(std::string(call.name) + " " + target_of(call.descriptor));
    sync_moments_.push_back(pending.begin);
  }
  const bool drop = pending.drop;
  const bool dead = lives_for_ <= 0;
  lives_for_ -= dead ? 0 : 1;
  if (dead && call.kind == FileCallKind::close) ::close(call.descriptor);
  pending_.push_back(std::move(pending));
  if (dead) return {Verdict::answer, -EIO};
  if (drop) return {Verdict::answer, 0};
  return {};
}

SimulatedDisk::Pending SimulatedDisk::take_pending(const FileCallView& call) {
  const auto same = [&](const Pending& p) {
    return p.kind == call.kind && p.name == call.name && p.descriptor == call.descriptor &&
           p.offset == call.offset && p.path == (call.path == nullptr ? "" : call.path);
  };
  auto found = std::find_if(pending_.begin(), pending_.end(),
                            [&](const Pending& p) { return p.view == &call && same(p); });
  if (found == pending_.end()) found = std::find_if(pending_.begin(), pending_.end(), same);
  if (found == pending_.end()) {
    std::fprintf(stderr, "a call ended that never began: %s\n", call.name);
    std::abort();
  }
  Pending pending = std::move(*found);
  pending_.erase(found);
  return pending;
}

void SimulatedDisk::after(const FileCallView& call, long result) noexcept {
  const std::lock_guard lock(mutex_);
  const Pending pending = take_pending(call);
  ++moment_;
  if (result < 0) return;
  switch (call.kind) {
    case FileCallKind::open: return opened(pending, static_cast<int>(result));
    case FileCallKind::write: return wrote(pending, result);
    case FileCallKind::fsync:
    case FileCallKind::fdatasync: return synced(pending);
    case FileCallKind::preallocate:
    case FileCallKind::truncate: return resized(call.descriptor, pending);
    case FileCallKind::rename: return renamed(pending);
    case FileCallKind::link: return linked(pending);
    case FileCallKind::unlink: return unlinked(pending);
    case FileCallKind::make_directory: return made_node(pending, Type::directory);
    case FileCallKind::copy_range:
    case FileCallKind::clone:
      changed_somehow(call.descriptor, pending);
      changed_somehow(call.to_descriptor, pending);
      return;
    case FileCallKind::other: return other_call(pending);
    case FileCallKind::close:
    case FileCallKind::read:
    case FileCallKind::stat: return;
  }
}

void SimulatedDisk::other_call(const Pending& call) {
  if (call.name == "syncfs") return synced(call);
  if (call.name == "symlinkat") return made_node(call, Type::link);
  if (call.name == "mknodat") return made_node(call, Type::special);
  if (sets_attributes(call.name)) return attributes_set(call);
  if (!changes_nothing(call.name)) changed_somehow(call.descriptor, call);
}

void SimulatedDisk::synced(const Pending& call) {
  if (call.drop) return;
  const Span when{call.begin, moment_ - 1};
  if (call.name == "syncfs") {
    if (device_of(call.descriptor) == device_) whole_syncs_.push_back(when);
  } else if (const int node = node_of(call.descriptor); node >= 0) {
    at(node).syncs.push_back({when, call.kind == FileCallKind::fdatasync});
  }
}

// A new one, with its name.
int SimulatedDisk::made(Type type, const Pending& call, const Place& where) {
  const int node = static_cast<int>(nodes_.size());
  nodes_.push_back({.type = type});
  change_names(where.directory, {.when = {call.begin, moment_ - 1}, .edits = {{where.name, node}}});
  return node;
}

void SimulatedDisk::opened(const Pending& call, int descriptor) {
  descriptors_.erase(descriptor);
  const std::string target = target_of(descriptor);
  if ((target + "/").rfind(root_ + "/", 0) != 0) return;
  int node = -1;
  Place where;
  if ((call.flags & O_TMPFILE) == O_TMPFILE) {
    node = static_cast<int>(nodes_.size());
    nodes_.emplace_back();
  } else {
    where = place(call.descriptor, call.path);
    node = child_of(where.directory, where.name);
    const bool follows = node >= 0 && at(node).type == Type::link && (call.flags & O_NOFOLLOW) == 0;
    if (where.directory < 0 || follows) {  // as it leads now
      const std::string path = target.substr(root_.size());
      const std::size_t slash = std::min(path.rfind('/'), path.size());
      where = {walk(path.substr(0, slash)), path.substr(std::min(slash + 1, path.size()))};
      node = child_of(where.directory, where.name);
    }
    if (where.directory < 0) throw std::logic_error("a directory that nobody made: " + target);
  }
  const bool is_new = node < 0 || where.directory < 0;
  if (node < 0) node = made(Type::file, call, where);
  if (is_new && watch_ == Watch::attributes_too) {
    at(node).attributes = at(node).live_attributes = read_attributes(descriptor, "", false);
  }
  descriptors_[descriptor] = node;
  if (!is_new && (call.flags & O_TRUNC) != 0) resized(descriptor, call);
}

void SimulatedDisk::change_names(int directory, Change change) {
  auto& names = at(directory).live_names;
  for (const Edit& edit : change.edits) {
    if (edit.adds) names[edit.name] = edit.node;
    else names.erase(edit.name);
  }
  at(directory).changes.push_back(std::move(change));
}

void SimulatedDisk::renamed(const Pending& call) {
  const Place from = place(call.descriptor, call.path);
  // Within one directory, unless another one is named.
  const Place to =
      place(call.to_descriptor == -1 ? call.descriptor : call.to_descriptor, call.to_path);
  if (from.directory < 0 || to.directory < 0) return;
  const int node = child_of(from.directory, from.name);
  const int there = child_of(to.directory, to.name);
  if (node < 0) throw std::logic_error("renamed, and never there: " + call.path);
  if (node == there) return;  // two names of one file: both stay
  const bool exchange = (static_cast<unsigned>(call.flags) & RENAME_EXCHANGE) != 0;
  const Edit away = exchange ? Edit{from.name, there} : Edit{from.name, node, false};
  const Span when{call.begin, moment_ - 1};
  if (from.directory == to.directory) {
    return change_names(from.directory, {.when = when, .edits = {away, {to.name, node}}});
  }
  const int together = together_++;
  change_names(to.directory, {.when = when, .edits = {{to.name, node}}, .together = together});
  change_names(from.directory, {.when = when, .edits = {away}, .together = together});
}

void SimulatedDisk::linked(const Pending& call) {
  int node = -1;
  constexpr std::string_view own = "/proc/self/fd/";
  if (call.path.empty()) {
    node = node_of(call.descriptor);
  } else if (call.path.starts_with(own)) {
    node = node_of(std::atoi(call.path.c_str() + own.size()));
  } else if (const Place from = place(call.descriptor, call.path); from.directory >= 0) {
    node = child_of(from.directory, from.name);
  }
  const Place to = place(call.to_descriptor, call.to_path);
  if (to.directory < 0) return;
  if (node < 0) throw std::logic_error("a link to what was never opened: " + call.to_path);
  change_names(to.directory, {.when = {call.begin, moment_ - 1}, .edits = {{to.name, node}}});
}

void SimulatedDisk::unlinked(const Pending& call) {
  const Place from = place(call.descriptor, call.path);
  if (from.directory < 0) return;
  change_names(from.directory,
               {.when = {call.begin, moment_ - 1}, .edits = {{from.name, -1, false}}});
}

void SimulatedDisk::made_node(const Pending& call, Type type) {
  const Place where = place(call.descriptor, call.path);
  if (where.directory < 0) return;
  Node& node = at(made(type, call, where));
  struct stat status{};
  (void)::fstatat(call.descriptor, call.path.c_str(), &status, AT_SYMLINK_NOFOLLOW);
  if (type == Type::special) node.start = std::to_string(status.st_mode & S_IFMT);
  if (type == Type::link) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length =
        ::readlinkat(call.descriptor, call.path.c_str(), target.data(), target.size());
    node.start.assign(target.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  }
  if (watch_ == Watch::contents) return;
  node.attributes = node.live_attributes = read_attributes(call.descriptor, call.path, false);
}

void SimulatedDisk::attributes_set(const Pending& call) {
  if (watch_ == Watch::contents) return;
  int descriptor = call.descriptor;
  std::string name = call.path;
  constexpr std::string_view own = "/proc/self/fd/";
  if (name.starts_with(own)) {
    const std::size_t slash = name.find('/', own.size());
    descriptor = std::atoi(name.c_str() + own.size());
    name = slash == std::string::npos ? "" : name.substr(slash + 1);
  }
  const Place where = place(descriptor, name);
  const int number = child_of(where.directory, where.name);
  if (number < 0) return;
  const bool times = call.name == "futimens" || call.name == "utimensat";
  Attributes now = read_attributes(descriptor, name, times);
  Node& node = at(number);
  Attributes& live = node.live_attributes;
  if (!times && live.contains("times")) now["times"] = live["times"];
  const Span when{call.begin, moment_ - 1};
  for (const auto& [key, value] : now) {
    const auto was = live.find(key);
    if (was != live.end() && was->second == value) continue;
    node.attribute_changes.push_back({.when = when, .key = key, .value = value});
  }
  for (const auto& [key, value] : live) {
    if (!now.contains(key)) node.attribute_changes.push_back({.when = when, .key = key});
  }
  live = std::move(now);
}

void SimulatedDisk::wrote(const Pending& call, long result) {
  const int number = node_of(call.descriptor);
  if (number < 0) return;
  Node& node = at(number);
  Data data{.when = {call.begin, moment_ - 1},
            .offset = call.offset,
            .bytes = call.bytes.substr(0, static_cast<std::size_t>(result))};
  const std::uint64_t end = data.offset + data.bytes.size();
  if (node.live.size() < end) node.live.resize(end);
  node.live.replace(data.offset, data.bytes.size(), data.bytes);
  node.data.push_back(std::move(data));
}

void SimulatedDisk::resized(int descriptor, const Pending& call) {
  const int number = node_of(descriptor);
  if (number < 0) return;
  Node& node = at(number);
  const std::uint64_t length = length_of(descriptor);
  if (length == node.live.size()) return;
  node.live.resize(length);
  node.data.push_back({.when = {call.begin, moment_ - 1}, .resize = true, .length = length});
}

void SimulatedDisk::changed_somehow(int descriptor, const Pending& call) {
  const int number = node_of(descriptor);
  if (number < 0 || at(number).type != Type::file) return;
  resized(descriptor, call);
  Node& node = at(number);
  std::string bytes = contents("/proc/self/fd/" + std::to_string(descriptor));
  if (bytes == node.live) return;
  bytes.resize(node.live.size());  // somebody else's write may have come meanwhile
  const auto [first, ignored] = std::mismatch(bytes.begin(), bytes.end(), node.live.begin());
  const auto [last, ignored_too] = std::mismatch(bytes.rbegin(), bytes.rend(), node.live.rbegin());
  const auto begin = static_cast<std::size_t>(first - bytes.begin());
  const auto end = bytes.size() - static_cast<std::size_t>(last - bytes.rbegin());
  node.data.push_back({.when = {call.begin, moment_ - 1},
                       .offset = begin,
                       .bytes = bytes.substr(begin, end - begin)});
  node.live = std::move(bytes);
}

}  // namespace handoff::test
