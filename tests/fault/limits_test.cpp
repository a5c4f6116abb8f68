// SPDX-License-Identifier: MIT
//
// What the system has only so much of: room on the device, length of a file, descriptors, 32 bits.
// Every request ends, says what went wrong, and leaves nothing behind.
#include <sys/mount.h>
#include <sys/statvfs.h>

#include "fault/fault_support.hpp"
#include "support/file_tap.hpp"
#include "support/limit.hpp"
#include "support/test.hpp"

namespace limits_test { namespace {

using namespace handoff;
using namespace test;

const std::string kOld = filled(30'000, 1);

// ---- A device that is full ----

// Calls `body` on a thread that has a small file system of its own at `folder`.
template <class Body>
void on_small_device(const std::string& folder, const char* bytes, const Body& body) {
  bool mounted = false;
  std::thread([&] {
    if (::unshare(CLONE_NEWNS) != 0) return;
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
    const std::string options = std::string("size=") + bytes;
    if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, options.c_str()) != 0) return;
    mounted = true;
    body();
    ::umount2(folder.c_str(), MNT_DETACH);
  }).join();
  if (!mounted) GTEST_SKIP() << "no file system of one's own here";
}

class FullDevice : public EachBackend {};

TEST_P(FullDevice, WritersAreToldAndNothingIsSaid) {
  const Folder root;
  const auto descriptors = test::open_descriptors();
  on_small_device(root.path(), "1m", [&] {
    FileEngine files({.width = 4, .backend = GetParam()});
    std::vector<std::string> contents;
    for (unsigned i = 0; i < 4; ++i) contents.push_back(filled(600'000, i));
    std::vector<Future<FileResult>> futures;
    for (unsigned i = 0; i < 4; ++i) {
      futures.push_back(files.write(root.at("w" + std::to_string(i)), bytes_of(contents[i])));
    }
    unsigned failed = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const FileResult result = result_of(std::move(futures[i]));
      const auto now = root.get("w" + std::to_string(i));
      ASSERT_TRUE(now.has_value() || !result.ok());
      if (result.ok()) {
        EXPECT_TRUE(*now == contents[i]) << "success, and bytes are missing";
        continue;
      }
      ++failed;
      EXPECT_EQ(result.failure().error, ENOSPC) << result.failure().text();
      EXPECT_EQ(result.failure().offset, result.bytes_before_failure());
      EXPECT_TRUE(
          now->starts_with(std::string_view(contents[i]).substr(0, result.bytes_before_failure())));
    }
    EXPECT_GE(failed, 3U);
  });
  EXPECT_EQ(test::open_descriptors(), descriptors);
}

TEST_P(FullDevice, WhatIsReplacedStaysAsItWas) {
  const Folder root;
  on_small_device(root.path(), "256k", [&] {
    root.put("old", kOld);
    root.put("filler", std::string(200 << 10, 'x'));
    FileEngine files({.width = 2, .backend = GetParam()});
    const std::string larger = filled(100'000, 2);
    for (const bool durable : {false, true}) {
      const FileResult result =
          result_of(files.replace(root.at("old"), bytes_of(larger), {.durable = durable}));
      EXPECT_EQ(result.failure().error, ENOSPC) << test::failure_of(result);
      const FileResult copied =
          result_of(files.copy(root.at("filler"), root.at("new"), {.durable = durable}));
      EXPECT_EQ(copied.failure().error, ENOSPC) << test::failure_of(copied);
      EXPECT_EQ(root.names().size(), 2U) << "something is left";
    }
    const FileResult reserved =
        result_of(files.write(root.at("new"), bytes_of(larger), {.preallocate = true}));
    EXPECT_EQ(reserved.failure().error, ENOSPC) << test::failure_of(reserved);
    EXPECT_EQ(reserved.bytes_before_failure(), 0U) << "it fails at once";
    EXPECT_TRUE(root.get("old") == kOld);
    // There is room again: the same engine goes on.
    EXPECT_TRUE(result_of(files.remove(root.at("filler"))).ok());
    EXPECT_TRUE(result_of(files.replace(root.at("old"), bytes_of(larger))).ok());
    EXPECT_TRUE(root.get("old") == larger);
  });
}

TEST(FullDevice, ALogStopsAndGoesOnWhenItIsOpenedAnew) {
  const Folder root;
  on_small_device(root.path(), "512k", [&] {
    const AppendLogOptions options{.segment_bytes = 64 << 10, .batch_bytes = 4096};
    const std::string record = filled(3000, 1);
    std::uint64_t acknowledged = 0;
    {
      AppendLog log(root.at("log"), options);
      for (int i = 0; i < 1000; ++i) {
        const AppendResult result = log.append(record);
        if (!result.ok()) {
          EXPECT_EQ(result.failure().error, ENOSPC) << result.failure().text();
          EXPECT_EQ(log.append(record).failure().error, ENOSPC) << "for good";
          break;
        }
        acknowledged = result.value();
      }
      EXPECT_EQ(log.durable(), acknowledged);
      EXPECT_TRUE(log.trim(acknowledged / 2).ok()) << "that makes room";
    }
    EXPECT_GT(acknowledged, 50U);
    AppendLog log(root.at("log"), options);
    EXPECT_GE(log.durable(), acknowledged);
    EXPECT_TRUE(log.append(record).ok());
  });
}

// An empty log leaves a small device to others, and gives all back.
TEST(FullDevice, ALogTakesAPartOfWhatIsLeft) {
  const Folder root;
  on_small_device(root.path(), "40m", [&] {
    const auto left = [&] {
      struct statvfs device{};
      EXPECT_EQ(::statvfs(root.path().c_str(), &device), 0);
      return static_cast<std::uint64_t>(device.f_bavail) * device.f_frsize;
    };
    const std::uint64_t before = left();
    {
      AppendLog log(root.at("log"));
      EXPECT_GT(left(), before / 10 * 9) << "while it is empty";
      const std::string record = filled(100'000, 1);
      for (int i = 0; i < 100; ++i) ASSERT_TRUE(log.append(record).ok());
      EXPECT_GT(left(), before / 2) << "with 10 MB in it";
      root.put("other", std::string(100'000, 'x'));
      EXPECT_EQ(root.get("other")->size(), 100'000U) << "another program writes";
    }
    EXPECT_GT(left(), before - 11'000'000) << "after its close";
  });
}

// ---- The longest file ----

class LengthOfFile : public EachBackend {};

TEST_P(LengthOfFile, IsReportedAndNothingIsLeft) {
  constexpr std::size_t most = 64 << 10;
  const Folder root;
  root.put("old", kOld);
  const std::string larger = filled(200'000, 3);
  const auto descriptors = test::open_descriptors();
  {
    const Limit limit(RLIMIT_FSIZE, most);  // the signal would end this process
    FileEngine files({.width = 2, .backend = GetParam()});
    const FileResult replaced =
        result_of(files.replace(root.at("old"), bytes_of(larger), {.durable = true}));
    EXPECT_EQ(replaced.failure().error, EFBIG) << test::failure_of(replaced);
    const FileResult written = result_of(files.write(root.at("new"), bytes_of(larger)));
    EXPECT_EQ(written.failure().error, EFBIG) << test::failure_of(written);
    EXPECT_EQ(written.failure().offset, most);
    EXPECT_EQ(written.bytes_before_failure(), most);
    const FileResult appended = result_of(files.append(root.at("old"), bytes_of(larger)));
    EXPECT_EQ(appended.failure().error, EFBIG) << test::failure_of(appended);
  }
  EXPECT_EQ(test::open_descriptors(), descriptors);
  EXPECT_TRUE(root.get("old")->starts_with(kOld));
  EXPECT_TRUE(root.get("new") == larger.substr(0, most));
  EXPECT_EQ(root.names().size(), 2U) << "something is left";
}

// ---- Descriptors ----

class Descriptors : public EachBackend {};

TEST_P(Descriptors, SixteenForSixtyFourFiles) {
  const Folder root;
  const auto descriptors = test::open_descriptors();
  {
    FileEngine files({.width = 4, .backend = GetParam()});
    const Limit limit(RLIMIT_NOFILE, 16);
    std::vector<std::string> contents;
    for (unsigned i = 0; i < 64; ++i) contents.push_back(filled(5000, i));
    std::vector<Future<FileResult>> futures;
    for (unsigned i = 0; i < 64; ++i) {
      const std::string path = root.at("f" + std::to_string(i));
      futures.push_back(i % 2 == 0 ? files.write(path, bytes_of(contents[i]))
                                   : files.replace(path, bytes_of(contents[i])));
    }
    std::vector<FileResult> results;
    for (auto& future : futures) results.push_back(result_of(std::move(future)));
    // Only now are there descriptors for a look at each file.
    for (unsigned i = 0; i < 64; ++i) {
      const FileResult& result = results[i];
      const auto now = root.get("f" + std::to_string(i));
      if (result.ok()) {
        EXPECT_TRUE(now == contents[i]);
      } else {
        EXPECT_EQ(result.failure().error, EMFILE) << result.failure().text();
      }
      if (!result.ok() && i % 2 == 1) {
        EXPECT_FALSE(now.has_value()) << "half a file";
      }
    }
  }
  EXPECT_EQ(test::open_descriptors(), descriptors);
  for (const std::string& name : root.names()) EXPECT_EQ(name.front(), 'f') << name << " is left";
}

// ... and when there is none at all: each is told, none hangs, and later all is well.
TEST_P(Descriptors, None) {
  const Folder root;
  root.put("old", kOld);
  FileEngine files({.width = 4, .backend = GetParam()});
  (void)result_of(files.read(root.at("old")));
  {
    const Limit limit(RLIMIT_NOFILE, 0);
    const FileResult result = result_of(files.read(root.at("old")));
    EXPECT_EQ(result.failure().error, EMFILE) << test::failure_of(result);
    EXPECT_EQ(result_of(files.replace(root.at("old"), bytes_of("x"))).failure().error, EMFILE);
    EXPECT_EQ(result_of(files.stat(root.at("old"))).ok() || true, true);
  }
  EXPECT_TRUE(result_of(files.read(root.at("old"))).ok());
  EXPECT_EQ(root.names().size(), 1U);
}

// ---- More than 32 bits ----

// Says that all was moved, and notes what.
class Pretending final : public test::FileTap {
 public:
  explicit Pretending(const std::byte* memory, std::uint64_t offset)
      : memory_(memory), offset_(offset) {}

  Verdict before(const test::FileCallView& call) noexcept override {
    if (call.kind != test::FileCallKind::write && call.kind != test::FileCallKind::read) return {};
    const std::lock_guard lock(mutex_);
    std::uint64_t at = call.offset;
    std::uint64_t left = std::min<std::uint64_t>(call.bytes, 0x7ffff000);
    if (++calls_ % 5 == 0) left = left / 2 + 1;
    const auto moved = static_cast<long>(left);
    for (std::size_t i = 0; i < call.piece_count && left > 0; ++i) {
      const std::uint64_t length = std::min<std::uint64_t>(call.pieces[i].iov_len, left);
      if (static_cast<const std::byte*>(call.pieces[i].iov_base) != memory_ + (at - offset_)) {
        ++wrong_;
      }
      moved_.emplace_back(at, at + length);
      at += length;
      left -= length;
    }
    return {Verdict::answer, moved};
  }
  void after(const test::FileCallView&, long) noexcept override {}

  // Whether so many bytes were moved, each once, each from its place.
  bool moved_all(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    std::sort(moved_.begin(), moved_.end());
    std::uint64_t at = offset_;
    for (const auto& [begin, end] : moved_) {
      if (begin != at) return false;
      at = end;
    }
    return at == offset_ + bytes && wrong_ == 0;
  }

 private:
  std::mutex mutex_;
  const std::byte* memory_;
  std::uint64_t offset_;
  unsigned calls_ = 0;
  unsigned wrong_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> moved_;
};

// Addresses that nobody touches.
class Untouched {
 public:
  explicit Untouched(std::size_t bytes)
      : bytes_(bytes),
        memory_(
            static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
  ~Untouched() { ::munmap(memory_, bytes_); }
  Untouched(const Untouched&) = delete;
  Untouched& operator=(const Untouched&) = delete;
  std::span<std::byte> all() const { return {memory_, bytes_}; }

 private:
  std::size_t bytes_;
  std::byte* memory_;
};

class Large : public EachBackend {};

TEST_P(Large, MoreThanTwoGibibytesInOneRequest) {
  constexpr std::uint64_t bytes = (std::uint64_t{5} << 29) + 4097;
  constexpr std::uint64_t offset = (std::uint64_t{5} << 30) + 3;
  const Untouched memory(bytes);
  const Folder root;
  root.put("old", "");
  ASSERT_EQ(::truncate(root.at("old").c_str(), std::int64_t{1} << 35), 0);
  {
    Pretending tap(memory.all().data(), offset);
    FileEngine files({.width = 2, .backend = GetParam(), .tap = &tap});
    const FileResult result =
        result_of(files.write(root.at("old"), memory.all(), {.offset = offset, .truncate = false}));
    ASSERT_TRUE(result.ok()) << test::failure_of(result);
    EXPECT_EQ(result.bytes(), bytes);
    EXPECT_TRUE(tap.moved_all(bytes));
  }
  Pretending tap(memory.all().data(), offset);
  FileEngine files({.width = 2, .backend = GetParam(), .tap = &tap});
  const FileResult result = result_of(files.read(root.at("old"), memory.all(), offset));
  ASSERT_TRUE(result.ok()) << test::failure_of(result);
  EXPECT_EQ(result.bytes(), bytes);
  EXPECT_TRUE(tap.moved_all(bytes));
}

// Bytes that the system could give to programs.
std::uint64_t memory_to_be_had() {
  std::ifstream file("/proc/meminfo");
  std::uint64_t kib = 0;
  for (std::string word; file >> word;) {
    if (word == "MemAvailable:") file >> kib;
  }
  return kib << 10;
}

// No pretence: a source of holes with a few words in it, so that only the copy takes room.
class ReallyLarge : public EachBackend {
 protected:
  static constexpr std::uint64_t kBytes = (std::uint64_t{5} << 29) + 4097;
  static constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;

  void SetUp() override {
    EachBackend::SetUp();
    if (!test::deep()) GTEST_SKIP() << "it moves 2.5 GiB three times: in a deep run only";
    struct statvfs room{};
    ASSERT_EQ(::statvfs(root.path().c_str(), &room), 0);
    const std::uint64_t free_bytes = std::uint64_t{room.f_bavail} * room.f_frsize;
    if (free_bytes < 2 * kBytes) {
      GTEST_SKIP() << "it needs 5 GiB in " << root.path() << ", where " << (free_bytes >> 20)
                   << " MiB are free";
    }
    if (memory_to_be_had() < 2 * kBytes) {
      GTEST_SKIP() << "it needs 5 GiB of memory, and " << (memory_to_be_had() >> 20)
                   << " MiB are to be had";
    }
    root.put("source", "");
    ASSERT_EQ(::truncate(root.at("source").c_str(), std::int64_t{kBytes}), 0);
    std::fstream file(root.at("source"), std::ios::binary | std::ios::in | std::ios::out);
    for (const std::uint64_t at : places) {
      file.seekp(static_cast<std::streamoff>(at)).write(kOld.data(), std::ssize(kOld));
    }
    ASSERT_TRUE(file.flush().good());
  }

  static FileResult end_of(Future<FileResult> future) {
    EXPECT_EQ(future.wait(10 * test::kPatience), Status::ok);
    return future.get();
  }

  // The words where they were, and nothing else.
  static bool right(std::span<const std::byte> piece, std::uint64_t at) {
    std::string wanted(piece.size(), '\0');
    for (const std::uint64_t place : places) {
      const std::uint64_t begin = std::max(place, at);
      const std::uint64_t end = std::min(place + kOld.size(), at + piece.size());
      if (begin < end) wanted.replace(begin - at, end - begin, kOld, begin - place, end - begin);
    }
    return std::memcmp(piece.data(), wanted.data(), wanted.size()) == 0;
  }
  static bool right(std::span<const std::byte> all) {
    for (std::uint64_t at = 0; at < all.size(); at += kPiece) {
      if (!right(all.subspan(at, std::min(kPiece, all.size() - at)), at)) return false;
    }
    return all.size() == kBytes;
  }
  bool right_file(const char* name) const {
    std::ifstream file(root.at(name), std::ios::binary);
    std::string piece(kPiece, ' ');
    std::uint64_t at = 0;
    while (file.read(piece.data(), std::ssize(piece)) || file.gcount() > 0) {
      const auto got = static_cast<std::size_t>(file.gcount());
      if (!right(bytes_of(piece).first(got), at)) return false;
      at += got;
    }
    return at == kBytes;
  }

  // The ends, and where 31 bits end.
  static constexpr std::array<std::uint64_t, 3> places{0, (std::uint64_t{1} << 31) - 1000,
                                                       kBytes - 30'000};
  Folder root;
};

TEST_P(ReallyLarge, InOneRequest) {
  FileEngine files({.width = 2, .backend = GetParam()});
  {
    const Untouched memory(kBytes);
    const FileResult read = end_of(files.read(root.at("source"), memory.all()));
    ASSERT_TRUE(read.ok()) << test::failure_of(read);
    EXPECT_EQ(read.bytes(), kBytes);
    EXPECT_TRUE(right(memory.all()));
    const FileResult written = end_of(files.write(root.at("written"), memory.all()));
    ASSERT_TRUE(written.ok()) << test::failure_of(written);
    EXPECT_EQ(written.bytes(), kBytes);
  }
  EXPECT_TRUE(right_file("written"));
  EXPECT_TRUE(result_of(files.remove(root.at("written"))).ok());
  const FileResult copied = end_of(files.copy(root.at("source"), root.at("copied")));
  ASSERT_TRUE(copied.ok()) << test::failure_of(copied);
  EXPECT_EQ(copied.bytes(), kBytes);
  EXPECT_TRUE(right_file("copied"));
}

TEST_P(Large, BeyondFourGibibytes) {
  constexpr std::uint64_t offset = (std::uint64_t{5} << 30) + 1;
  const Folder root;
  FileEngine files({.width = 2, .backend = GetParam()});
  EXPECT_TRUE(
      result_of(files.write(root.at("new"), bytes_of(kOld), {.offset = offset, .truncate = false}))
          .ok());
  const FileResult appended = result_of(files.append(root.at("new"), bytes_of("end")));
  ASSERT_TRUE(appended.ok()) << test::failure_of(appended);
  EXPECT_EQ(appended.offset(), offset + kOld.size());
  std::string back(kOld.size() + 10, ' ');
  const FileResult read =
      result_of(files.read(root.at("new"), std::as_writable_bytes(std::span(back)), offset));
  ASSERT_TRUE(read.ok()) << test::failure_of(read);
  EXPECT_EQ(read.bytes(), kOld.size() + 3);
  EXPECT_EQ(back.substr(0, read.bytes()), kOld + "end");
  const FileResult known = result_of(files.stat(root.at("new")));
  EXPECT_EQ(known.attributes().bytes, offset + kOld.size() + 3);
  EXPECT_LT(known.attributes().allocated_bytes, 1U << 20) << "it has a hole";
  FileRequest part;
  part.operation = FileOperation::read;
  part.path = root.at("new");
  part.offset = offset - 2;
  part.length = 5;
  FileResult few = result_of(files.submit(std::move(part)));
  ASSERT_TRUE(few.ok()) << test::failure_of(few);
  EXPECT_EQ(test::text_of(few.data()), std::string(2, '\0') + kOld.substr(0, 3));
}

TEST_P(Large, NoPlaceForIt) {
  const Folder root;
  root.put("old", kOld);
  FileEngine files({.width = 2, .backend = GetParam()});
  for (const std::uint64_t offset : {~std::uint64_t{0}, ~std::uint64_t{0} - 5,
                                     std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 10}) {
    const FileResult written = result_of(
        files.write(root.at("old"), bytes_of(kOld), {.offset = offset, .truncate = false}));
    EXPECT_FALSE(written.ok()) << offset;
    const int error = written.failure().error;
    EXPECT_TRUE(error == EINVAL || error == EFBIG || error == EOVERFLOW) << error;
    EXPECT_EQ(written.bytes_before_failure(), 0U);
    std::string into(100, ' ');
    const FileResult read =
        result_of(files.read(root.at("old"), std::as_writable_bytes(std::span(into)), offset));
    EXPECT_TRUE(!read.ok() || read.bytes() == 0) << offset;
  }
  EXPECT_TRUE(root.get("old") == kOld);
}

// A file of 4 EiB that has no bytes: it is not read, nor is memory for it asked for.
TEST_P(Large, MoreThanThereIsMemory) {
  const Folder root("/dev/shm");
  root.put("old", "");
  if (::truncate(root.at("old").c_str(), std::int64_t{1} << 62) != 0) {
    GTEST_SKIP() << "no file system for such files";
  }
  FileEngine files({.width = 2, .backend = GetParam()});
  if (!test::sanitized) {  // AddressSanitizer ends a program that asks for so much
    const FileResult whole = result_of(files.read(root.at("old")));
    EXPECT_TRUE(whole.failure().error == ENOMEM || whole.failure().error == EFBIG)
        << test::failure_of(whole);
  }
  FileRequest limited;
  limited.operation = FileOperation::read;
  limited.path = root.at("old");
  limited.limit = 1 << 20;
  const FileResult refused = result_of(files.submit(std::move(limited)));
  EXPECT_EQ(refused.failure().error, EFBIG) << test::failure_of(refused);
}

HANDOFF_EACH_BACKEND(FullDevice);
HANDOFF_EACH_BACKEND(LengthOfFile);
HANDOFF_EACH_BACKEND(Descriptors);
HANDOFF_EACH_BACKEND(Large);
HANDOFF_EACH_BACKEND(ReallyLarge);

}}  // namespace limits_test
