// SPDX-License-Identifier: MIT
//
// The simulated disk: states that a loss leaves, and how it chooses among them.
#include <sys/xattr.h>

#include "fault/power_loss.hpp"
#include "support/test.hpp"

namespace handoff::test {
namespace {

constexpr std::size_t kSector = 512;

// The first name of each file that has several.
void note_same(std::vector<std::string> paths, DiskState& state) {
  std::sort(paths.begin(), paths.end());
  for (std::size_t i = 1; i < paths.size(); ++i) state.same[paths[i]] = paths[0];
}

Attributes extended_attributes(const std::string& path, bool follow) {
  Attributes found;
  std::array<char, 4096> keys{};
  const auto list = follow ? ::listxattr : ::llistxattr;
  const auto get = follow ? ::getxattr : ::lgetxattr;
  const ssize_t bytes = list(path.c_str(), keys.data(), keys.size());
  for (ssize_t at = 0; at < bytes;) {
    const std::string key(keys.data() + at);
    at += std::ssize(key) + 1;
    if (key.starts_with("security.")) continue;
    std::array<char, 4096> value{};
    const ssize_t length = get(path.c_str(), key.c_str(), value.data(), value.size());
    if (length >= 0) found[key] = std::string(value.data(), static_cast<std::size_t>(length));
  }
  return found;
}

}  // namespace

Attributes read_attributes(int descriptor, const std::string& name, bool times) {
  struct stat status{};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
  if (::fstatat(descriptor, name.c_str(), &status, flags) != 0) return {};
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  if (!name.empty()) path += "/" + name;
  Attributes found = extended_attributes(path, name.empty());  // a link of /proc is followed
  found["owner"] = std::to_string(status.st_uid) + ":" + std::to_string(status.st_gid);
  if (!S_ISLNK(status.st_mode)) found["mode"] = std::to_string(status.st_mode & 07777U);
  if (times) {
    found["times"] =
        std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
  }
  return found;
}

void write_state(const DiskState& state, const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const std::string& path : state.directories) {
    std::filesystem::create_directories(folder + "/" + path);
  }
  for (const auto& [path, bytes] : state.files) {
    if (state.same.contains(path)) continue;
    std::ofstream(folder + "/" + path, std::ios::binary) << bytes;
  }
  for (const auto& [path, target] : state.links) {
    if (!state.same.contains(path)) std::filesystem::create_symlink(target, folder + "/" + path);
  }
  for (const auto& [path, what] : state.specials) {
    const auto type = static_cast<mode_t>(std::stoul(what));
    if (!state.same.contains(path)) (void)::mknod((folder + "/" + path).c_str(), type | 0600, 0);
  }
  for (const auto& [path, first] : state.same) {
    std::filesystem::create_hard_link(folder + "/" + first, folder + "/" + path);
  }
}

void StateFolder::write(const DiskState& state) {
  const bool plain = state.links.empty() && state.specials.empty() && state.same.empty();
  if (!plain || !there_.has_value() || there_->directories != state.directories) {
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
  if (!plain) there_.reset();
}

DiskState read_state(const std::string& folder, Watch watch) {
  DiskState state;
  std::map<std::uint64_t, std::vector<std::string>> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string whole = entry.path().string();
    const std::string path = entry.path().lexically_relative(folder).string();
    struct stat status{};
    if (::lstat(whole.c_str(), &status) != 0) continue;
    if (watch == Watch::attributes_too) {
      const int in = ::open(entry.path().parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      state.attributes[path] = read_attributes(in, entry.path().filename().string(), true);
      ::close(in);
    }
    if (S_ISDIR(status.st_mode)) {
      state.directories.push_back(path);
      continue;
    }
    if (S_ISREG(status.st_mode)) state.files[path] = contents(whole);
    else if (S_ISLNK(status.st_mode)) state.links[path] = std::filesystem::read_symlink(whole);
    else state.specials[path] = std::to_string(status.st_mode & S_IFMT);
    paths[status.st_ino].push_back(path);
  }
  for (auto& [inode, its] : paths) note_same(std::move(its), state);
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

bool Choices::attribute() {
  if (every_) return pick(2) == 1;
  if (loss_ == Loss::random) return random_() % 100 < data_percent_;
  return loss_ != Loss::all_lost && loss_ != Loss::names_kept;
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

bool SimulatedDisk::covered(const Node& node, const Span& when, std::size_t moment,
                            bool attribute) const {
  const auto covers = [&](const Span& sync) { return when.end < sync.begin && sync.end < moment; };
  return std::any_of(whole_syncs_.begin(), whole_syncs_.end(), covers) ||
         std::any_of(node.syncs.begin(), node.syncs.end(), [&](const Sync& sync) {
           return covers(sync.when) && !(attribute && sync.data_only);
         });
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
    const bool durable = covered(node, data.when, moment, false);
    const auto how = durable ? Choices::Write::whole : choices.write(data.resize);
    apply(data, how, durable, choices, bytes);
  }
  return bytes;
}

// A change in two directories is seen in each of them.
bool SimulatedDisk::has_happened(const Node& node, const Change& change, Building& building) const {
  if (covered(node, change.when, building.moment, false)) return true;
  if (change.together < 0) return building.choices.name();
  const auto known = building.together.find(change.together);
  if (known != building.together.end()) return known->second;
  return building.together[change.together] = building.choices.name();
}

void SimulatedDisk::build_attributes(int number, const std::string& path,
                                     Building& building) const {
  if (watch_ == Watch::contents || path.empty()) return;
  const Node& node = at(number);
  Attributes& its = building.state.attributes[path] = node.attributes;
  for (const AttributeChange& change : node.attribute_changes) {
    if (change.when.begin >= building.moment) continue;
    const bool durable = covered(node, change.when, building.moment, true);
    if (!durable && !building.choices.attribute()) continue;
    if (change.value.has_value()) its[change.key] = *change.value;
    else its.erase(change.key);
  }
}

void SimulatedDisk::build_other(int number, const std::string& path, Building& building) const {
  const Node& node = at(number);
  std::vector<std::string>& paths = building.paths[number];
  if (paths.empty()) {
    if (node.type == Type::file) {
      building.bytes[number] = bytes_after_loss(node, building.moment, building.choices);
    }
    build_attributes(number, path, building);
  } else if (watch_ == Watch::attributes_too) {
    building.state.attributes[path] = building.state.attributes[paths.front()];
  }
  paths.push_back(path);
  switch (node.type) {
    case Type::file: building.state.files[path] = building.bytes[number]; break;
    case Type::link: building.state.links[path] = node.start; break;
    default: building.state.specials[path] = node.start; break;
  }
}

void SimulatedDisk::build(int number, const std::string& path, Building& building) const {
  const Node& node = at(number);
  std::map<std::string, int> names = node.names;
  for (const Change& change : node.changes) {
    if (change.when.begin >= building.moment || !has_happened(node, change, building)) continue;
    for (const Edit& edit : change.edits) {
      if (edit.adds) {
        names[edit.name] = edit.node;
      } else if (const auto found = names.find(edit.name);
                 found != names.end() && (edit.node < 0 || found->second == edit.node)) {
        names.erase(found);
      }
    }
  }
  build_attributes(number, path, building);
  building.above.push_back(number);
  for (const auto& [name, child] : names) {
    const std::string below = path.empty() ? name : path + "/" + name;
    if (at(child).type != Type::directory) {
      build_other(child, below, building);
      continue;
    }
    // Renames of which some are lost may leave a circle.
    const auto& above = building.above;
    if (std::find(above.begin(), above.end(), child) != above.end()) continue;
    building.state.directories.push_back(below);
    build(child, below, building);
  }
  building.above.pop_back();
}

DiskState SimulatedDisk::after_loss(std::size_t moment, Choices& choices) const {
  const std::lock_guard lock(mutex_);
  Building building{.moment = moment, .choices = choices};
  build(0, "", building);
  for (auto& [node, paths] : building.paths) note_same(std::move(paths), building.state);
  return std::move(building.state);
}

std::vector<std::size_t> SimulatedDisk::moments() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::size_t> moments{0};
  for (const Span& sync : whole_syncs_) moments.push_back(sync.end + 1);
  for (const Node& node : nodes_) {
    for (const Sync& sync : node.syncs) moments.push_back(sync.when.end + 1);
    const auto begin = [&](const auto& changes) {
      for (const auto& change : changes) moments.push_back(change.when.begin + 1);
    };
    begin(node.data);
    begin(node.changes);
    begin(node.attribute_changes);
  }
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  return moments;
}

// ---- Losses ----

Losses::Moments Losses::all_moments(std::size_t first) const {
  Moments moments(disk_.now() + 1 - first);
  std::iota(moments.begin(), moments.end(), first);
  return moments;
}

std::string Losses::lose(std::size_t moment, Choices& choices) {
  ++count_;
  const std::string fault = look_(moment, disk_.after_loss(moment, choices));
  if (fault.empty()) return "";
  return fault + " (moment " + std::to_string(moment) + " of " + std::to_string(disk_.now()) + ")";
}

std::string Losses::at_corners(const Moments& moments, Many many) {
  constexpr std::size_t few_names = 6;
  for (const std::size_t moment : moments) {
    std::size_t names = 0;
    for (const Loss corner : kCorners) {
      Choices choices(corner);
      if (std::string fault = lose(moment, choices); !fault.empty()) return fault;
      names = std::max(names, choices.names_asked());
    }
    if (names > few_names && many == Many::left_out) continue;
    const std::uint64_t sets = std::uint64_t{1} << std::min(names, few_names);
    for (std::uint64_t some = 1; some < sets; ++some) {
      for (const bool data_kept : {true, false}) {
        Choices choices = Choices::of_names(some, data_kept);
        if (std::string fault = lose(moment, choices); !fault.empty()) return fault;
      }
    }
  }
  return "";
}

std::string Losses::at_random(const Moments& moments, std::size_t count, std::uint64_t stream,
                              Draw draw) {
  auto random = test::random(stream);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t moment = moments[random() % moments.size()];
    const std::size_t which = random() % (kCorners.size() + 2);
    const bool is_corner = draw == Draw::mostly_corners && which < kCorners.size();
    Choices choices(is_corner ? kCorners[which] : Loss::random, random());
    if (std::string fault = lose(moment, choices); !fault.empty()) return fault;
  }
  return "";
}

std::string Losses::of_each_state(const Moments& moments) {
  constexpr std::size_t most = 200'000;
  for (const std::size_t moment : moments) {
    Choices choices = Choices::every();
    do {
      if (std::string fault = lose(moment, choices); !fault.empty()) return fault;
      if (count_ > most) return "too large for this";
    } while (choices.next());
  }
  return "";
}

}  // namespace handoff::test
