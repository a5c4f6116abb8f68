// SPDX-License-Identifier: MIT
//
// Paths that lead somewhere else: special files, links, names that leave a directory, files that
// change or are swapped while they are used. One documented outcome each; none hangs.
#include <sys/socket.h>
#include <sys/un.h>

#include "fault/fault_support.hpp"
#include "support/test.hpp"

namespace hostile_paths_test { namespace {

using namespace handoff;
using enum FileOperation;
using namespace test;

const std::string kText = filled(3000, 1);

FileRequest request_for(FileOperation operation, const std::string& path) {
  FileRequest request;
  request.operation = operation;
  request.path = path;
  if (operation == write || operation == append || operation == replace) {
    request.from = bytes_of(kText);
  }
  return request;
}
int error_of(FileEngine& files, FileOperation operation, const std::string& path) {
  return result_of(files.submit(request_for(operation, path))).failure().error;
}

// ---- What is no file ----

class SpecialFiles : public EachBackend {};

TEST_P(SpecialFiles, AreRefusedAndNothingHangs) {
  const Folder root;
  ASSERT_EQ(::mkfifo(root.at("fifo").c_str(), 0600), 0);
  std::filesystem::create_directory(root.at("directory"));
  const int listening = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, root.at("socket").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::symlink("loop", root.at("loop").c_str());
  ::symlink("nowhere", root.at("dangling").c_str());
  FileEngine files({.width = 2, .backend = GetParam()});
  struct Row {
    std::string path;
    int error;
  };
  const std::vector<Row> rows{
      {root.at("fifo"), EINVAL},
      {root.at("directory"), EISDIR},
      {root.at("socket"), EINVAL},
      {"/dev/null", EINVAL},
      {"/dev/full", EINVAL},
      {"/dev/zero", EINVAL},
      {root.at("loop"), ELOOP},
      {root.at("none/x"), ENOENT},
      {root.at("fifo/x"), ENOTDIR},
      {"", ENOENT},
      {std::string("a\0b", 3), EINVAL},
      {root.at(std::string(256, 'n')), ENAMETOOLONG},
      {std::string(5000, '/') + "x", ENAMETOOLONG},
  };
  for (const auto& [path, error] : rows) {
    for (const FileOperation operation : {read, write, append, sync}) {
      if (operation == sync && error == EISDIR) continue;  // its names can be made durable
      EXPECT_EQ(error_of(files, operation, path), error) << to_string(operation) << " " << path;
    }
    const FileResult copied = result_of(files.copy(path, root.at("copy")));
    EXPECT_EQ(copied.failure().error, error) << "copy " << path;
    EXPECT_FALSE(root.get("copy").has_value()) << path;
  }
  const auto open = test::open_descriptors();
  EXPECT_THROW((void)OpenFile::open(root.at("directory")), std::system_error);
  EXPECT_THROW((void)OpenFile::open("/dev/null"), std::system_error);
  EXPECT_EQ(test::open_descriptors(), open);
  EXPECT_EQ(error_of(files, read, root.at("dangling")), ENOENT);
  EXPECT_EQ(error_of(files, read, root.at("none")), ENOENT);
  EXPECT_EQ(error_of(files, remove, root.at("none")), ENOENT);
  EXPECT_NE(error_of(files, remove, root.at("directory")), 0);
  EXPECT_NE(error_of(files, replace, root.at("directory")), 0);
  EXPECT_NE(error_of(files, replace, root.at("x/")), 0);
  EXPECT_NE(error_of(files, replace, root.at(".")), 0);
  EXPECT_NE(error_of(files, replace, root.at("..")), 0);
  ::close(listening);
  struct stat status{};
  for (const char* const name : {"fifo", "socket", "directory", "loop"}) {
    EXPECT_EQ(::lstat(root.at(name).c_str(), &status), 0) << name << " is gone";
    EXPECT_FALSE(S_ISREG(status.st_mode)) << name;
  }
  for (const std::string& name : root.names()) EXPECT_FALSE(name.ends_with("~")) << name;
}

TEST_P(SpecialFiles, WithAllowance) {
  const OpenFile full = OpenFile::open("/dev/full", {.write = true, .allow_special = true});
  FileEngine files({.width = 2, .backend = GetParam()});
  EXPECT_EQ(result_of(files.write(full, bytes_of(kText), 0)).failure().error, ENOSPC);
  EXPECT_THROW((void)OpenFile::open("/dev/full", {.write = true}), std::system_error);
}

TEST_P(SpecialFiles, AFileThatDoesNotKnowItsLength) {
  FileEngine files({.width = 2, .backend = GetParam()});
  FileResult result = result_of(files.read("/proc/self/status"));
  ASSERT_TRUE(result.ok()) << test::failure_of(result);
  EXPECT_TRUE(says(text_of(result.data()), "VmPeak"));
  const Folder root;
  EXPECT_TRUE(result_of(files.copy("/proc/cpuinfo", root.at("copy"))).ok());
  EXPECT_GT(root.get("copy")->size(), 100U) << "half a file is not what was asked for";
}

// ---- Names ----

class Names : public EachBackend {};

TEST_P(Names, LongAndStrange) {
  const Folder root;
  FileEngine files({.width = 2, .backend = GetParam()});
  for (const std::string& name :
       {std::string(255, 'n'), std::string("line\nline"), std::string("\x1b[31m\t\x7f"),
        std::string(" "), std::string("~"), std::string("-rf"), std::string("\xff\xfe"),
        std::string(".a.handoff~"), std::string("..."), std::string("a b'\"$`;")}) {
    EXPECT_EQ(error_of(files, write, root.at(name)), 0);
    EXPECT_EQ(error_of(files, append, root.at(name)), 0);
    EXPECT_EQ(error_of(files, replace, root.at(name)), 0);
    EXPECT_TRUE(root.get(name) == kText);
    EXPECT_TRUE(result_of(files.copy(root.at(name), root.at("copy"))).ok());
    EXPECT_TRUE(result_of(files.copy(root.at("copy"), root.at(name))).ok());
    EXPECT_EQ(root.names().size(), 2U);
    EXPECT_EQ(error_of(files, remove, root.at(name)), 0);
    const FileResult missing = result_of(files.read(root.at(name)));
    EXPECT_EQ(missing.failure().error, ENOENT);
    EXPECT_EQ(missing.failure().file, root.at(name));
    for (const char c : missing.failure().text()) {
      EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << "it breaks the line";
    }
  }
}

// What has a zero byte is no name: what stands before the zero is another's.
const std::string kZeroByte("\0x", 2);

TEST_P(Names, AZeroByteEndsNone) {
  const Folder root;
  root.put("a", kText);
  FileEngine files({.width = 2, .backend = GetParam()});
  for (const FileOperation operation : {read, write, append, replace, remove, stat, sync}) {
    EXPECT_EQ(error_of(files, operation, root.at("a") + kZeroByte), EINVAL) << to_string(operation);
  }
  const auto copied = [&](const std::string& from, const std::string& to) {
    return result_of(files.copy(from, to)).failure().error;
  };
  EXPECT_EQ(copied(root.at("a") + kZeroByte, root.at("b")), EINVAL);
  EXPECT_EQ(copied(root.at("a"), root.at("b") + kZeroByte), EINVAL);
  EXPECT_TRUE(root.get("a") == kText);
  EXPECT_EQ(root.names().size(), 1U);
}

TEST(NamesOfFolders, AZeroByteEndsNone) {
  const Folder root;
  root.put("a", kText);
  const std::string folder = root.path() + kZeroByte;
  const std::string log = root.at("log") + kZeroByte;
  const auto error_by = [](const auto& call) {
    const auto error = caught<std::system_error>(call);
    return error ? error->code().value() : 0;
  };
  EXPECT_EQ(error_by([&] { AppendLog{log}; }), EINVAL);
  EXPECT_EQ(error_by([&] { AppendLogReader{folder}; }), EINVAL);
  EXPECT_EQ(error_by([&] { (void)OpenFile::open(root.at("a") + kZeroByte); }), EINVAL);
  EXPECT_EQ(error_by([&] { (void)OpenFile::open("a", {.beneath = folder}); }), EINVAL);
  const auto beneath =
      caught<std::system_error>([&] { const FileEngine files({.beneath = folder}); }).value();
  EXPECT_EQ(beneath.code(), std::errc::invalid_argument);
  EXPECT_TRUE(says(beneath, "\\x00x'")) << beneath.what();
  EXPECT_EQ(trace::start(root.at("trace") + kZeroByte), std::errc::invalid_argument);
  EXPECT_EQ(root.names().size(), 1U);
}

TEST_P(Names, WithoutPermission) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const Folder root;
  root.put("secret", kText);
  ::chmod(root.path().c_str(), 0755);
  ::chmod(root.at("secret").c_str(), 0600);
  std::thread([&] {
    // Of this thread only, and of those that it starts.
    constexpr long nobody = 65534;
    ASSERT_EQ(::syscall(SYS_setresuid, nobody, nobody, nobody), 0);
    FileEngine files({.width = 2, .backend = GetParam()});
    for (const FileOperation operation : {read, write, append}) {
      EXPECT_EQ(error_of(files, operation, root.at("secret")), EACCES) << to_string(operation);
    }
    EXPECT_EQ(error_of(files, write, root.at("new")), EACCES);
    EXPECT_EQ(error_of(files, replace, root.at("secret")), EACCES);
    EXPECT_EQ(error_of(files, remove, root.at("secret")), EACCES);
    EXPECT_EQ(result_of(files.copy(root.at("secret"), "/tmp/not_allowed")).failure().error, EACCES);
  }).join();
  EXPECT_TRUE(root.get("secret") == kText);
  EXPECT_EQ(root.names().size(), 1U);
}

TEST_P(Names, ModesAreAsAskedLessTheMask) {
  const Folder root;
  const mode_t before = ::umask(0);
  for (const mode_t mask : {0000U, 0022U, 0077U}) {
    ::umask(mask);
    FileEngine files({.width = 2, .backend = GetParam()});
    for (const FileOperation operation : {write, append, replace}) {
      for (const std::uint32_t mode : {0666U, 0644U, 0600U}) {
        root.clear();
        FileRequest request = request_for(operation, root.at("new"));
        request.mode = mode;
        ASSERT_TRUE(result_of(files.submit(std::move(request))).ok());
        struct stat status{};
        ASSERT_EQ(::stat(root.at("new").c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 07777U, mode & ~mask) << to_string(operation);
      }
    }
  }
  ::umask(before);
}

// ---- Names that would leave a directory ----

class Beneath : public EachBackend {
 protected:
  Folder outside{test::fast_place()};
  std::string inside = outside.at("inside");

  void SetUp() override {
    EachBackend::SetUp();
    outside.put("victim", "victim");
    std::filesystem::create_directories(inside + "/sub/deep");
    std::ofstream(inside + "/old") << kText;
    const std::vector<std::pair<std::string, std::string>> links{{"../victim", "out"},
                                                                 {"..", "parent"},
                                                                 {"/", "root"},
                                                                 {outside.path(), "absolute"},
                                                                 {"../new_outside", "new_out"},
                                                                 {inside + "/old", "absolute_in"},
                                                                 {"sub/../../victim", "winding"},
                                                                 {"out", "link_to_out"},
                                                                 {"/proc/self/cwd", "magic"},
                                                                 {"/proc/self/root", "magic_root"},
                                                                 {"/proc/self/fd/0", "magic_file"},
                                                                 {"loop", "loop"}};
    for (const auto& [to, name] : links) ::symlink(to.c_str(), (inside + "/" + name).c_str());
    ::symlink("../../../victim", (inside + "/sub/deep/far_out").c_str());
    ::mkfifo((inside + "/fifo").c_str(), 0600);
  }

  // What is outside is as it was.
  void unharmed(const std::string& after) const {
    EXPECT_TRUE(outside.get("victim") == "victim") << after;
    EXPECT_EQ(outside.names().size(), 2U) << after;
  }
};

std::vector<std::string> hostile_names(const std::string& outside) {
  return {"/etc/passwd",
          "//etc/passwd",
          outside + "/victim",
          outside + "/inside/old",
          "../victim",
          "./../victim",
          "..//victim",
          "sub/../../victim",
          "sub/deep/../../../victim",
          "../inside/../victim",
          "..",
          "../",
          "../..",
          "../new_outside",
          "../inside/old",
          "sub/..",
          "out",
          "link_to_out",
          "winding",
          "parent/victim",
          "parent/inside/old",
          "parent/new_outside",
          "root/etc/passwd",
          "absolute/victim",
          "absolute/new_outside",
          "absolute_in",
          "new_out",
          "sub/deep/far_out",
          "magic/x",
          "magic_root/etc/passwd",
          "magic_file",
          "loop",
          "loop/x",
          "fifo",
          "old/x",
          "sub",
          ".",
          "",
          std::string("old\0.txt", 8),
          std::string(256, 'n'),
          std::string("sub/") + std::string(4096, 'x'),
          std::string("../victim\0", 10)};
}

TEST_P(Beneath, FortyNamesAreRefused) {
  FileEngine files({.width = 2, .backend = GetParam(), .beneath = inside});
  const auto names = hostile_names(outside.path());
  EXPECT_GE(names.size(), 40U);
  for (const std::string& name : names) {
    for (const FileOperation operation : {read, write, append, stat, sync}) {
      const bool directory = name == "." || name == "sub" || name == "sub/..";
      if (operation == stat && (directory || name == "fifo")) continue;
      if (operation == sync && directory) continue;
      EXPECT_NE(error_of(files, operation, name), 0) << to_string(operation) << " " << name;
      unharmed(name);
    }
    EXPECT_FALSE(result_of(files.copy(name, "copy")).ok()) << "copy from " << name;
    // Of a link in the last place, the rest is about the link itself: see below.
    struct stat status{};
    const bool is_link = name.find('\0') == std::string::npos && !name.starts_with("/") &&
                         ::lstat((inside + "/" + name).c_str(), &status) == 0 &&
                         S_ISLNK(status.st_mode);
    if (is_link || name == "fifo") continue;
    for (const FileOperation operation : {replace, remove}) {
      EXPECT_NE(error_of(files, operation, name), 0) << to_string(operation) << " " << name;
      unharmed(name);
    }
    EXPECT_FALSE(result_of(files.copy("old", name)).ok()) << "copy to " << name;
    unharmed(name);
  }
  EXPECT_FALSE(std::filesystem::exists(inside + "/copy"));
}

TEST_P(Beneath, OtherNamesAreAllowed) {
  FileEngine files({.width = 2, .backend = GetParam(), .beneath = inside});
  ::symlink("sub", (inside + "/in").c_str());
  ::symlink("old", (inside + "/to_old").c_str());
  for (const char* const name : {"old", "./old", "sub/new", "in/new", "sub/../old", "to_old"}) {
    for (const FileOperation operation : {write, append, read, sync, stat}) {
      EXPECT_EQ(error_of(files, operation, name), 0) << to_string(operation) << " " << name;
    }
  }
  for (const char* const name : {"old", "sub/new", "in/new2"}) {
    EXPECT_EQ(error_of(files, replace, name), 0) << name;
    EXPECT_TRUE(result_of(files.copy(name, "sub/copy")).ok()) << name;
  }
  unharmed("all");
}

// What replaces or removes a link in the last place does so with the link.
TEST_P(Beneath, ALinkItselfIsReplacedOrRefused) {
  FileEngine files({.width = 2, .backend = GetParam(), .beneath = inside});
  for (const char* const name : {"out", "new_out", "absolute", "magic_file"}) {
    (void)error_of(files, replace, name);
    unharmed(name);
    (void)result_of(files.copy("old", name));
    unharmed(name);
    (void)error_of(files, remove, name);
    unharmed(name);
  }
}

TEST_P(Beneath, ALastLinkIsNotFollowedWhereAsked) {
  FileEngine files({.width = 2, .backend = GetParam()});
  for (const FileOperation operation : {read, write, append}) {
    FileRequest request = request_for(operation, inside + "/out");
    request.follow_last = false;
    EXPECT_EQ(result_of(files.submit(std::move(request))).failure().error, ELOOP);
    unharmed("out");
  }
}

// Somebody swaps a directory, and a file, for links that lead out, and back, as fast as it goes.
TEST_P(Beneath, AnAttackerSwapsFilesForLinks) {
  std::filesystem::create_directories(outside.at("inside/way"));
  std::filesystem::create_directories(outside.at("inside/.real"));
  std::filesystem::remove(inside + "/.real");
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> swaps{0};
  std::ofstream(inside + "/name") << kText;
  ::symlink("..", (inside + "/other_way").c_str());
  ::symlink("../victim", (inside + "/other_name").c_str());
  std::thread attacker([&] {
    const auto swap = [&](const char* a, const char* b) {
      ::syscall(SYS_renameat2, AT_FDCWD, (inside + a).c_str(), AT_FDCWD, (inside + b).c_str(),
                2U);  // RENAME_EXCHANGE
    };
    while (!stop.load()) {
      swap("/way", "/other_way");
      swap("/name", "/other_name");
      swaps.fetch_add(1);
    }
  });
  {
    FileEngine files({.width = 2, .backend = GetParam(), .beneath = inside});
    const std::size_t most = test::deep() ? 1'000'000 / 6 : 10'000 / 6;
    for (std::size_t i = 0; i < 10 || swaps.load() < most; ++i) {
      for (const char* const name : {"way/victim", "name", "way/new_outside"}) {
        (void)error_of(files, write, name);
        (void)error_of(files, append, name);
        (void)error_of(files, replace, name);
        (void)error_of(files, read, name);
        if (i % 16 == 0) (void)error_of(files, remove, name);
        if (i % 16 == 1) (void)result_of(files.copy("old", name));
      }
      // "way/victim" is a file of its own while "way" is a directory.
      ASSERT_TRUE(outside.get("victim") == "victim") << "written outside";
      ASSERT_FALSE(outside.get("new_outside").has_value()) << "made outside";
    }
  }
  stop.store(true);
  attacker.join();
  unharmed("all");
  std::printf("%zu swaps\n", swaps.load());
}

// ---- Files that change ----

class Changing : public EachBackend {};

TEST_P(Changing, AFileShrinksAndGrowsWhileItIsRead) {
  const Folder root(test::fast_place());
  const std::string path = root.at("file");
  const std::string text(40'000, 'x');
  root.put("file", text);
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (unsigned i = 0; !stop.load(); ++i) {
      ::truncate(path.c_str(), static_cast<off_t>(i * 7919 % 60'000));
      if (i % 8 == 0) root.put("file", text);
    }
  });
  FileEngine files({.width = 2, .backend = GetParam()});
  for (std::size_t i = 0; i < test::rounds(300); ++i) {
    FileResult result = result_of(files.read(path));
    if (!result.ok()) continue;
    EXPECT_EQ(result.bytes(), result.data().size());
    for (const std::byte b : result.data()) {
      ASSERT_TRUE(b == std::byte{'x'} || b == std::byte{0}) << "what was never in the file";
    }
    (void)result_of(files.copy(path, root.at("copy")));
  }
  stop.store(true);
  changer.join();
}

// The requests of one path run one after the other: the last one wins, and nothing is mixed.
TEST_P(Changing, ManyRequestsForOnePath) {
  const Folder root(test::fast_place());
  FileEngine files({.width = 4, .backend = GetParam()});
  std::vector<std::string> contents;
  for (unsigned i = 0; i < 8; ++i) contents.push_back(filled(70'000 + 1000 * (7 - i), i));
  for (std::size_t round = 0; round < test::rounds(50); ++round) {
    std::vector<Future<FileResult>> futures;
    for (const std::string& bytes : contents) {
      if (round % 2 == 0) futures.push_back(files.write(root.at("one"), bytes_of(bytes)));
      else futures.push_back(files.replace(root.at("one"), bytes_of(bytes)));
      futures.push_back(files.read(root.at("one")));
    }
    for (std::size_t i = 0; i < futures.size(); ++i) {
      FileResult result = result_of(std::move(futures[i]));
      ASSERT_TRUE(result.ok()) << test::failure_of(result);
      if (i % 2 == 1) {
        EXPECT_TRUE(text_of(result.data()) == contents[i / 2]) << "mixed, or late";
      }
    }
    EXPECT_TRUE(root.get("one") == contents.back());
  }
  EXPECT_EQ(root.names().size(), 1U);
}

TEST_P(Changing, AFileIsCopiedOntoItself) {
  const Folder root;
  root.put("old", kText);
  ::link(root.at("old").c_str(), root.at("hard").c_str());
  ::symlink("old", root.at("soft").c_str());
  FileEngine files({.width = 2, .backend = GetParam()});
  for (const char* const name : {"old", "hard", "soft", "./old"}) {
    (void)result_of(files.copy(root.at("old"), root.at(name)));
    EXPECT_TRUE(root.get("old") == kText) << name;
  }
}

HANDOFF_EACH_BACKEND(SpecialFiles);
HANDOFF_EACH_BACKEND(Names);
HANDOFF_EACH_BACKEND(Beneath);
HANDOFF_EACH_BACKEND(Changing);

}}  // namespace hostile_paths_test
