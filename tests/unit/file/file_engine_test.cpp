// SPDX-License-Identifier: MIT
//
// What a FileEngine does with each kind of request, with every backend.
#include <sys/xattr.h>

#include "file_support.hpp"
#include "support/child.hpp"
#include "support/file_tap.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace handoff::test;

class FileEngineTest : public OnEachBackend {};
HANDOFF_EACH_BACKEND(FileEngineTest);

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST_P(FileEngineTest, WhatIsWrittenIsRead) {
  FileEngine files(options());
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, kMiB - 1, kMiB,
                                 kMiB + 1, 2 * kMiB + 123}) {
    const std::string text = pattern(size);
    const std::string path = folder / "a";
    EXPECT_EQ(files.write(path, bytes_of(text)).get().bytes(), size);
    EXPECT_EQ(contents(path), text);
    FileResult read = files.read(path).get();
    EXPECT_EQ(read.bytes(), size);
    EXPECT_EQ(text_of(read.data()), text);
    std::string room(size + 10, 'x');
    EXPECT_EQ(files.read(path, room_of(room)).get().bytes(), size);
    EXPECT_EQ(room.substr(0, size), text);
    EXPECT_EQ(room.substr(size), std::string(10, 'x'));
  }
  EXPECT_TRUE(came_to(files.close(), {.done = 7 * 3}));
}

TEST_P(FileEngineTest, AWriteTruncatesOrNot) {
  FileEngine files(options());
  put(folder / "a", "0123456789");
  files.write(folder / "a", bytes_of("ab"), {.offset = 3, .truncate = false}).get().check();
  EXPECT_EQ(contents(folder / "a"), "012ab56789");
  files.write(folder / "a", bytes_of("xy"), {.offset = 4}).get().check();
  EXPECT_EQ(contents(folder / "a"), "012axy");
  files.write(folder / "a", bytes_of("z")).get().check();
  EXPECT_EQ(contents(folder / "a"), "z");
  files.write(folder / "a", bytes_of("!"), {.offset = 3, .truncate = false}).get().check();
  EXPECT_EQ(contents(folder / "a"), std::string("z\0\0!", 4));
}

TEST_P(FileEngineTest, MemoryInSeveralPieces) {
  FileEngine files(options());
  const std::string text = pattern(3 * kMiB);
  FileRequest write{.operation = FileOperation::write, .path = folder / "a"};
  std::vector<std::span<const std::byte>> pieces;
  for (std::size_t at = 0, size = 1; at < text.size(); at += size, size = size * 3 % 70001 + 1) {
    pieces.push_back(bytes_of(text).subspan(at, std::min(size, text.size() - at)));
    if (size % 2 == 0) pieces.emplace_back(pieces.back().data(), 0U);
  }
  write.from = FileMemory<const std::byte>(std::move(pieces));
  EXPECT_EQ(files.submit(std::move(write)).get().bytes(), text.size());
  EXPECT_EQ(contents(folder / "a"), text);

  std::string first(1000, 0);
  std::string second(2 * kMiB, 0);
  std::string third(2 * kMiB, 0);
  EXPECT_EQ(
      files
          .submit({.path = folder / "a", .into = {room_of(first), room_of(second), room_of(third)}})
          .get()
          .bytes(),
      text.size());
  EXPECT_EQ((first + second + third).substr(0, text.size()), text);
}

TEST_P(FileEngineTest, AnEmptySpanIsMemoryToo) {
  FileEngine files(options());
  put(folder / "a", "0123456789");
  std::vector<std::byte> none;
  FileRequest request{.path = folder / "a"};
  request.into = FileMemory<std::byte>(std::vector<std::span<std::byte>>{});
  std::vector<Future<FileResult>> reads;
  reads.push_back(files.read(folder / "a", none));
  reads.push_back(files.read(folder / "a", {}));
  reads.push_back(files.read(OpenFile::open(folder / "a"), none, 3));
  reads.push_back(files.submit({.path = folder / "a", .into = none}));
  reads.push_back(files.submit(std::move(request)));
  for (Future<FileResult>& read : reads) {
    FileResult result = read.get();
    EXPECT_EQ(result.bytes(), 0U);
    EXPECT_TRUE(result.data().empty());
  }
  EXPECT_EQ(files.submit({.path = folder / "a", .into = {}}).get().bytes(), 10U) << "not given";
}

TEST_P(FileEngineTest, RangesOfAWholeRead) {
  FileEngine files(options());
  put(folder / "a", "0123456789");
  FileResult result = files.submit({.path = folder / "a", .offset = 2, .length = 5}).get();
  EXPECT_EQ(text_of(result.data()), "23456");
  result = files.submit({.path = folder / "a", .offset = 20}).get();
  EXPECT_EQ(result.bytes(), 0U);
  EXPECT_EQ(files.submit({.path = folder / "a", .limit = 9}).get().failure().error, EFBIG);
  EXPECT_EQ(files.submit({.path = folder / "a", .limit = 10}).get().bytes(), 10U);
}

TEST_P(FileEngineTest, AppendsComeOneBehindTheOther) {
  FileEngine files(options());
  std::vector<std::string> lines;
  std::vector<Future<FileResult>> written;
  for (int i = 0; i < 50; ++i) lines.push_back("line " + std::to_string(i) + "\n");
  for (const std::string& line : lines) {
    written.push_back(files.append(folder / "a", bytes_of(line)));
  }
  std::uint64_t at = 0;
  std::string all;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(written[i].get().offset(), at);
    at += lines[i].size();
    all += lines[i];
  }
  EXPECT_EQ(contents(folder / "a"), all);
}

TEST_P(FileEngineTest, DurableOnesAreSyncedWithTheirName) {
  CountingTap tap;
  FileEngineOptions with_tap = options();
  with_tap.tap = &tap;
  FileEngine files(with_tap);
  files.write(folder / "a", bytes_of("x"), {.durable = true}).get().check();
  EXPECT_EQ(tap.syncs(), 2U);  // the file, and its directory
  files.write(folder / "a", bytes_of("y"), {.durable = true}).get().check();
  EXPECT_EQ(tap.syncs(), 3U);  // the name is no longer new
  files.sync(folder / "a").get().check();
  EXPECT_EQ(tap.syncs(), 5U);  // by path: of the name too
  files.replace(folder / "a", bytes_of("z"), {.durable = true}).get().check();
  EXPECT_EQ(tap.syncs(), 7U);
  files.remove(folder / "a", {.durable = true}).get().check();
  EXPECT_EQ(tap.syncs(), 8U);
  files.write(folder / "b", bytes_of("x")).get().check();
  EXPECT_EQ(tap.syncs(), 8U);
}

TEST_P(FileEngineTest, ReplaceKeepsTheModeAndLeavesNothingElse) {
  FileEngine files(options());
  const std::string text = pattern(2 * kMiB + 7);
  for (const bool durable : {false, true}) {
    put(folder / "a", "old");
    ASSERT_EQ(::chmod((folder / "a").c_str(), 0640), 0);
    EXPECT_EQ(files.replace(folder / "a", bytes_of(text), {.durable = durable}).get().bytes(),
              text.size());
    EXPECT_EQ(contents(folder / "a"), text);
    struct stat there{};
    ASSERT_EQ(::stat((folder / "a").c_str(), &there), 0);
    EXPECT_EQ(there.st_mode & 07777, 0640U);
    EXPECT_EQ(folder.names().size(), 1U);
  }
  files.replace(folder / "b", bytes_of("new"), {.mode = 0600}).get().check();
  EXPECT_EQ(contents(folder / "b"), "new");
}

// The list says less than the mode: its group bits are what others get.
TEST_P(FileEngineTest, ReplaceAndCopyKeepListsAndAttributes) {
  FileEngine files(options());
  constexpr unsigned char list[] = {2,   0,   0,   0,   1,   0,   6,  0,   255, 255, 255,
                                    255, 2,   0,   6,   0,   146, 16, 0,   0,   4,   0,
                                    0,   0,   255, 255, 255, 255, 16, 0,   6,   0,   255,
                                    255, 255, 255, 32,  0,   0,   0,  255, 255, 255, 255};
  constexpr const char* key = "system.posix_acl_access";
  for (const bool copies : {false, true}) {
    put(folder / "a", "old");
    put(folder / "b", "new");
    if (::setxattr((folder / "a").c_str(), key, list, sizeof list, 0) != 0 ||
        ::setxattr((folder / "a").c_str(), "user.note", "kept", 4, 0) != 0) {
      GTEST_SKIP() << "no attributes here";
    }
    (copies ? files.copy(folder / "b", folder / "a") : files.replace(folder / "a", bytes_of("new")))
        .get()
        .check();
    EXPECT_EQ(contents(folder / "a"), "new");
    std::array<char, 64> kept{};
    ASSERT_EQ(::getxattr((folder / "a").c_str(), key, kept.data(), kept.size()),
              static_cast<ssize_t>(sizeof list));
    EXPECT_EQ(std::memcmp(kept.data(), list, sizeof list), 0);
    EXPECT_EQ(::getxattr((folder / "a").c_str(), "user.note", kept.data(), kept.size()), 4);
  }
}

TEST_P(FileEngineTest, WhatSyncsNoDirectoriesIsTakenAsItIs) {
  FoldersCannotBeSynced tap;
  FileEngineOptions with_tap = options();
  with_tap.tap = &tap;
  FileEngine files(with_tap);
  files.write(folder / "a", bytes_of("x"), {.durable = true}).get().check();
  files.replace(folder / "a", bytes_of("y"), {.durable = true}).get().check();
  EXPECT_EQ(contents(folder / "a"), "y");
  files.remove(folder / "a", {.durable = true}).get().check();
  EXPECT_GE(tap.asked, 3);
}

TEST_P(FileEngineTest, ACopyIsTheSameWithItsHoles) {
  FileEngine files(options());
  const std::string text = pattern(3 * kMiB + 11);
  put(folder / "a", text);
  EXPECT_EQ(files.copy(folder / "a", folder / "b").get().bytes(), text.size());
  EXPECT_EQ(contents(folder / "b"), text);
  ASSERT_EQ(::truncate((folder / "a").c_str(), 24 * static_cast<off_t>(kMiB)), 0);
  ASSERT_EQ(::chmod((folder / "a").c_str(), 0755), 0);
  EXPECT_EQ(files.copy(folder / "a", folder / "c", {.durable = true}).get().bytes(), 24 * kMiB);
  struct stat made{};
  ASSERT_EQ(::stat((folder / "c").c_str(), &made), 0);
  EXPECT_EQ(made.st_size, 24 * static_cast<off_t>(kMiB));
  EXPECT_LT(made.st_blocks * 512, 8 * static_cast<off_t>(kMiB));
  EXPECT_EQ(made.st_mode & 0700, 0700U) << "a program stays one";
  EXPECT_EQ(contents(folder / "c").substr(0, text.size()), text);
  EXPECT_EQ(files
                .submit({.operation = FileOperation::copy,
                         .path = folder / "a",
                         .to = folder / "d",
                         .offset = 5,
                         .length = 2 * kMiB})
                .get()
                .bytes(),
            2 * kMiB);
  EXPECT_EQ(contents(folder / "d"), text.substr(5, 2 * kMiB));
  EXPECT_EQ(files.copy(folder / "a", folder / "a").get().failure().error, EINVAL);
  ASSERT_EQ(::link((folder / "b").c_str(), (folder / "b2").c_str()), 0);
  EXPECT_EQ(files.copy(folder / "b", folder / "b2").get().failure().error, EINVAL);
  EXPECT_EQ(contents(folder / "b"), text);
}

TEST_P(FileEngineTest, RemovesAndAsks) {
  FileEngine files(options());
  put(folder / "a", "12345");
  const FileResult asked = files.stat(folder / "a").get();
  EXPECT_EQ(asked.attributes().bytes, 5U);
  EXPECT_TRUE(S_ISREG(asked.attributes().mode));
  files.remove(folder / "a").get().check();
  EXPECT_EQ(files.stat(folder / "a").get().failure().error, ENOENT);
  EXPECT_EQ(files.remove(folder / "a").get().failure().error, ENOENT);
  files.submit({.operation = FileOperation::remove, .path = folder / "a", .missing_is_ok = true})
      .get()
      .check();
  EXPECT_TRUE(S_ISDIR(files.stat(folder.path()).get().attributes().mode));
  for (const FileOperation operation : {FileOperation::read, FileOperation::remove}) {
    EXPECT_EQ(files.submit({.operation = operation}).get().failure().text(),
              "the path is empty: No such file or directory");
  }
}

TEST_P(FileEngineTest, AnOpenFileHasRanges) {
  FileEngine files(options());
  const OpenFile file = OpenFile::open(folder / "a", {.write = true, .create = true});
  const std::string text = pattern(64 * 4096);
  std::vector<Future<FileResult>> all;
  for (std::size_t i = 0; i < 64; ++i) {
    all.push_back(files.write(file, bytes_of(text).subspan(i * 4096, 4096), i * 4096));
  }
  all.push_back(files.sync(file));
  for (auto& one : all) one.get().check();
  EXPECT_EQ(contents(folder / "a"), text);
  std::string room(4096, 0);
  EXPECT_EQ(files.read(file, room_of(room), 9 * 4096).get().bytes(), 4096U);
  EXPECT_EQ(room, text.substr(9 * 4096, 4096));
  EXPECT_EQ(files.read(file, room_of(room), 64 * 4096 - 1).get().bytes(), 1U);
  EXPECT_THROW((void)files.sync(OpenFile()), std::logic_error);
}

TEST_P(FileEngineTest, DirectOrNotTheBytesAreTheSame) {
  FileEngine files(options());
  for (const std::size_t size : {std::size_t{100}, std::size_t{8192}, 2 * kMiB, kMiB + 777}) {
    std::vector<std::byte> wide(size + 8192);
    const auto begin = reinterpret_cast<std::uintptr_t>(wide.data());
    for (const std::size_t shift : {(4096 - begin % 4096) % 4096, std::size_t{1}}) {
      const std::string text = pattern(size, static_cast<unsigned>(shift));
      const std::span<std::byte> memory = std::span(wide).subspan(shift, size);
      std::memcpy(memory.data(), text.data(), size);
      files.write(folder / "a", memory, {.durable = true, .preallocate = true, .direct = true})
          .get()
          .check();
      EXPECT_EQ(contents(folder / "a"), text);
      files.replace(folder / "b", memory, {.direct = true}).get().check();
      EXPECT_EQ(contents(folder / "b"), text);
      std::memset(memory.data(), 0, size);
      EXPECT_EQ(files.submit({.path = folder / "a", .into = memory, .direct = true}).get().bytes(),
                size);
      EXPECT_EQ(text_of(memory), text);
    }
  }
}

// What else is refused: tests/fault/hostile_paths_test.cpp.
TEST_P(FileEngineTest, WhatIsNoFileIsNotReplaced) {
  FileEngine files(options());
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  ASSERT_EQ(::mkdir((folder / "dir").c_str(), 0700), 0);
  const auto replace = [&](const std::string& path) {
    return files.replace(path, bytes_of("x")).get().failure().error;
  };
  EXPECT_EQ(replace(folder / "fifo"), EINVAL);
  EXPECT_EQ(replace("/dev/null"), EINVAL);
  EXPECT_EQ(replace(folder / "dir"), EISDIR);
  EXPECT_EQ(replace(folder / std::string(256, 'n')), ENAMETOOLONG);
  EXPECT_EQ(replace(folder / std::string(255, 'n')), 0);
}

TEST_P(FileEngineTest, WhatIsRefusedSaysWhy) {
  FileEngine files(options());
  put(folder / "file", "x");
  const auto said = [&](FileRequest request) {
    return files.submit(std::move(request)).get().failure().text();
  };
  EXPECT_NE(said({.operation = FileOperation::write,
                  .path = folder / "file",
                  .offset = (std::uint64_t{1} << 63) - 2,
                  .from = bytes_of("xy")})
                .find(": Invalid argument"),
            std::string::npos);
  const std::string nobody = folder / "nobody";
  EXPECT_EQ(said({.path = nobody}), nobody + ": open: No such file or directory");
  EXPECT_EQ(said({.path = nobody, .offset = ~std::uint64_t{0}}),
            nobody + ": no file can have bytes there: Invalid argument");
  EXPECT_EQ(said({.path = nobody, .until = std::chrono::seconds(-1)}),
            nobody + ": not begun: Timer expired");
  EXPECT_EQ(said({.path = "/dev/null"}), "/dev/null: it is no regular file: Invalid argument");
  EXPECT_EQ(contents(folder / "file"), "x");
}

// The child of a fork() has no thread that would end the request.
TEST_P(FileEngineTest, EndsInAForkedChildInTheMiddleOfARequest) {
  HoldingTap tap(FileCallKind::write);
  FileEngineOptions told = options();
  told.tap = &tap;
  auto files = std::make_unique<FileEngine>(told);
  const auto write = [&] { return files->write(folder / "a", bytes_of("text")).get().bytes(); };
  std::thread writer([&] { EXPECT_EQ(write(), 4U); });
  tap.wait_for(1);
  const auto end_copy = [&] {
    files.reset();
    return 7;
  };
  EXPECT_EQ(in_child(end_copy), 7);
  tap.open();
  writer.join();
  EXPECT_EQ(write(), 4U);
  EXPECT_EQ(files->close().done, 2U);
}

}  // namespace
