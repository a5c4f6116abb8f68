// SPDX-License-Identifier: MIT
//
// copy_tree(): what a copy keeps, what hostile names and trees end as, and calls that fail.
#include <sys/xattr.h>

#include "support/failing.hpp"
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

bool same_tree(const fs::path& a, const fs::path& b) {
  const std::string command = "diff -r --no-dereference '" + a.string() + "' '" + b.string() + "'";
  return std::system(command.c_str()) == 0;
}

TEST_F(CopyTree, keeps_contents_modes_times_links_holes_and_attributes) {
  for (const bool durable : {false, true}) {
    fs::remove_all(to);
    fs::remove_all(from);
    fs::create_directories(from / "a" / "b");
    put(from / "a" / "empty", "");
    put(from / "a" / "text", "hello");
    put(from / "big", std::string(3 << 20, 'x'));
    put(from / "a" / "set", "program");
    chmod((from / "a" / "set").c_str(), 04755);
    chmod((from / "a" / "b").c_str(), 01750);
    fs::create_hard_link(from / "a" / "text", from / "a" / "b" / "text again");
    fs::create_symlink("../nowhere", from / "link");
    ASSERT_EQ(mkfifo((from / "fifo").c_str(), 0640), 0);
    put(from / "holes", "x");
    ASSERT_EQ(truncate((from / "holes").c_str(), 8 << 20), 0);
    const bool attributes = setxattr((from / "big").c_str(), "user.note", "blue", 4, 0) == 0;
    const timespec times[2] = {{1000, 5}, {2000, 7}};
    for (const char* name : {"a", "a/text", "big", "link", "fifo", "."}) {
      ASSERT_EQ(utimensat(AT_FDCWD, (from / name).c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
    }
    TapOf tap = test::unsynced();
    const CopyTreeResult result = copy_all({.durable = durable, .verify = true, .tap = &tap});
    EXPECT_EQ(result.files, 6u);
    EXPECT_EQ(result.links, 1u);
    EXPECT_EQ(result.special_files, 1u);
    EXPECT_EQ(result.directories, 3u);
    EXPECT_EQ(test::contents(to / "big"), test::contents(from / "big"));
    EXPECT_EQ(test::contents(to / "holes"), test::contents(from / "holes"));
    EXPECT_LE(look(to / "holes").st_blocks, look(from / "holes").st_blocks + 64);
    EXPECT_EQ(fs::read_symlink(to / "link"), "../nowhere");
    EXPECT_EQ(look(to / "a" / "text").st_ino, look(to / "a" / "b" / "text again").st_ino);
    for (const char* name : {"a", "a/b", "a/set", "a/text", "big", "fifo", "link", "."}) {
      EXPECT_EQ(look(to / name).st_mode, look(from / name).st_mode) << name;
      EXPECT_EQ(look(to / name).st_mtim.tv_sec, look(from / name).st_mtim.tv_sec) << name;
      EXPECT_EQ(look(to / name).st_mtim.tv_nsec, look(from / name).st_mtim.tv_nsec) << name;
    }
    std::array<char, 8> note{};
    if (attributes) {
      EXPECT_EQ(getxattr((to / "big").c_str(), "user.note", note.data(), note.size()), 4);
    }
    expect_clean();
  }
}

TEST_F(CopyTree, goes_where_cp_would_put_it) {
  put(from / "one", "1");
  fs::create_directory(to);
  (void)copy_all();  // into it
  EXPECT_EQ(test::contents(to / "from" / "one"), "1");
  put(from / "one", "22");
  put(to / "from" / "two", "2");
  (void)copy_all();  // merged, replaced
  EXPECT_EQ(test::contents(to / "from" / "one"), "22");
  EXPECT_EQ(test::contents(to / "from" / "two"), "2");
  EXPECT_TRUE(copy_tree({(from / ".").string()}, to).ok());  // what is in it
  EXPECT_EQ(test::contents(to / "one"), "22");
  EXPECT_TRUE(copy_tree({(from / "one").string()}, to / "three").ok());  // a file
  EXPECT_EQ(test::contents(to / "three"), "22");
  expect_clean();
}

TEST_F(CopyTree, refuses_what_cannot_be_meant) {
  fs::create_directories(from / "inner");
  put(base / "file", "x");
  const std::string inner = from / "inner";
  EXPECT_NE(copy_tree({from}, inner).refusal, "");              // into itself
  EXPECT_NE(copy_tree({from}, from / "new").refusal, "");       // ... under a new name
  EXPECT_NE(copy_tree({inner}, from).refusal, "");              // onto itself
  fs::create_directories(from / "from");
  fs::create_directories(from / "x" / "from");
  EXPECT_NE(copy_tree({from / "from"}, base).refusal, "");      // what it lies in
  EXPECT_NE(copy_tree({base / "file"}, base / "file").refusal, "");
  EXPECT_NE(copy_tree({from, base / "file"}, to).refusal, "");  // no directory
  EXPECT_NE(copy_tree({from / "from", from / "x" / "from"}, base / "from" / "inner").refusal, "");
  EXPECT_NE(copy_tree({from}, base / "no" / "such").refusal, "");
  EXPECT_NE(copy_tree({}, to).refusal, "");
  fs::create_directory_symlink(from / "inner", base / "way");   // by another name
  EXPECT_NE(copy_tree({from}, base / "way" / "new").refusal, "");
  EXPECT_FALSE(fs::exists(to));
}

TEST_F(CopyTree, lists_what_fails_and_copies_the_rest) {
  put(from / "good", "good");
  const CopyTreeResult result =
      copy_tree({from / "good", base / "missing"}, (fs::create_directory(to), to));
  EXPECT_EQ(result.problems.size(), 1u);
  EXPECT_NE(told(result).find("missing"), std::string::npos);
  EXPECT_EQ(test::contents(to / "good"), "good");
  fs::create_directory(to / "from");
  put(from / "dir", "a file");
  fs::create_directory(to / "from" / "dir");  // a directory where a file would be
  fs::create_directory(from / "file");
  put(to / "from" / "file", "old");  // and the reverse
  const CopyTreeResult second = copy();
  EXPECT_EQ(second.problems.size(), 2u) << told(second);
  EXPECT_TRUE(fs::is_directory(to / "from" / "dir"));
  EXPECT_EQ(test::contents(to / "from" / "file"), "old");
  EXPECT_EQ(test::contents(to / "from" / "good"), "good");
  expect_clean();
}

TEST_F(CopyTree, takes_any_name) {
  std::string all(255, 'n');
  put(from / all, "long");
  put(from / "new\nline\x1b[31m\\", "line");
  put(from / "\xff\xfe", "bytes");
  put(from / "-rf", "dash");
  put(from / " ", "space");
  (void)copy_all();
  EXPECT_TRUE(same_tree(from, to));
  put(base / all, "at the edge");  // where the name is a temporary one first
  EXPECT_TRUE(copy_tree({base / all}, to).ok());
  EXPECT_EQ(test::contents(to / all), "at the edge");
  const CopyTreeProblem odd{.path = "a\nb\x1b", .what = "open", .error = ENOENT};
  EXPECT_EQ(odd.text(), "a\\x0ab\\x1b: open: No such file or directory");
  // U+009B begins an escape sequence where a terminal takes it for one byte, and so does that byte.
  const CopyTreeProblem eight{.path =
                                  "a\xc2\x9b"
                                  "2J\x9b",
                              .what = "open",
                              .error = ENOENT};
  EXPECT_EQ(eight.text(), "a\\xc2\\x9b2J\\x9b: open: No such file or directory");
}

TEST_F(CopyTree, never_writes_into_a_file_that_is_there) {
  put(from / "one", "new");
  fs::create_directories(to / "from");
  put(base / "other", "old");
  fs::create_hard_link(base / "other", to / "from" / "one");
  (void)copy_all();
  EXPECT_EQ(test::contents(base / "other"), "old");
  EXPECT_EQ(test::contents(to / "from" / "one"), "new");
  fs::remove(to / "from" / "one");
  fs::create_hard_link(from / "one", to / "from" / "one");  // the source itself
  const CopyTreeResult result = copy();
  EXPECT_EQ(result.problems.size(), 1u) << told(result);
  EXPECT_EQ(test::contents(from / "one"), "new");
}

TEST_F(CopyTreeOften, walks_deeper_than_paths_and_descriptors_reach) {
  constexpr int depth = 800;  // 4800 bytes of path
  int folder = open(from.c_str(), O_RDONLY | O_DIRECTORY);
  for (int level = 0; level < depth; ++level) {
    ASSERT_EQ(mkdirat(folder, "level", 0755), 0);
    const int next = openat(folder, "level", O_RDONLY | O_DIRECTORY);
    close(folder);
    folder = next;
    if (level % 300 == 0) close(openat(folder, "file", O_WRONLY | O_CREAT, 0644));
  }
  close(folder);
  const CopyTreeResult result = [this] {
    const test::Limit few(RLIMIT_NOFILE, 64);
    return copy();
  }();
  EXPECT_TRUE(result.ok()) << told(result);
  EXPECT_EQ(result.directories, depth + 1u);
  EXPECT_EQ(result.files, 3u);
  // The library's own remove_all holds a descriptor for each level.
  EXPECT_EQ(std::system(("rm -rf '" + from.string() + "' '" + to.string() + "'").c_str()), 0);
}

TEST_F(CopyTree, a_file_without_permission_is_listed) {
  put(from / "closed", "x");
  chmod((from / "closed").c_str(), 0);
  fs::create_directory(from / "shut");
  chmod((from / "shut").c_str(), 0);
  put(from / "open", "y");
  chmod(base.c_str(), 0777);
  chmod(from.c_str(), 0755);
  test::as({.user = test::is_root() ? 65534u : geteuid(), .groups = {65534}}, [&] {
    const CopyTreeResult result = copy();
    EXPECT_EQ(result.problems.size(), 2u) << told(result);
    EXPECT_EQ(test::contents(to / "open"), "y");
  });
  chmod((from / "shut").c_str(), 0755);
}

// More than 32 bits hold: bytes at the beginning, a hole, a byte at the end.
TEST_F(CopyTree, a_hole_of_5_GiB_is_copied_as_one) {
  constexpr off_t end = off_t{5} << 30;
  put(from / "large", "begin");
  std::ofstream(from / "large", std::ios::in | std::ios::binary).seekp(end).put('e');
  FileEngine files;
  EXPECT_TRUE(files.copy(from / "large", from / "again").get().ok());
  EXPECT_EQ(copy_all({}).files, 2u);
  for (const auto& copy : {to / "large", to / "again"}) {
    ASSERT_EQ(look(copy).st_size, end + 1);
    EXPECT_LE(look(copy).st_blocks, look(from / "large").st_blocks + 64);
    std::ifstream file(copy, std::ios::binary);
    std::string begin(5, ' ');
    file.read(begin.data(), 5).seekg(end);
    EXPECT_EQ(begin, "begin");
    EXPECT_EQ(file.get(), 'e');
  }
}

// What fails is told, or it did not matter: then all is there. What has its name is whole.
TEST_F(CopyTreeOften, no_call_that_fails_damages_in_silence) {
  fs::create_directories(from / "a" / "b");
  put(from / "a" / "one", "one");
  put(from / "a" / "b" / "large", std::string(150 << 10, 'l'));  // more than one piece
  put(from / "holes", "h");
  ASSERT_EQ(truncate((from / "holes").c_str(), 100 << 10), 0);
  fs::create_hard_link(from / "a" / "one", from / "again");
  fs::create_symlink("a", from / "link");
  ASSERT_EQ(mkfifo((from / "fifo").c_str(), 0600), 0);
  const auto wanted = contents_below(from);
  // A sanitizer sees each call fail once, by one error or another.
  constexpr std::array faults{test::Fault::io_error, test::Fault::no_space,
                              test::Fault::interrupted};
  const auto open_before = test::open_descriptors();
  const bool all = test::deep() || !test::slow;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    for (const bool durable : {false, true}) {
      bool more = true;
      const int step = all ? 1 : static_cast<int>(faults.size());
      for (int which = all ? 0 : static_cast<int>(i); more; which += step) {
        fs::remove_all(to);
        test::FaultTap fault;
        fault.arm({}, which, faults[i]);
        TapOf tap([&](const FileCallView& call) {
          const Verdict said = fault.before(call);
          return said.kind == Verdict::proceed ? answer_if(is_sync(call), 0) : said;
        });
        const CopyTreeResult result =
            copy({.width = 1, .durable = durable, .verify = which % 2 == 0, .tap = &tap});
        const auto fired = fault.disarm();
        more = fired.has_value();
        SCOPED_TRACE(testing::Message() << which << ' ' << (more ? fired->name : ""));
        EXPECT_EQ(test::open_descriptors(), open_before);
        const auto got = contents_below(to);
        for (const auto& [name, text] : got) {
          const auto found = wanted.find(name);
          ASSERT_TRUE(found != wanted.end() || name.ends_with("~")) << name;
          EXPECT_TRUE(found == wanted.end() || text == found->second) << name;
        }
        for (const CopyTreeProblem& problem : result.problems) {
          // A name that is there once it has ended.
          const bool is_left = problem.what == "remove what is not whole";
          EXPECT_TRUE(is_left || problem.path.find(".handoff~") == std::string::npos)
              << problem.text();
        }
        if (result.ok()) {
          EXPECT_EQ(got, wanted);
          EXPECT_TRUE(fs::is_symlink(to / "link") && fs::is_fifo(to / "fifo"));
        }
      }
    }
  }
}

TEST_F(CopyTree, a_file_that_changes_is_read_again_and_told_if_it_goes_on) {
  for (const bool for_ever : {false, true}) {
    fs::remove_all(to);
    put(from / "log", "first");
    int left = for_ever ? 99 : 1;
    TapOf tap([&](const FileCallView& call) -> Verdict {
      if (call.kind != FileCallKind::write || left-- <= 0) return {};
      std::ofstream(from / "log", std::ios::app) << "more";
      return {};
    });
    const CopyTreeResult result = copy({.tap = &tap});
    EXPECT_EQ(result.problems.size(), for_ever ? 1u : 0u) << told(result);
    EXPECT_EQ(test::contents(to / "log").substr(0, 5), "first");
    EXPECT_TRUE(for_ever || test::contents(to / "log") == test::contents(from / "log"));
  }
}

TEST_F(CopyTree, verify_finds_the_first_byte_that_differs_and_keeps_no_wrong_copy) {
  put(from / "file", std::string(100, 'f'));
  std::atomic<int> reads = 0;
  // Changes what verify reads, from the copy's side.
  TapOf liar({}, [&](const FileCallView& call, long result) {
    if (call.kind != FileCallKind::read || result <= 40 || ++reads != 3) return;
    static_cast<char*>(call.pieces[0].iov_base)[40] ^= 1;
  });
  const CopyTreeResult result = copy({.width = 1, .verify = true, .tap = &liar});
  EXPECT_NE(told(result).find("differs at 40"), std::string::npos) << told(result);
  EXPECT_FALSE(fs::exists(to / "file"));
}

// Of bytes that are nowhere twice.
std::string unlike(std::size_t bytes) {
  std::string text(bytes, '\0');
  std::uint32_t state = static_cast<std::uint32_t>(bytes) | 1u;
  for (char& one : text) one = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
  return text;
}

// Takes it out of the page cache.
void forget(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY);
  EXPECT_EQ(::fdatasync(file), 0);
  EXPECT_EQ(::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
  ::close(file);
}

TEST_F(CopyTree, durable_copies_of_any_length_are_whole_also_on_odd_devices) {
  // The first write of each file past the page cache.
  enum Kind { as_usual, ends_early, refused };
  for (const Kind kind : {as_usual, ends_early, refused}) {
    fs::remove_all(to);
    const std::array<std::size_t, 9> lengths{65535,   65536,   65537,   69632,  2097151,
                                             2097152, 2097153, 2101247, 4200003};
    for (const std::size_t length : lengths) {
      put(from / std::to_string(length), unlike(length));
      if (kind != ends_early) forget(from / std::to_string(length));
    }
    std::atomic<int> reserved = 0;
    std::atomic<int> refusals = 0;
    TapOf odd([&](const FileCallView& call) -> Verdict {
      if (call.kind == FileCallKind::preallocate) ++reserved;
      if (call.kind == FileCallKind::write && call.offset == 0 && reserved > 0) {
        if (kind == ends_early) return {Verdict::shorten, 4608};
        if (kind == refused && refusals++ == 0) return {Verdict::answer, -EINVAL};
      }
      return answer_if(is_sync(call), 0);
    });
    (void)copy_all({.width = 1, .durable = true, .tap = &odd});
    EXPECT_GE(reserved, 1);
    if (kind == refused) {
      EXPECT_EQ(reserved, 1);  // it is not asked again
    }
    for (const std::size_t length : lengths) {
      EXPECT_TRUE(test::contents(to / std::to_string(length)) == unlike(length))
          << length << ' ' << kind;
    }
  }
}

TEST_F(CopyTree, a_durable_copy_of_a_file_that_shrinks_ends_where_it_ends) {
  put(from / "file", unlike(5'000'000));
  std::atomic<int> reads = 0;
  TapOf odd([](const FileCallView& call) { return answer_if(is_sync(call), 0); },
            [&](const FileCallView& call, long) {
              if (call.kind != FileCallKind::read || reads++ != 0) return;
              EXPECT_EQ(truncate((from / "file").c_str(), 3'000'001), 0);
            });
  (void)copy_all({.durable = true, .tap = &odd});
  EXPECT_TRUE(test::contents(to / "file") == test::contents(from / "file"));
  EXPECT_EQ(fs::file_size(to / "file"), 3'000'001u);
}

TEST_F(CopyTreeOften, a_stop_leaves_what_is_whole_and_nothing_else) {
  for (int n = 0; n < 200; ++n) put(from / std::to_string(n), std::string(1 << 12, 'a'));
  for (const bool durable : {false, true}) {
    fs::remove_all(to);
    std::stop_source source;
    std::atomic<int> writes = 0;
    TapOf tap([&](const FileCallView& call) {
      const bool moves = call.kind == FileCallKind::write || call.kind == FileCallKind::copy_range;
      if (moves && ++writes == 20) source.request_stop();
      return answer_if(is_sync(call), 0);
    });
    const CopyTreeResult result =
        copy({.until = source.get_token(), .durable = durable, .tap = &tap});
    EXPECT_TRUE(result.stopped);
    EXPECT_LT(result.files, 200u);
    const auto got = contents_below(to);
    EXPECT_EQ(got.size(), result.files);
    for (const auto& [name, text] : got) EXPECT_EQ(text.size(), std::size_t{1} << 12) << name;
    expect_clean();
  }
}

// Nothing was left out: a stop that comes then, or a moment, ended nothing.
TEST_F(CopyTree, the_last_progress_has_all_and_a_stop_in_it_ends_nothing) {
  put(from / "a", std::string(100'000, 'a'));
  fs::create_hard_link(from / "a", from / "b");
  fs::create_symlink("a", from / "link");
  put(from / "holes", "x");
  ASSERT_EQ(truncate((from / "holes").c_str(), 8 << 20), 0);
  TapOf tap = test::unsynced();
  for (const bool durable : {false, true}) {
    fs::remove_all(to);
    std::stop_source source;
    CopyTreeProgress last;
    CopyTreeOptions options{
        .until = source.get_token(), .durable = durable, .count = true, .tap = &tap};
    options.progress = [&](const CopyTreeProgress& now) {
      last = now;
      if (now.counted && now.files == now.all_files) source.request_stop();
    };
    const CopyTreeResult result = copy_all(std::move(options));
    EXPECT_TRUE(source.stop_requested());
    EXPECT_TRUE(last.counted);
    EXPECT_EQ(last.files, 3U);
    EXPECT_EQ(last.all_files, 3U);
    EXPECT_EQ(last.bytes, 100'000U + (8 << 20));
    EXPECT_EQ(last.all_bytes, last.bytes);
    EXPECT_EQ(result.files, last.files);
    EXPECT_EQ(result.bytes, last.bytes);
    EXPECT_FALSE(result.stopped);
  }
  fs::remove_all(to);
  EXPECT_TRUE(copy({.until = std::chrono::seconds(-1)}).stopped);
  EXPECT_FALSE(fs::exists(to));
}

TEST_F(CopyTreeOften, threads_that_cannot_be_had_are_not_missed) {
  for (int n = 0; n < 20; ++n) put(from / std::to_string(n), "text");
  test::until_whole(test::Call::thread, EAGAIN, [&] {
    fs::remove_all(to);
    (void)copy_all({.width = 3});
    EXPECT_EQ(contents_below(to), contents_below(from));
  });
}

}}  // namespace handoff
