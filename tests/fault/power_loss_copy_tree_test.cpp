// SPDX-License-Identifier: MIT
//
// copy_tree() and loss of power: a durable copy that has ended is there, whole, with links, modes
// and times; before, nothing under a final name is half there, and what was there is as it was or
// replaced. Each single sync that is left out is noticed.
#include <sys/xattr.h>

#include "fault/fault_support.hpp"
#include "fault/power_loss.hpp"
#include "support/test.hpp"

namespace power_loss_copy_tree_test { namespace {

using namespace handoff;
using namespace test;

// What to copy, and what is there.
struct Case {
  const char* name;
  std::function<void(const Folder& from, const std::string& to)> prepare;
  std::vector<std::string> sources;  // below `from`
  std::string target;                // below `to`; "": that itself
  std::vector<std::pair<std::string, std::string>> becomes;  // a source's path, and the copy's
  bool verify = false;
};

void set_mode(const std::string& path, mode_t mode) { ASSERT_EQ(::chmod(path.c_str(), mode), 0); }
void set_time(const std::string& path, time_t seconds) {
  const timespec times[2] = {{seconds, 7}, {seconds, 42}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
}

void make_tree(const Folder& from) {
  std::filesystem::create_directories(from.at("tree/sub/deep"));
  from.put("tree/a", filled(1700, 1));
  from.put("tree/empty", "");
  from.put("tree/sub/b", filled(1200, 2));
  from.put("tree/sub/deep/c", filled(600, 3));
  from.put("tree/one", filled(700, 4));
  std::filesystem::create_hard_link(from.at("tree/one"), from.at("tree/sub/two"));
  std::filesystem::create_symlink("a", from.at("tree/link"));
  std::filesystem::create_symlink("/nowhere/at/all", from.at("tree/sub/broken"));
  ASSERT_EQ(::mkfifo(from.at("tree/fifo").c_str(), 0640), 0);
  {
    std::ofstream sparse(from.at("tree/sparse"), std::ios::binary);
    sparse.seekp(20'000).write("end", 3);
  }
  (void)::setxattr(from.at("tree/a").c_str(), "user.color", "red", 3, 0);
  set_mode(from.at("tree/a"), 0600);
  set_mode(from.at("tree/sub/b"), 0444);
  set_mode(from.at("tree/sub"), 0750);
  time_t time = 1'000'000'000;
  for (const char* const name :
       {"tree/a", "tree/sub/b", "tree/link", "tree/fifo", "tree/sub/deep", "tree/sub", "tree"}) {
    set_time(from.at(name), time++);
  }
}

void tree_beside_other(const Folder& from, const std::string& to) {
  make_tree(from);
  std::ofstream(to + "/other") << "other";
}

// Some of it is there in another form.
void tree_into_old(const Folder& from, const std::string& to) {
  make_tree(from);
  std::filesystem::create_directories(to + "/tree/sub");
  for (const char* const name : {"/tree/a", "/tree/link", "/tree/sub/b", "/tree/sub/two"}) {
    std::ofstream(to + name) << filled(900, 50) << name;
  }
  std::filesystem::create_symlink("elsewhere", to + "/tree/one");
  std::ofstream(to + "/tree/sub/keep") << "keep";
}

void one_file(const Folder& from, const std::string& to) {
  from.put("a", filled(1100, 6));
  std::ofstream(to + "/old") << filled(2000, 7);
}

void large_file(const Folder& from, const std::string& /*to*/) {
  std::filesystem::create_directories(from.at("tree"));
  from.put("tree/large", filled(300'000, 8));
}

void small_tree(const Folder& from, const std::string& /*to*/) {
  std::filesystem::create_directories(from.at("tree"));
  from.put("tree/a", filled(700, 9));
  std::filesystem::create_symlink("a", from.at("tree/link"));
}

const std::vector<Case>& small_cases() {
  static const std::vector<Case> all{
      {"new file", one_file, {"a"}, "new", {{"a", "new"}}},
      {"old file", one_file, {"a"}, "old", {{"a", "old"}}},
      {"small tree", small_tree, {"tree"}, "tree", {{"tree", "tree"}}},
  };
  return all;
}
const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      small_cases()[0],
      small_cases()[1],
      {"new tree", tree_beside_other, {"tree"}, "new", {{"tree", "new"}}},
      {"into old", tree_into_old, {"tree"}, "", {{"tree", "tree"}}},
      {"contents", tree_beside_other, {"tree/."}, "", {{"tree", ""}}},
      {"verified", tree_beside_other, {"tree"}, "new", {{"tree", "new"}}, true},
      {"several",
       tree_beside_other,
       {"tree/sub", "tree/a", "tree/link", "tree/one"},
       "",
       {{"tree/sub", "sub"}, {"tree/a", "a"}, {"tree/link", "link"}, {"tree/one", "one"}}},
      {"large", large_file, {"tree"}, "new", {{"tree", "new"}}},
  };
  return all;
}

bool is_temporary(std::string_view path) {
  return path.find(".handoff~") != std::string_view::npos;
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// What stands under a name, in words; "" if nothing. `attributes`: with them.
std::string thing(const DiskState& state, const std::string& path, bool attributes = true) {
  std::string text;
  const auto add = [&](const char* what, const std::map<std::string, std::string>& all) {
    const auto found = all.find(path);
    if (found != all.end()) text = what + found->second;
  };
  add("file ", state.files);
  add("link ", state.links);
  add("special ", state.specials);
  const auto& directories = state.directories;
  if (std::find(directories.begin(), directories.end(), path) != directories.end()) {
    text = "directory";
  }
  const auto its = state.attributes.find(path);
  if (text.empty() || !attributes || its == state.attributes.end()) return text;
  for (const auto& [key, value] : its->second) text.append(" ").append(key) += "=" + value;
  return text;
}

std::string brief(const std::string& text) { return text.empty() ? "nothing" : text.substr(0, 60); }

std::vector<std::string> paths_of(const DiskState& state) {
  std::vector<std::string> paths = state.directories;
  for (const auto* const all : {&state.files, &state.links, &state.specials}) {
    for (const auto& [path, what] : *all) paths.push_back(path);
  }
  return paths;
}

std::string first_name(const DiskState& state, const std::string& path) {
  const auto found = state.same.find(path);
  return found == state.same.end() ? path : found->second;
}

// What was there and what is to be there.
class Promise {
 public:
  Promise(const Case& of, const DiskState& source, DiskState before) : before_(std::move(before)) {
    for (const auto& [from, to] : of.becomes) {
      for (const std::string& path : paths_of(source)) {
        if (path == from || is_below(path, from)) add(source, path, to + path.substr(from.size()));
      }
    }
    // Of all names of a file, those that are copied.
    std::map<std::string, std::string> firsts;
    for (const auto& [path, from] : from_) {
      const auto [first, is_new] = firsts.try_emplace(first_name(source, from), path);
      if (!is_new) after_.same[path] = first->second;
    }
  }

  // From when it was acknowledged.
  std::string fault_after(const DiskState& state) const {
    for (const auto& [path, from] : from_) {
      const std::string is = thing(state, path);
      const std::string wanted = thing(after_, path);
      if (is != wanted) return path + " is " + brief(is) + ", not " + brief(wanted);
      if (first_name(state, path) != first_name(after_, path)) return path + " is another file";
    }
    for (const std::string& path : paths_of(before_)) {
      if (from_.contains(path)) continue;
      if (thing(state, path) != thing(before_, path)) return path + " was there, and is changed";
    }
    for (const std::string& path : paths_of(state)) {
      if (thing(before_, path).empty() && !from_.contains(path)) return path + " is left behind";
    }
    return "";
  }

  // ... without attributes, beside what a loss left.
  std::string fault_of_contents(const DiskState& state) const {
    for (const auto& [path, from] : from_) {
      if (thing(state, path, false) != thing(after_, path, false)) return path + " is not whole";
    }
    return "";
  }

  // Until then.
  std::string fault_before(const DiskState& state) const {
    for (const std::string& path : paths_of(before_)) {
      const std::string is = thing(state, path, false);
      const bool as_before = is == thing(before_, path, false);
      if (as_before || (from_.contains(path) && is == thing(after_, path, false))) continue;
      return path + " was there, and is " + brief(is);
    }
    for (const std::string& path : paths_of(state)) {
      if (is_temporary(path)) continue;
      const std::string is = thing(state, path);
      if (is == thing(before_, path) || is == thing(after_, path)) {
        const std::string lacks = missing_below(state, path);
        if (!lacks.empty()) return path + " has its name, and " + lacks + " is missing";
        continue;
      }
      // The attributes of a directory that was there change one by one.
      const bool merged = thing(before_, path, false) == "directory";
      if (!merged || thing(state, path, false) != "directory") {
        return path + " is " + brief(is) + ", not " + brief(thing(after_, path));
      }
    }
    for (const auto& [path, first] : after_.same) {
      const bool both =
          thing(state, path) == thing(after_, path) && thing(state, first) == thing(after_, first);
      if (both && first_name(state, path) != first_name(state, first)) {
        return path + " is another file than " + first;
      }
    }
    return "";
  }

 private:
  void add(const DiskState& source, const std::string& from, std::string path) {
    if (path.starts_with('/')) path.erase(0, 1);  // into the root itself
    if (path.empty()) return;
    from_[path] = from;
    const auto take = [&](const auto& of, auto& into) {
      const auto found = of.find(from);
      if (found != of.end()) into[path] = found->second;
    };
    take(source.files, after_.files);
    take(source.links, after_.links);
    take(source.specials, after_.specials);
    take(source.attributes, after_.attributes);
    if (thing(source, from, false) == "directory") after_.directories.push_back(path);
  }

  // Of a directory that is new.
  std::string missing_below(const DiskState& state, const std::string& folder) const {
    if (!thing(before_, folder).empty() || thing(state, folder, false) != "directory") return "";
    for (const auto& [path, from] : from_) {
      if (is_below(path, folder) && thing(state, path) != thing(after_, path)) return path;
    }
    return "";
  }

  DiskState before_;
  DiskState after_;
  std::map<std::string, std::string> from_;  // a copy's path: its source's
};

struct Run {
  bool durable = true;
  std::size_t width = 2;
  int dropped_sync = -1;
};

// A copy on a disk of its own.
class Copy {
 public:
  Copy(const Case& of, const Run& run) : root_(test::fast_place()), from_(root_.path()) {
    const std::string to = root_.at("to");
    std::filesystem::create_directories(to);
    of.prepare(from_, to);
    const DiskState source = test::read_state(from_.path(), Watch::attributes_too);
    promise_.emplace(of, source, test::read_state(to, Watch::attributes_too));
    disk_.emplace(to, Watch::attributes_too);
    disk_->drop_sync(run.dropped_sync);
    std::vector<std::string> sources;
    for (const std::string& name : of.sources) sources.push_back(from_.at(name));
    const CopyTreeResult result = copy_tree(
        sources, of.target.empty() ? to : to + "/" + of.target,
        {.width = run.width, .durable = run.durable, .verify = of.verify, .tap = &*disk_});
    acknowledged_ = disk_->now();
    moments_ = disk_->moments();
    moments_.push_back(acknowledged_);
    for (const CopyTreeProblem& problem : result.problems) ADD_FAILURE() << problem.text();
    EXPECT_TRUE(result.ok()) << of.name << result.refusal;
    // The copy itself, and what the disk makes of it.
    EXPECT_EQ(promise_->fault_after(test::read_state(to, Watch::attributes_too)), "") << of.name;
    Choices all(Loss::all_kept);
    EXPECT_EQ(promise_->fault_after(disk_->after_loss(acknowledged_, all)), "") << of.name;
  }

  const SimulatedDisk& disk() const { return *disk_; }
  // Looks for faults after a loss of power at each moment; the last one is when the copy was
  // acknowledged.
  Losses losses() {
    return {*disk_, [this](std::size_t moment, const DiskState& left) {
              left_ = left;
              return moment >= acknowledged_ ? promise_->fault_after(left)
                                             : promise_->fault_before(left);
            }};
  }
  const Losses::Moments& moments() const { return moments_; }
  std::string fault_at_corners() { return losses().at_corners(moments_, Losses::Many::left_out); }
  const DiskState& left() const { return left_; }

  const Folder& root() const { return root_; }
  const Promise& promise() const { return *promise_; }
  std::string source(const std::string& name) const { return from_.at(name); }

 private:
  Folder root_;
  Folder from_;
  std::optional<Promise> promise_;
  std::optional<SimulatedDisk> disk_;
  std::size_t acknowledged_ = 0;
  Losses::Moments moments_;
  DiskState left_;
};

TEST(PowerLossCopyTree, WhatHasEndedIsThereAndNothingIsHalf) {
  std::size_t losses = 0;
  for (const Case& of : cases()) {
    for (const std::size_t width : {std::size_t{1}, std::size_t{3}}) {
      Copy copy(of, {.width = width});
      Losses each = copy.losses();
      EXPECT_EQ(each.at_corners(copy.moments(), Losses::Many::left_out), "") << of.name;
      EXPECT_EQ(each.at_random(copy.moments(), test::deep() ? 2000 : 100, 1), "") << of.name;
      losses += each.count();
    }
  }
  std::printf("%zu losses of power: they fail at a rate below %.2g (95 %%)\n", losses,
              3.0 / static_cast<double>(losses));
}

TEST(PowerLossCopyTree, SmallOnesInEachState) {
  for (const Case& of : small_cases()) {
    Copy copy(of, {.width = 1});
    Losses losses = copy.losses();
    ASSERT_EQ(losses.of_each_state(copy.moments()), "") << of.name;
    std::printf("%-12s %zu states, all of them\n", of.name, losses.count());
  }
}

TEST(PowerLossCopyTree, EachSyncIsNeeded) {
  for (const Case& of : cases()) {
    const std::vector<std::string> syncs = Copy(of, {.width = 1}).disk().syncs();
    EXPECT_GT(syncs.size(), 0U) << of.name;
    for (std::size_t n = 0; n < syncs.size(); ++n) {
      Copy copy(of, {.width = 1, .dropped_sync = static_cast<int>(n)});
      EXPECT_NE(copy.fault_at_corners(), "")
          << of.name << " does not need its sync " << n << ": " << syncs[n];
    }
  }
}

// The canary.
TEST(PowerLossCopyTree, WhatIsNotDurableIsFoundMissing) {
  for (const Case& of : cases())
    EXPECT_NE(Copy(of, {.durable = false}).fault_at_corners(), "") << of.name;
}

// Whatever is left, the same copy once more makes it whole.
TEST(PowerLossCopyTree, ACopyOverWhatIsLeft) {
  auto random = test::random(5);
  for (const Case& of : cases()) {
    Copy copy(of, {});
    for (std::size_t i = 0; i < test::rounds(20); ++i) {
      Choices choices(Loss::random, random());
      const std::size_t moment = copy.moments()[random() % copy.moments().size()];
      ASSERT_EQ(copy.losses().lose(moment, choices), "");
      DiskState left = copy.left();
      const std::string folder = copy.root().at("again");
      test::write_state(left, folder);
      std::vector<std::string> sources;
      for (const std::string& name : of.sources) sources.push_back(copy.source(name));
      const std::string to = of.target.empty() ? folder : folder + "/" + of.target;
      // A directory of this name that was copied whole would get the source inside.
      const bool there = std::filesystem::is_directory(to) && !of.target.empty();
      if (there) sources = {sources.front() + "/."};
      const CopyTreeResult result = copy_tree(sources, to);
      for (const CopyTreeProblem& problem : result.problems) ADD_FAILURE() << problem.text();
      ASSERT_TRUE(result.ok()) << of.name << result.refusal;
      ASSERT_EQ(copy.promise().fault_of_contents(test::read_state(folder)), "") << of.name;
    }
  }
}

}}  // namespace power_loss_copy_tree_test
