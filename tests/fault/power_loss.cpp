// SPDX-License-Identifier: MIT
//
// The simulated disk: a list of what each call changed and when, from which states are built.
#include "fault/power_loss.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace handoff::test {
namespace {

constexpr std::size_t kSector = 512;

std::string bytes_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

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

}  // namespace

void write_state(const DiskState& state, const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const std::string& path : state.directories) {
    std::filesystem::create_directories(folder + "/" + path);
  }
  for (const auto& [path, bytes] : state.files) {
    std::ofstream(folder + "/" + path, std::ios::binary) << bytes;
  }
}

void StateFolder::write(const DiskState& state) {
  if (!there_.has_value() || there_->directories != state.directories) {
    write_state(state, folder_);
  } else {
    for (const auto& [path, bytes] : there_->files) {
      if (!state.files.contains(path)) std::filesystem::remove(folder_ + "/" + path);
    }
    for (const auto& [path, bytes] : state.files) {
      const auto found = there_->files.find(path);
      if (found != there_->files.end() && found->second == bytes) continue;
      std::ofstream(folder_ + "/" + path, std::ios::binary) << bytes;
    }
  }
  there_ = state;
}

DiskState read_state(const std::string& folder) {
  DiskState state;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::string path = entry.path().lexically_relative(folder).string();
    if (entry.is_directory()) {
      state.directories.push_back(std::move(path));
    } else if (entry.is_regular_file()) {
      state.files[path] = bytes_of(entry.path().string());
    }
  }
  std::sort(state.directories.begin(), state.directories.end());
  return state;
}

// ---- Choices ----

Choices::Choices(Loss loss, std::uint64_t seed) : loss_(loss), random_(seed) {
  constexpr std::array<unsigned, 5> percents{0, 20, 50, 80, 100};
  data_percent_ = percents[random_() % percents.size()];
  names_percent_ = percents[random_() % percents.size()];
}

Choices Choices::every() {
  Choices choices(Loss::random);
  choices.every_ = true;
  return choices;
}

Choices Choices::of_names(std::uint64_t names, bool data_kept) {
  Choices choices(data_kept ? Loss::data_kept : Loss::all_lost);
  choices.names_ = names;
  return choices;
}

bool Choices::next() {
  position_ = 0;
  while (!digits_.empty()) {
    if (++digits_.back().first < digits_.back().second) return true;
    digits_.pop_back();
  }
  return false;
}

unsigned Choices::pick(unsigned count) {
  if (position_ == digits_.size()) digits_.emplace_back(0, count);
  return digits_[position_++].first;
}

Choices::Write Choices::write(bool resize) {
  if (every_) return static_cast<Write>(pick(5));
  switch (loss_) {
    case Loss::all_lost:
    case Loss::names_kept: return Write::lost;
    case Loss::lengths_kept: return Write::length;
    case Loss::data_kept:
    case Loss::all_kept: return Write::whole;
    case Loss::first_lost:
      return !resize && std::exchange(first_, false) ? Write::lost : Write::whole;
    case Loss::first_kept:
      return resize || std::exchange(first_, false) ? Write::whole : Write::lost;
    case Loss::random: break;
  }
  if (random_() % 4 == 0) return static_cast<Write>(2 + random_() % 4);
  return random_() % 100 < data_percent_ ? Write::whole : Write::lost;
}

bool Choices::sector() { return random_() % 2 == 0; }

bool Choices::garbage() { return !every_ && loss_ == Loss::random && random_() % 4 == 0; }

bool Choices::name() {
  const std::size_t number = names_asked_++;
  if (names_.has_value()) return number < 64 && (*names_ >> number & 1U) != 0;
  if (every_) return pick(2) == 1;
  if (loss_ == Loss::random) return random_() % 100 < names_percent_;
  return loss_ != Loss::all_lost && loss_ != Loss::data_kept;
}

// ---- What is seen ----

SimulatedDisk::SimulatedDisk(const std::string& root) {
  root_ = std::filesystem::canonical(root).string();
  load(root_);
}

int SimulatedDisk::load(const std::string& path) {
  const int number = static_cast<int>(nodes_.size());
  nodes_.emplace_back();
  if (!std::filesystem::is_directory(path)) {
    nodes_.back().start = nodes_.back().live = bytes_of(path);
    return number;
  }
  std::map<std::string, int> names;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    names[entry.path().filename().string()] = load(entry.path().string());
  }
  Node& node = nodes_[static_cast<std::size_t>(number)];
  node.directory = true;
  node.names = node.live_names = std::move(names);
  return number;
}

int SimulatedDisk::walk(const std::string& path) const {
  int node = 0;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty() || name == ".") continue;
    const auto& names = nodes_[static_cast<std::size_t>(node)].live_names;
    const auto found = names.find(name);
    if (found == names.end()) return -1;
    node = found->second;
  }
  return node;
}

int SimulatedDisk::node_of(int descriptor) const {
  const auto found = descriptors_.find(descriptor);
  return found == descriptors_.end() ? -1 : found->second;
}

SimulatedDisk::Place SimulatedDisk::place(int descriptor, const std::string& path) const {
  std::string whole = path;
  if (path.empty() || path.front() != '/') {
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

FileTap::Verdict SimulatedDisk::before(const FileCallView& call) noexcept {
  const std::lock_guard lock(mutex_);
  Pending pending{.view = &call,
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
  if (call.kind == FileCallKind::fsync || call.kind == FileCallKind::fdatasync) {
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
    return p.kind == call.kind && p.descriptor == call.descriptor && p.offset == call.offset &&
           p.path == (call.path == nullptr ? "" : call.path);
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
  const std::size_t end = moment_;
  ++moment_;
  if (result < 0) return;
  switch (call.kind) {
    case FileCallKind::open: return opened(pending, static_cast<int>(result));
    case FileCallKind::write: return wrote(pending, result);
    case FileCallKind::fsync:
    case FileCallKind::fdatasync: {
      const int node = node_of(call.descriptor);
      if (node >= 0 && !pending.drop) {
        nodes_[static_cast<std::size_t>(node)].syncs.push_back({pending.begin, end});
      }
      return;
    }
    case FileCallKind::preallocate:
    case FileCallKind::truncate: return resized(call.descriptor, pending);
    case FileCallKind::rename: return renamed(pending);
    case FileCallKind::link: return linked(pending);
    case FileCallKind::unlink: return unlinked(pending);
    case FileCallKind::make_directory: return made_directory(pending);
    case FileCallKind::copy_range:
    case FileCallKind::clone:
    case FileCallKind::other:
      changed_somehow(call.descriptor, pending);
      changed_somehow(call.to_descriptor, pending);
      return;
    case FileCallKind::close:
    case FileCallKind::read:
    case FileCallKind::stat: return;
  }
}

void SimulatedDisk::opened(const Pending& call, int descriptor) {
  const std::string target = target_of(descriptor);
  if ((target + "/").rfind(root_ + "/", 0) != 0) return;
  const Span when{call.begin, moment_ - 1};
  if ((call.flags & O_TMPFILE) == O_TMPFILE) {
    descriptors_[descriptor] = static_cast<int>(nodes_.size());
    nodes_.emplace_back();
    return;
  }
  const std::string path = target.substr(root_.size());
  int node = walk(path);
  if (node < 0) {
    const std::size_t slash = path.rfind('/');
    const int directory = walk(path.substr(0, slash));
    if (directory < 0) throw std::logic_error("a directory that nobody made: " + target);
    node = static_cast<int>(nodes_.size());
    nodes_.emplace_back();
    change_names(directory, {.when = when, .added = path.substr(slash + 1), .node = node});
  } else if ((call.flags & O_TRUNC) != 0) {
    descriptors_[descriptor] = node;
    resized(descriptor, call);
  }
  descriptors_[descriptor] = node;
}

void SimulatedDisk::change_names(int directory, Change change) {
  Node& node = nodes_[static_cast<std::size_t>(directory)];
  if (!change.removed.empty()) node.live_names.erase(change.removed);
  if (!change.added.empty()) node.live_names[change.added] = change.node;
  node.changes.push_back(std::move(change));
}

void SimulatedDisk::renamed(const Pending& call) {
  const Place from = place(call.descriptor, call.path);
  // Within one directory, unless another one is named.
  const Place to =
      place(call.to_descriptor == -1 ? call.descriptor : call.to_descriptor, call.to_path);
  if (from.directory < 0 || to.directory < 0) return;
  const auto& names = nodes_[static_cast<std::size_t>(from.directory)].live_names;
  const auto found = names.find(from.name);
  if (found == names.end()) throw std::logic_error("renamed, and never there: " + call.path);
  const int node = found->second;
  const Span when{call.begin, moment_ - 1};
  if (from.directory == to.directory) {
    change_names(from.directory,
                 {.when = when, .removed = from.name, .added = to.name, .node = node});
    return;
  }
  change_names(to.directory, {.when = when, .added = to.name, .node = node});
  change_names(from.directory, {.when = when, .removed = from.name});
}

void SimulatedDisk::linked(const Pending& call) {
  int node = -1;
  constexpr std::string_view own = "/proc/self/fd/";
  if (call.path.empty()) {
    node = node_of(call.descriptor);
  } else if (call.path.starts_with(own)) {
    node = node_of(std::atoi(call.path.c_str() + own.size()));
  } else if (const Place from = place(call.descriptor, call.path); from.directory >= 0) {
    const auto& names = nodes_[static_cast<std::size_t>(from.directory)].live_names;
    const auto found = names.find(from.name);
    if (found != names.end()) node = found->second;
  }
  const Place to = place(call.to_descriptor, call.to_path);
  if (to.directory < 0) return;
  if (node < 0) throw std::logic_error("a link to what was never opened: " + call.to_path);
  change_names(to.directory, {.when = {call.begin, moment_ - 1}, .added = to.name, .node = node});
}

void SimulatedDisk::unlinked(const Pending& call) {
  const Place from = place(call.descriptor, call.path);
  if (from.directory < 0) return;
  change_names(from.directory, {.when = {call.begin, moment_ - 1}, .removed = from.name});
}

void SimulatedDisk::made_directory(const Pending& call) {
  const Place at = place(call.descriptor, call.path);
  if (at.directory < 0) return;
  const int node = static_cast<int>(nodes_.size());
  nodes_.emplace_back();
  nodes_.back().directory = true;
  change_names(at.directory, {.when = {call.begin, moment_ - 1}, .added = at.name, .node = node});
}

void SimulatedDisk::wrote(const Pending& call, long result) {
  const int number = node_of(call.descriptor);
  if (number < 0) return;
  Node& node = nodes_[static_cast<std::size_t>(number)];
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
  Node& node = nodes_[static_cast<std::size_t>(number)];
  const std::uint64_t length = length_of(descriptor);
  if (length == node.live.size()) return;
  node.live.resize(length);
  node.data.push_back({.when = {call.begin, moment_ - 1}, .resize = true, .length = length});
}

void SimulatedDisk::changed_somehow(int descriptor, const Pending& call) {
  const int number = node_of(descriptor);
  if (number < 0 || nodes_[static_cast<std::size_t>(number)].directory) return;
  resized(descriptor, call);
  Node& node = nodes_[static_cast<std::size_t>(number)];
  std::string bytes = bytes_of("/proc/self/fd/" + std::to_string(descriptor));
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

// ---- What is left ----

std::vector<std::string> SimulatedDisk::syncs() const {
  const std::lock_guard lock(mutex_);
  return sync_names_;
}

std::size_t SimulatedDisk::sync_begun(std::size_t n) const {
  const std::lock_guard lock(mutex_);
  return sync_moments_.at(n);
}

std::size_t SimulatedDisk::now() const {
  const std::lock_guard lock(mutex_);
  return moment_;
}

bool SimulatedDisk::covered(const Node& node, const Span& when, std::size_t moment) {
  return std::any_of(node.syncs.begin(), node.syncs.end(),
                     [&](const Span& sync) { return when.end < sync.begin && sync.end < moment; });
}

void SimulatedDisk::apply(const Data& data, Choices::Write how, bool durable, Choices& choices,
                          std::string& bytes) {
  using Write = Choices::Write;
  if (how == Write::lost) return;
  if (data.resize) {
    bytes.resize(data.length);
    return;
  }
  const std::size_t begin = data.offset;
  const std::size_t end = begin + data.bytes.size();
  // A hole that is durable is zeros.
  if (bytes.size() < end) bytes.resize(end, !durable && choices.garbage() ? '\x5a' : '\0');
  const std::size_t middle = begin + (end - begin) / 2 / kSector * kSector;
  for (std::size_t at = begin; at < end;) {
    const std::size_t next = std::min((at / kSector + 1) * kSector, end);
    const bool there = how == Write::whole || (how == Write::first_half && at < middle) ||
                       (how == Write::second_half && at >= middle) ||
                       (how == Write::torn && choices.sector());
    if (there) bytes.replace(at, next - at, data.bytes, at - begin, next - at);
    at = next;
  }
}

std::string SimulatedDisk::bytes_after_loss(const Node& node, std::size_t moment,
                                            Choices& choices) const {
  std::string bytes = node.start;
  for (const Data& data : node.data) {
    if (data.when.begin >= moment) continue;
    const bool durable = covered(node, data.when, moment);
    const auto how = durable ? Choices::Write::whole : choices.write(data.resize);
    apply(data, how, durable, choices, bytes);
  }
  return bytes;
}

void SimulatedDisk::build(int number, const std::string& path, std::size_t moment, Choices& choices,
                          std::map<int, std::string>& built, DiskState& state) const {
  const Node& node = nodes_[static_cast<std::size_t>(number)];
  std::map<std::string, int> names = node.names;
  for (const Change& change : node.changes) {
    if (change.when.begin >= moment) continue;
    if (!covered(node, change.when, moment) && !choices.name()) continue;
    if (!change.removed.empty()) {
      const auto found = names.find(change.removed);
      if (found != names.end() && (change.added.empty() || found->second == change.node)) {
        names.erase(found);
      }
    }
    if (!change.added.empty()) names[change.added] = change.node;
  }
  for (const auto& [name, child] : names) {
    const std::string below = path.empty() ? name : path + "/" + name;
    const Node& its = nodes_[static_cast<std::size_t>(child)];
    if (its.directory) {
      state.directories.push_back(below);
      build(child, below, moment, choices, built, state);
      continue;
    }
    auto found = built.find(child);
    if (found == built.end()) {
      found = built.emplace(child, bytes_after_loss(its, moment, choices)).first;
    }
    state.files[below] = found->second;
  }
}

DiskState SimulatedDisk::after_loss(std::size_t moment, Choices& choices) const {
  const std::lock_guard lock(mutex_);
  DiskState state;
  std::map<int, std::string> built;
  build(0, "", moment, choices, built, state);
  return state;
}

std::vector<DiskState> SimulatedDisk::corners(std::size_t moment) const {
  constexpr std::size_t most_names = 6;  // more are not tried in each combination
  std::vector<DiskState> states;
  std::size_t names = 0;
  const auto add = [&](Choices choices) {
    DiskState state = after_loss(moment, choices);
    names = std::max(names, std::min(choices.names_asked(), most_names));
    if (std::find(states.begin(), states.end(), state) == states.end()) {
      states.push_back(std::move(state));
    }
  };
  for (const Loss corner : kCorners) add(Choices(corner));
  for (std::uint64_t some = 1; some < std::uint64_t{1} << names; ++some) {
    add(Choices::of_names(some, true));
    add(Choices::of_names(some, false));
  }
  return states;
}

}  // namespace handoff::test
