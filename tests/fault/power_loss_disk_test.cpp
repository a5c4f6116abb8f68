// SPDX-License-Identifier: MIT
//
// The simulated disk itself: for calls made by hand, exactly the states that it says a loss may
// leave.
#include <linux/fs.h>
#include <sys/uio.h>

#include "fault/fault_support.hpp"
#include "fault/power_loss.hpp"
#include "support/test.hpp"

namespace power_loss_disk_test { namespace {

using namespace handoff::test;

// Calls that the disk sees.
class Calls {
 public:
  explicit Calls(const std::string& folder, Watch watch = Watch::contents)
      : folder_(folder), disk(folder, watch) {
    root = open(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY);
  }
  ~Calls() {
    for (const int file : opened_) ::close(file);
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  int open(int in, const std::string& path, int flags) {
    const FileCallView view{.kind = FileCallKind::open,
                            .name = "openat",
                            .descriptor = in,
                            .path = path.c_str(),
                            .flags = flags};
    const auto file = static_cast<int>(
        call(view, [&] { return ::openat(in, path.c_str(), flags | O_CLOEXEC, 0600); }));
    opened_.push_back(file);
    return file;
  }
  int create(int in, const std::string& path) { return open(in, path, O_RDWR | O_CREAT | O_EXCL); }
  void write(int file, std::string_view bytes) {
    const iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
    (void)call({.kind = FileCallKind::write,
                .name = "pwritev",
                .descriptor = file,
                .bytes = bytes.size(),
                .pieces = &piece,
                .piece_count = 1},
               [&] { return ::pwritev(file, &piece, 1, 0); });
  }
  void make_directory(int in, const char* path) {
    (void)call(
        {.kind = FileCallKind::make_directory, .name = "mkdirat", .descriptor = in, .path = path},
        [&] { return ::mkdirat(in, path, 0700); });
  }
  void rename(int in, const char* from, int to_in, const char* to, unsigned flags = 0) {
    (void)call({.kind = FileCallKind::rename,
                .name = "renameat",
                .descriptor = in,
                .to_descriptor = to_in,
                .path = from,
                .to_path = to,
                .flags = static_cast<int>(flags)},
               [&] { return ::syscall(SYS_renameat2, in, from, to_in, to, flags); });
  }
  void link(int in, const char* from, int to_in, const char* to, int flags = 0) {
    (void)call({.kind = FileCallKind::link,
                .name = "linkat",
                .descriptor = in,
                .to_descriptor = to_in,
                .path = from,
                .to_path = to,
                .flags = flags},
               [&] { return ::linkat(in, from, to_in, to, flags); });
  }
  void unlink(int in, const char* path, int flags = 0) {
    (void)call({.kind = FileCallKind::unlink,
                .name = "unlinkat",
                .descriptor = in,
                .path = path,
                .flags = flags},
               [&] { return ::unlinkat(in, path, flags); });
  }
  void symbolic_link(const char* target, int in, const char* path) {
    (void)call({.name = "symlinkat", .descriptor = in, .path = path},
               [&] { return ::symlinkat(target, in, path); });
  }
  void change_mode(int file, mode_t mode) {
    (void)call({.name = "fchmod", .descriptor = file}, [&] { return ::fchmod(file, mode); });
  }
  void set_times(int in, const char* path) {
    const timespec times[2] = {{1, 2}, {3, 4}};
    (void)call({.name = "utimensat", .descriptor = in, .path = path},
               [&] { return ::utimensat(in, path, times, AT_SYMLINK_NOFOLLOW); });
  }
  void sync(int file) {
    (void)call({.kind = FileCallKind::fsync, .name = "fsync", .descriptor = file},
               [&] { return ::fsync(file); });
  }
  void sync_data(int file) {
    (void)call({.kind = FileCallKind::fdatasync, .name = "fdatasync", .descriptor = file},
               [&] { return ::fdatasync(file); });
  }
  void sync_all() {
    (void)call({.name = "syncfs", .descriptor = root}, [&] { return ::syncfs(root); });
  }
  void write_back(int file) {
    (void)call({.name = "sync_file_range", .descriptor = file}, [&] {
      return ::sync_file_range(
          file, 0, 0,
          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    });
  }

  // All that a loss may leave now, in words, in order.
  std::vector<std::string> left() const {
    std::set<std::string> all;
    Choices choices = Choices::every();
    do all.insert(text(disk.after_loss(disk.now(), choices)));
    while (choices.next());
    return {all.begin(), all.end()};
  }
  // What is there, and what the disk says is there.
  std::pair<std::string, std::string> now() const {
    Choices all(Loss::all_kept);
    return {text(read_state(folder_)), text(disk.after_loss(disk.now(), all))};
  }

  static std::string text(const DiskState& state) {
    std::vector<std::string> parts;
    for (const std::string& path : state.directories) parts.push_back(path + "/");
    for (const auto& [path, bytes] : state.files) parts.push_back(path + "=" + bytes);
    for (const auto& [path, target] : state.links) parts.push_back(path + "->" + target);
    for (const auto& [path, first] : state.same) parts.push_back(path + "~" + first);
    std::sort(parts.begin(), parts.end());
    std::string all;
    for (const std::string& part : parts) all += (all.empty() ? "" : " ") + part;
    return all;
  }

 private:
  template <class Function>
  long call(const FileCallView& view, Function&& function) {
    const auto verdict = disk.before(view);
    const long said = verdict.kind == FileTap::Verdict::answer ? verdict.value : function();
    const long result = said < 0 ? -static_cast<long>(errno) : said;
    EXPECT_GE(result, 0) << view.name << " " << (view.path == nullptr ? "" : view.path);
    disk.after(view, result);
    return result;
  }

  std::string folder_;
  std::vector<int> opened_;

 public:
  SimulatedDisk disk;
  int root = -1;
};

class SimulatedDiskTest : public testing::Test {
 protected:
  using Texts = std::vector<std::string>;
  Folder folder{fast_place()};
};

TEST_F(SimulatedDiskTest, ANewFileAndItsDirectory) {
  Calls calls(folder.path());
  calls.make_directory(calls.root, "d");
  const int d = calls.open(calls.root, "d", O_RDONLY | O_DIRECTORY);
  const int a = calls.create(d, "a");
  calls.sync(a);
  EXPECT_EQ(calls.left(), (Texts{"", "d/", "d/ d/a="}));
  calls.sync(d);
  EXPECT_EQ(calls.left(), (Texts{"", "d/ d/a="})) << "of the name of d nothing is said";
  calls.sync(calls.root);
  EXPECT_EQ(calls.left(), (Texts{"d/ d/a="}));
}

TEST_F(SimulatedDiskTest, ASyncOfTheFileSystemIsOneOfAll) {
  Calls calls(folder.path());
  calls.make_directory(calls.root, "d");
  const int d = calls.open(calls.root, "d", O_RDONLY | O_DIRECTORY);
  calls.write(calls.create(d, "a"), "1");
  calls.symbolic_link("a", d, "link");
  calls.link(d, "a", calls.root, "b");
  EXPECT_GT(calls.left().size(), 10U);
  calls.sync_all();
  EXPECT_EQ(calls.left(), (Texts{"b=1 d/ d/a=1 d/a~b d/link->a"}));
  EXPECT_EQ(calls.disk.syncs().size(), 1U);
}

TEST_F(SimulatedDiskTest, ALeftOutSyncIsNone) {
  Calls calls(folder.path());
  calls.disk.drop_sync(1);
  const int a = calls.create(calls.root, "a");
  calls.sync(calls.root);
  calls.write(a, "1");
  calls.sync_all();
  EXPECT_EQ(calls.left(), (Texts{"a=", std::string("a=\0", 3), "a=1"}));
  calls.write_back(a);
  EXPECT_EQ(calls.left().size(), 3U) << "that is no sync";
  calls.sync_data(a);
  EXPECT_EQ(calls.left(), (Texts{"a=1"}));
}

TEST_F(SimulatedDiskTest, ALinkIsWholeOrMissing) {
  Calls calls(folder.path());
  const std::string target(300, 't');
  calls.symbolic_link(target.c_str(), calls.root, "a");
  EXPECT_EQ(calls.left(), (Texts{"", "a->" + target}));
  calls.sync(calls.root);
  EXPECT_EQ(calls.left(), (Texts{"a->" + target}));
}

TEST_F(SimulatedDiskTest, ATreeIsRenamedAsAWhole) {
  folder.put("old", "1");
  std::filesystem::create_directories(folder.at("t/sub"));
  folder.put("t/sub/a", "2");
  Calls calls(folder.path());
  const int sub = calls.open(calls.root, "t/sub", O_RDONLY | O_DIRECTORY);
  calls.rename(calls.root, "t", calls.root, "u");
  EXPECT_EQ(calls.left(), (Texts{"old=1 t/ t/sub/ t/sub/a=2", "old=1 u/ u/sub/ u/sub/a=2"}));
  // Its directories are still what their descriptors say.
  calls.sync(calls.root);
  (void)calls.create(sub, "b");
  (void)calls.open(sub, "..", O_RDONLY | O_DIRECTORY);
  EXPECT_EQ(calls.left(),
            (Texts{"old=1 u/ u/sub/ u/sub/a=2", "old=1 u/ u/sub/ u/sub/a=2 u/sub/b="}));
  EXPECT_EQ(calls.now().first, calls.now().second);
}

TEST_F(SimulatedDiskTest, ARenameToAnotherDirectory) {
  std::filesystem::create_directories(folder.at("d"));
  folder.put("a", "1");
  Calls calls(folder.path());
  const int d = calls.open(calls.root, "d", O_RDONLY | O_DIRECTORY);
  calls.rename(calls.root, "a", d, "b");
  EXPECT_EQ(calls.left(), (Texts{"a=1 d/", "d/ d/b=1"}));
  calls.sync(d);
  EXPECT_EQ(calls.left(), (Texts{"a=1 d/ d/b=1 d/b~a", "d/ d/b=1"}));
  calls.sync(calls.root);
  EXPECT_EQ(calls.left(), (Texts{"d/ d/b=1"}));
}

TEST_F(SimulatedDiskTest, AnExchangeIsBothOrNeither) {
  folder.put("a", "1");
  std::filesystem::create_directories(folder.at("d"));
  Calls calls(folder.path());
  calls.rename(calls.root, "a", calls.root, "d", RENAME_EXCHANGE);
  EXPECT_EQ(calls.left(), (Texts{"a/ d=1", "a=1 d/"}));
  EXPECT_EQ(calls.now().first, calls.now().second);
}

TEST_F(SimulatedDiskTest, ARenameOntoTheSameFileChangesNothing) {
  folder.put("a", "1");
  std::filesystem::create_hard_link(folder.at("a"), folder.at("b"));
  Calls calls(folder.path());
  calls.rename(calls.root, "a", calls.root, "b");
  EXPECT_EQ(calls.left(), (Texts{"a=1 b=1 b~a"}));
  EXPECT_EQ(calls.now().first, calls.now().second);
}

TEST_F(SimulatedDiskTest, HardLinksAreOneFile) {
  Calls calls(folder.path());
  const int a = calls.create(calls.root, "a");
  calls.link(calls.root, "a", calls.root, "b");
  calls.sync(calls.root);
  calls.write(a, "x");
  const std::string zeros("a=\0 b=\0 b~a", 11);
  EXPECT_EQ(calls.left(), (Texts{zeros, "a= b= b~a", "a=x b=x b~a"}));
  calls.unlink(calls.root, "a");
  calls.sync_all();
  EXPECT_EQ(calls.left(), (Texts{"b=x"}));
}

TEST_F(SimulatedDiskTest, AFileWithoutANameGetsOne) {
  Calls calls(folder.path());
  const int a = calls.open(calls.root, ".", O_TMPFILE | O_RDWR);
  calls.write(a, "x");
  calls.sync(a);
  EXPECT_EQ(calls.left(), (Texts{""}));
  const std::string own = "/proc/self/fd/" + std::to_string(a);
  calls.link(AT_FDCWD, own.c_str(), calls.root, "a", AT_SYMLINK_FOLLOW);
  EXPECT_EQ(calls.left(), (Texts{"", "a=x"}));
}

TEST_F(SimulatedDiskTest, AnEmptiedDirectoryIsRemoved) {
  std::filesystem::create_directories(folder.at("d"));
  folder.put("d/a", "1");
  Calls calls(folder.path());
  calls.unlink(calls.root, "d/a");
  calls.unlink(calls.root, "d", AT_REMOVEDIR);
  EXPECT_EQ(calls.left(), (Texts{"", "d/", "d/ d/a=1"}));
}

TEST_F(SimulatedDiskTest, AttributesNeedASyncOfTheirOwn) {
  Calls calls(folder.path(), Watch::attributes_too);
  const int a = calls.create(calls.root, "a");
  calls.sync_all();
  const auto modes = [&] {
    std::set<std::string> all;
    Choices choices = Choices::every();
    do {
      const DiskState state = calls.disk.after_loss(calls.disk.now(), choices);
      const Attributes& its = state.attributes.at("a");
      all.insert(its.at("mode") + (its.contains("times") ? " " + its.at("times") : ""));
    } while (choices.next());
    return std::vector<std::string>(all.begin(), all.end());
  };
  EXPECT_EQ(modes(), (Texts{"384"}));
  calls.change_mode(a, 0640);
  calls.set_times(calls.root, "a");
  EXPECT_EQ(modes(), (Texts{"384", "384 3.4", "416", "416 3.4"}));
  calls.sync_data(a);
  EXPECT_EQ(modes().size(), 4U) << "not by fdatasync";
  calls.sync(a);
  EXPECT_EQ(modes(), (Texts{"416 3.4"}));
}

TEST_F(SimulatedDiskTest, WhatIsReadIsWhatWasWritten) {
  const DiskState state{.files = {{"a", "1"}, {"d/b", "1"}},
                        .directories = {"d"},
                        .links = {{"d/link", "nowhere"}},
                        .specials = {{"fifo", std::to_string(S_IFIFO)}},
                        .same = {{"d/b", "a"}}};
  const std::string place = folder.at("place");
  write_state(state, place);
  EXPECT_EQ(read_state(place), state);
  const SimulatedDisk disk(place);
  Choices all(Loss::all_kept);
  EXPECT_EQ(disk.after_loss(0, all), state);
}

}}  // namespace power_loss_disk_test
