// SPDX-License-Identifier: MIT
//
// copy_tree() and names that are not what they seem: links that are swapped in at any moment,
// devices and FIFOs in the place of the copy, slashes, zero bytes, many sources, directories that
// may be entered and not read, file systems that take short names only.
#include <sys/sysmacros.h>

#include "support/file_tap.hpp"
#include "support/limit.hpp"
#include "support/somebody.hpp"
#include "support/test.hpp"
#include "unit/file/copy_tree_support.hpp"

namespace handoff { namespace {

namespace fs = std::filesystem;
using detail::FileCallKind;
using detail::FileCallView;
using namespace test;

// ---- Links that are swapped in ----

struct Place {
  fs::path victim;  // "*": what has a temporary name
  fs::path bait;
};

// The victim is moved aside, if it is there, and a link is put in its place.
void swap(const Place& place) {
  fs::path victim = place.victim;
  if (victim.filename() == "*") {
    victim.clear();
    for (const auto& entry : fs::directory_iterator(place.victim.parent_path())) {
      if (entry.path().string().ends_with(".handoff~")) victim = entry.path();
    }
  }
  struct stat there{};
  if (victim.empty() || lstat(victim.c_str(), &there) != 0) return;
  EXPECT_EQ(rename(victim.c_str(), (victim.string() + ".aside").c_str()), 0) << victim;
  EXPECT_EQ(symlink(place.bait.c_str(), victim.c_str()), 0) << victim;
}

class SwappedLinks : public CopyTreeOften {
 protected:
  void fresh() {
    for (const char* const name : {"from", "to", "outside"}) fs::remove_all(base / name);
    fs::create_directories(base / "outside" / "folder");
    put(base / "outside" / "secret", "secret");
    put(base / "outside" / "folder" / "file", "secret");
    for (const fs::path& root : {from, to / "from"}) {
      fs::create_directories(root / "folder");
      put(root / "folder" / "file", root == from ? "new" : "old");
      put(root / "plain", root == from ? "new" : "old");
    }
    put(from / "twice", "new");
    fs::create_hard_link(from / "twice", from / "folder" / "again");
    ASSERT_EQ(mkfifo((from / "fifo").c_str(), 0666), 0);
    fs::create_symlink("plain", from / "link");
    outside_ = outside();
  }
  // What is there, and how.
  std::string outside() const {
    std::string all;
    for (const auto& entry : fs::recursive_directory_iterator(base / "outside")) {
      const struct stat is = look(entry.path());
      all += entry.path().string() + ' ' + std::to_string(is.st_mode) + ' ' +
             std::to_string(is.st_uid) + ' ' + std::to_string(is.st_mtim.tv_nsec) + ' ' +
             std::to_string(is.st_nlink) + ' ';
      if (entry.is_regular_file()) all += test::contents(entry.path());
    }
    return all;
  }
  // "", or what should not be.
  std::string fault() const {
    if (outside() != outside_) return "what lies outside has changed";
    for (const auto& entry : fs::recursive_directory_iterator(to)) {
      if (!entry.is_symlink() && entry.is_regular_file() &&
          test::contents(entry.path()) == "secret") {
        return entry.path().string() + " holds what lies outside";
      }
    }
    return "";
  }

  std::vector<Place> places() const {
    const fs::path secret = base / "outside" / "secret";
    const fs::path folder = base / "outside" / "folder";
    return {{from / "plain", secret},         {from / "folder" / "file", secret},
            {from / "twice", secret},         {from / "fifo", secret},
            {from / "folder", folder},        {to / "from" / "plain", secret},
            {to / "from" / "folder", folder}, {to / "from" / "*", secret},
            {to / "from" / "*", folder},      {to / "from" / "folder" / "*", secret}};
  }

 private:
  std::string outside_;
};

TEST_F(SwappedLinks, AreFollowedAtNoCall) {
  for (const Place& place : places()) {
    bool more = true;
    for (long which = 0; more; which += test::slow && !test::deep() ? 3 : 1) {
      fresh();
      long seen = 0;
      TapOf tap([&](const FileCallView& call) {
        if (seen++ == which) swap(place);
        return answer_if(is_sync(call), 0);
      });
      static_cast<void>(copy_tree(
          {from}, to,
          {.width = 1, .durable = which % 5 == 0, .verify = which % 2 == 0, .tap = &tap}));
      ASSERT_EQ(fault(), "") << place.victim << " at call " << which;
      more = seen > which;
    }
  }
}

TEST_F(SwappedLinks, CanaryWhoFollowsOneIsFound) {
  for (const Place& place : places()) {
    if (place.victim.filename() == "*" || place.victim.filename() == "fifo") continue;
    fresh();
    swap(place);
    fs::remove(from / "fifo");
    std::error_code ignored;
    fs::copy(from, to / "from", fs::copy_options::recursive | fs::copy_options::overwrite_existing,
             ignored);
    EXPECT_NE(fault(), "") << place.victim;
  }
}

// A directory is closed while the walk is deep below it, and opened again by way of what is in it,
// or by its name, if it has that still.
TEST_F(CopyTreeOften, a_directory_that_is_moved_away_leads_into_no_other) {
  const fs::path third = fs::path("1") / "2" / "3";
  fs::path deep = "4";
  for (int level = 5; level < 25; ++level) deep /= std::to_string(level);
  const fs::path outside = base / "outside";
  for (const int way : {0, 1, 2, 3}) {
    const fs::path& moved = way < 2 ? from : to;
    for (const fs::path& root : {from, to, outside}) fs::remove_all(root);
    for (const fs::path& folder : {from / third, outside}) {
      for (const char* const name : {"a", "z"}) {  // one of them comes after the deep one
        fs::create_directories(folder / name);
        put(folder / name / "inner", folder == outside ? "secret" : "new");
        fs::create_directories(from / third / deep);
      }
    }
    put(from / third / deep / "leaf", "new");
    fs::create_directories(to / third / deep);
    chmod(outside.c_str(), 0700);
    bool done = false;
    TapOf tap([&](const FileCallView& call) -> Verdict {
      if (call.kind != FileCallKind::open || std::string_view(call.path) != "leaf") return {};
      if (std::exchange(done, true)) return {};
      fs::rename(moved / third / "4", outside / "4");
      if (way % 2 != 0) fs::rename(moved / third, outside / "3");
      return {};
    });
    const auto descriptors = open_descriptors();
    {
      const test::Limit few(RLIMIT_NOFILE, 64);
      (void)copy_tree({(from / ".").string()}, to, {.width = 1, .tap = &tap});
    }
    EXPECT_TRUE(done);
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_EQ(look(outside).st_mode & 0777, 0700u) << "it is another";
    EXPECT_EQ(contents_below(outside / "a").size(), 1u);
    for (const auto& [name, text] : contents_below(to)) EXPECT_EQ(text, "new") << name;
  }
}

// ---- What stands where the copy is to be ----

struct Kind {
  const char* name;
  std::function<bool(const fs::path&)> make;  // false: it may not be made here
};

std::vector<Kind> kinds() {
  return {
      {"file", [](const fs::path& at) { return put(at, "text"), true; }},
      {"link", [](const fs::path& at) { return symlink("nowhere", at.c_str()) == 0; }},
      {"folder", [](const fs::path& at) { return fs::create_directory(at); }},
      {"fifo", [](const fs::path& at) { return mkfifo(at.c_str(), 0600) == 0; }},
      {"socket", [](const fs::path& at) { return mknod(at.c_str(), S_IFSOCK | 0600, 0) == 0; }},
      {"character device",
       [](const fs::path& at) { return mknod(at.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0; }},
      {"block device",
       [](const fs::path& at) { return mknod(at.c_str(), S_IFBLK | 0600, makedev(7, 0)) == 0; }},
  };
}

// All pairs. Nothing waits for the other end of a FIFO, and nothing is written into anything.
TEST_F(CopyTree, devices_fifos_and_sockets_are_replaced_by_their_kind_only) {
  for (const Kind& source : kinds()) {
    for (const Kind& target : kinds()) {
      SCOPED_TRACE(std::string(source.name) + " onto " + target.name);
      fs::remove_all(base);
      fs::create_directories(base / "in");
      if (!source.make(base / "a") || !target.make(base / "in" / "a")) continue;
      const mode_t kind = look(base / "in" / "a").st_mode & S_IFMT;
      const mode_t other = look(base / "a").st_mode & S_IFMT;
      const CopyTreeResult result = copy_tree({base / "a"}, base / "in");
      const bool may = kind == other || (kind != S_IFDIR && other != S_IFDIR &&
                                         (kind == S_IFREG || kind == S_IFLNK));
      EXPECT_EQ(result.ok(), may) << told(result);
      EXPECT_EQ(look(base / "in" / "a").st_mode & S_IFMT, may ? other : kind);
      expect_clean();
    }
  }
}

TEST_F(CopyTree, a_fifo_in_place_of_a_file_is_told_and_not_waited_for) {
  put(from / "file", "text");
  bool done = false;
  // It is one from the moment on at which the file is opened.
  TapOf tap([&](const FileCallView& call) -> Verdict {
    if (call.kind != FileCallKind::open || std::string_view(call.path) != "file") return {};
    if (std::exchange(done, true)) return {};
    EXPECT_EQ(unlink((from / "file").c_str()), 0);
    EXPECT_EQ(mkfifo((from / "file").c_str(), 0600), 0);
    return {};
  });
  EXPECT_EQ(copy_tree({from}, to, {.tap = &tap}).problems.size(), 1u);
}

TEST_F(CopyTree, a_slash_behind_the_destination_says_that_it_is_a_directory) {
  put(base / "file", "new");
  put(base / "old", "old");
  put(from / "in", "in");
  for (const char* const slashes : {"/", "//"}) {
    EXPECT_NE(copy_tree({base / "file"}, (base / "none").string() + slashes).refusal, "");
    EXPECT_FALSE(fs::exists(base / "none"));
    EXPECT_NE(copy_tree({base / "file"}, (base / "old").string() + slashes).refusal, "");
    EXPECT_FALSE(copy_tree({from}, (base / "old").string() + slashes).ok());
    EXPECT_EQ(test::contents(base / "old"), "old");
    EXPECT_TRUE(copy_tree({from}, (base / "new").string() + slashes).ok());
    EXPECT_EQ(test::contents(base / "new" / "in"), "in");
    EXPECT_TRUE(copy_tree({base / "file"}, (base / "new").string() + slashes).ok());
    EXPECT_EQ(test::contents(base / "new" / "file"), "new");
    fs::remove_all(base / "new");
  }
}

// What went wrong has names of others in it too.
TEST(CopyTreeProblemText, IsOneLineWhateverIsInIt) {
  const CopyTreeProblem problem{
      .path = "a\nb", .what = "keep the attribute user.\x1b]0;x", .error = 0};
  EXPECT_EQ(problem.text(), "a\\x0ab: keep the attribute user.\\x1b]0;x");
}

TEST_F(CopyTree, a_zero_byte_ends_no_name) {
  put(base / "file", "text");
  using namespace std::string_literals;
  const std::string file = base / "file";
  EXPECT_EQ(copy_tree({file + "\0x"s}, to).problems.size(), 1u);
  EXPECT_NE(copy_tree({file}, to.string() + "\0x"s).refusal, "");
  EXPECT_FALSE(fs::exists(to));
}

TEST_F(CopyTreeOften, the_kernels_files_end_where_they_end) {
  int seen = 0;
  for (const char* const name :
       {"/sys/kernel/mm/transparent_hugepage/enabled", "/sys/devices/system/cpu/online",
        "/proc/version", "/proc/self/status"}) {
    const std::string wanted = test::contents(name);
    if (wanted.empty()) continue;
    // Held open: one that nobody holds the kernel may forget, and make anew with the time of now.
    const std::ifstream held(name);
    ++seen;
    for (const bool durable : {false, true}) {
      // /proc makes a new file for a caller that opens one again: it has changed, by its time.
      const CopyTreeResult result =
          copy_tree({name}, base / "copy",
                    {.durable = durable, .verify = std::string_view(name).starts_with("/sys")});
      EXPECT_TRUE(result.ok()) << told(result);
      const std::string got = test::contents(base / "copy");
      EXPECT_EQ(got.find('\0'), std::string::npos) << name << got.size();
      if (!std::string_view(name).ends_with("status")) {
        EXPECT_EQ(got, wanted) << name;
        EXPECT_EQ(result.bytes, wanted.size()) << name;
      }
    }
  }
  if (seen == 0) GTEST_SKIP() << "neither /sys nor /proc is here";
}

// ---- Few descriptors ----

TEST_F(CopyTreeOften, any_number_of_sources_needs_few_descriptors) {
  std::vector<std::string> together;
  std::vector<std::string> apart;
  for (int n = 0; n < 150; ++n) {
    const std::string name = std::to_string(n);
    put(from / name, name);
    together.push_back(from / name);
    fs::create_directories(base / "apart" / name);
    put(base / "apart" / name / ("f" + name), name);
    apart.push_back(base / "apart" / name / ("f" + name));
  }
  for (const auto* const sources : {&together, &apart}) {
    fs::remove_all(to);
    fs::create_directory(to);
    const test::Limit few(RLIMIT_NOFILE, 64);
    const CopyTreeResult result = copy_tree(*sources, to);
    EXPECT_TRUE(result.ok()) << told(result);
    EXPECT_EQ(result.files, 150u);
    EXPECT_EQ(contents_below(to).size(), 150u);
  }
}

TEST_F(CopyTreeOften, hard_links_into_directories_that_get_their_names_meanwhile_are_kept) {
  constexpr int folders = 120;
  for (int n = 0; n < folders; ++n) {
    fs::create_directory(from / std::to_string(n));
    put(from / std::to_string(n) / "own", "x");
  }
  for (int n = 0; n < folders; ++n) {
    const fs::path own = from / std::to_string(n) / "own";
    for (const auto& [a, b] : {std::pair{7, 3}, std::pair{11, 5}, std::pair{13, 8}}) {
      const std::string into = std::to_string((n * a + b) % folders);
      fs::create_hard_link(own, from / into / ("l" + std::to_string(a) + "_" + std::to_string(n)));
    }
  }
  fs::create_directory(to);
  // A rename takes its time, as on a device: the directory has its name, and the thread that
  // finishes it has not yet said so.
  TapOf tap({}, [](const FileCallView& call, long) {
    if (call.kind != FileCallKind::rename) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  });
  const test::Limit few(RLIMIT_NOFILE, 100);
  const CopyTreeResult result = copy_tree({(from / ".").string()}, to, {.width = 8, .tap = &tap});
  EXPECT_TRUE(result.ok()) << told(result);
  EXPECT_EQ(contents_below(to).size(), 4u * folders);
  for (int n = 0; n < folders; ++n) {
    EXPECT_EQ(look(to / std::to_string(n) / "own").st_nlink, 4u) << n;
  }
}

// ---- Directories that may be entered, and not read ----

TEST_F(CopyTreeOften, directories_need_no_more_rights_than_what_is_done_in_them) {
  put(from / "file", "new");
  fs::create_directories(from / "folder");
  put(from / "folder" / "inner", "new");
  const test::Somebody who{.user = is_root() ? 4000u : geteuid(), .groups = {4000}};
  fs::create_directories(to / "folder");
  put(to / "folder" / "file", "old");
  chmod(base.c_str(), 0711);
  for (const fs::path& path : {from, from / "folder", to, to / "folder"}) {
    if (is_root()) {
      ASSERT_EQ(chown(path.c_str(), who.user, 4000), 0);
    }
  }
  const std::vector<std::string> sources{from / "file", from / "folder"};
  for (const bool durable : {false, true}) {
    chmod(from.c_str(), 0111);
    chmod(to.c_str(), 0300);
    chmod((to / "folder").c_str(), 0300);
    const auto copy_as_they = [&] {
      const CopyTreeResult result = copy_tree(sources, to, {.durable = durable});
      EXPECT_TRUE(result.ok()) << told(result);
    };
    as(who, copy_as_they);
    chmod(from.c_str(), 0755);
    chmod(to.c_str(), 0755);
    EXPECT_EQ(look(to / "folder").st_mode & 07777, look(from / "folder").st_mode & 07777);
    EXPECT_EQ(test::contents(to / "file"), "new");
    EXPECT_EQ(test::contents(to / "folder" / "inner"), "new");
    EXPECT_EQ(test::contents(to / "folder" / "file"), "old");
  }
}

TEST_F(CopyTreeOften, modes_are_the_sources_whatever_the_umask) {
  const test::Somebody who{.user = is_root() ? 4000u : geteuid(), .groups = {4000}};
  chmod(base.c_str(), 0777);
  fs::create_directories(from / "folder");
  for (const unsigned mode : {0600u, 0644u, 0666u, 0755u, 0777u, 0400u}) {
    const std::string name = std::to_string(mode);
    for (const fs::path& folder : {from, from / "folder"}) {
      put(folder / name, name);
      chmod((folder / name).c_str(), mode);
    }
  }
  const mode_t before = umask(0);
  ASSERT_EQ(mkfifo((from / "fifo").c_str(), 0640), 0);
  chmod(from.c_str(), 0777);
  chmod((from / "folder").c_str(), 0775);
  if (is_root()) {
    ASSERT_EQ(chown(from.c_str(), who.user, 4000), 0);
    for (const auto& entry : fs::recursive_directory_iterator(from)) {
      ASSERT_EQ(chown(entry.path().c_str(), who.user, 4000), 0);
    }
  }
  for (const mode_t mask : {0u, 022u, 077u, 0277u, 0777u}) {
    umask(mask);
    const auto copy_as_they = [&] {
      const CopyTreeResult result = copy();
      EXPECT_TRUE(result.ok()) << mask << told(result);
    };
    as(who, copy_as_they);
    umask(0);
    for (const auto& entry : fs::recursive_directory_iterator(from)) {
      const fs::path path = entry.path().lexically_relative(from);
      EXPECT_EQ(look(to / path).st_mode, look(from / path).st_mode) << mask << path;
    }
    fs::remove_all(to);
  }
  umask(before);
}

// ---- File systems that take short names only ----

TEST_F(CopyTreeOften, names_as_long_as_the_file_system_takes_are_copied_and_replaced) {
  // As eCryptfs does it.
  TapOf tap([](const FileCallView& call) {
    const auto is_long = [](const char* path) {
      return path != nullptr && fs::path(path).filename().string().size() > 143;
    };
    return answer_if(is_long(call.path) || is_long(call.to_path), -ENAMETOOLONG);
  });
  FileEngine files({.backend = FileBackend::caller, .tap = &tap});
  fs::create_directories(to / "from");
  for (std::size_t length = 100; length <= 143; ++length) {
    const std::string name(length, 'n');
    put(from / name, "new");
    put(to / "from" / name, "old");
    EXPECT_TRUE(files.replace(to / "from" / name, test::bytes_of("between")).get().ok()) << length;
  }
  fs::create_directory(from / std::string(143, 'd'));
  for (const bool durable : {false, true}) {
    (void)copy_all({.durable = durable, .tap = &tap});
    EXPECT_EQ(contents_below(to / "from"), contents_below(from));
  }
  expect_clean();
}

}}  // namespace handoff
