// SPDX-License-Identifier: MIT
//
// AppendLog where its surroundings are hostile: what a writer that ended left behind, folders that
// cannot be read or synced, limits, children that have its lock, files that anybody could have
// made.
#include "file/append_log_format.hpp"
#include "support/child.hpp"
#include "support/file_tap.hpp"
#include "support/limit.hpp"
#include "support/test.hpp"
#include "unit/file/append_log_support.hpp"

namespace append_log_recovery_test { namespace {

using namespace handoff;
namespace fs = std::filesystem;
using detail::FileCallKind;
using detail::FileCallView;
using namespace test;

void flip(std::string& bytes, std::size_t at) { bytes[at] = static_cast<char>(bytes[at] ^ 1); }

const std::vector<std::string> kThree{"first", "second", "third"};

// ---- What is cut is kept ----

TEST(AppendLogRecovery, AnAcknowledgedRecordThatIsDamagedIsKeptAndSaid) {
  const LogFolder folder;
  append_and_be_killed(folder, kThree);
  std::string damaged = contents(folder.segment());
  const std::size_t third = damaged.rfind("third");
  flip(damaged, third);
  test::put(folder.segment(), damaged);
  {
    AppendLog log(folder.log(), kPlain);
    EXPECT_EQ(log.last(), 2U);
    ASSERT_NE(log.cut().bytes, 0U) << "nobody was told";
    ASSERT_EQ(folder.kept(), std::vector<std::string>{log.cut().file});
    EXPECT_EQ(log.cut().offset + log.cut().bytes, third + 5) << "up to the last byte that is there";
    EXPECT_EQ(contents(log.cut().file), damaged.substr(log.cut().offset, log.cut().bytes));
    struct stat facts{};
    ASSERT_EQ(::stat(log.cut().file.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600U) << "nobody else's";
    log.append("a new third").check();
  }
  EXPECT_EQ(read_all(folder.log()), (std::vector<std::string>{"first", "second", "a new third"}));
  const AppendLog log(folder.log(), kPlain);
  EXPECT_EQ(log.cut().bytes, 0U) << "of this opening";
  EXPECT_EQ(folder.kept().size(), 1U) << "nobody removes it";
}

TEST(AppendLogRecovery, EachOpeningKeepsItsOwn) {
  const LogFolder folder;
  append_and_be_killed(folder, {"first"});
  const std::string whole = contents(folder.segment());
  std::size_t count = 0;
  for (const std::size_t bytes : {1U, 8U, 50U}) {
    test::put(folder.segment(), whole + std::string(bytes, 'x'));
    const AppendLog log(folder.log(), kPlain);
    EXPECT_EQ(log.cut().bytes, bytes);
    EXPECT_EQ(folder.kept().size(), ++count);
    EXPECT_EQ(contents(log.cut().file), std::string(bytes, 'x'));
  }
}

TEST(AppendLogRecovery, RoomThatWasReservedIsNotKept) {
  const LogFolder folder;
  append_and_be_killed(folder, kThree);
  test::put(folder.segment(), contents(folder.segment()) + std::string(300'000, '\0'));
  const AppendLog log(folder.log(), kPlain);
  EXPECT_EQ(log.last(), 3U);
  EXPECT_EQ(log.cut().bytes, 0U);
  EXPECT_TRUE(folder.kept().empty());
}

TEST(AppendLogRecovery, ALongTornEndIsKeptWhole) {
  const LogFolder folder;
  append_and_be_killed(folder, kThree);
  const std::string whole = contents(folder.segment());
  std::string torn(1'000'000, 'x');
  std::fill_n(torn.begin() + 300'000, 600'000, '\0');
  test::put(folder.segment(), whole + torn + std::string(5000, '\0'));
  const AppendLog log(folder.log(), kPlain);
  EXPECT_EQ(log.cut().offset, whole.size());
  EXPECT_EQ(contents(log.cut().file), torn);
}

// A loss of power between two calls finds it in one place or the other.
TEST(AppendLogRecovery, WhatIsKeptIsDurableBeforeItIsCut) {
  const LogFolder folder;
  append_and_be_killed(folder, kThree);
  test::put(folder.segment(), contents(folder.segment()) + std::string(50, 'x'));
  test::RecordingTap tap;
  {
    const AppendLog log(folder.log(), {.preallocate = false, .tap = &tap});
  }
  std::vector<std::string> steps;
  std::map<int, std::string> names;
  for (const auto& call : tap.take()) {
    if (call.kind == FileCallKind::open) {
      const bool is_kept = call.path.ends_with(".cut");
      names[static_cast<int>(call.result)] = is_kept ? "kept" : fs::path(call.path).filename();
    }
    const std::string& name = names[call.descriptor];
    if (call.kind == FileCallKind::write && name == "kept") steps.emplace_back("written");
    if (call.kind == FileCallKind::fsync && name == "kept") steps.emplace_back("synced");
    if (call.kind == FileCallKind::fsync && name == "log") steps.emplace_back("named");
    if (call.kind == FileCallKind::truncate) steps.emplace_back("cut");
  }
  steps.resize(std::min<std::size_t>(steps.size(), 4));
  EXPECT_EQ(steps, (std::vector<std::string>{"written", "synced", "named", "cut"}));
}

TEST(AppendLogRecovery, WhatCannotBeKeptIsNotCut) {
  for (int calls = 0; calls < 4; ++calls) {  // the open, the write, its sync, the folder's
    const LogFolder folder;
    append_and_be_killed(folder, kThree);
    const std::string torn = contents(folder.segment()) + std::string(50, 'x');
    test::put(folder.segment(), torn);
    bool begun = false;
    bool failed = false;
    int left = calls;
    // Calls fail from the moment on that something is kept.
    test::TapOf tap([&](const FileCallView& call) {
      using enum FileCallKind;
      begun =
          begun || (call.kind == open && call.path != nullptr && std::strstr(call.path, ".cut"));
      const bool passes = !begun || call.kind == read || call.kind == close || call.kind == unlink;
      const bool fails = !passes && left-- <= 0;
      failed = failed || fails;
      return answer_if(fails, -ENOSPC);
    });
    const test::Told failure =
        failure_of([&] { AppendLog(folder.log(), {.preallocate = false, .tap = &tap}); });
    ASSERT_TRUE(failed);
    EXPECT_EQ(failure.error, ENOSPC) << calls;
    EXPECT_NE(failure.text.find("keep what must be cut off"), std::string::npos) << failure.text;
    EXPECT_EQ(contents(folder.segment()), torn);
    EXPECT_TRUE(folder.kept().empty()) << "nothing half-written";
    const AppendLog log(folder.log(), kPlain);
    EXPECT_EQ(log.cut().bytes, 50U);
  }
}

// ---- What a sync that failed has left ----

// The kernel calls pages clean that a failed sync has not brought to the device: without a write of
// the same bytes the next sync says nothing of them.
TEST(AppendLogRecovery, WhatASyncHasFailedForIsWrittenAgain) {
  const LogFolder folder;
  std::size_t proven = 0;
  {
    test::TapOf tap([](const FileCallView& call) {
      return answer_if(call.kind == FileCallKind::fdatasync, -EIO);
    });
    AppendLog(folder.log(), kPlain).append("durable").check();
    proven = contents(folder.segment()).size();
    AppendLog log(folder.log(), {.preallocate = false, .tap = &tap});
    EXPECT_EQ(log.append("written").failure().error, EIO);
  }
  const std::string whole = contents(folder.segment());
  ASSERT_GT(whole.size(), proven);
  test::RecordingTap tap;
  const AppendLog log(folder.log(), {.preallocate = false, .tap = &tap});
  EXPECT_EQ(log.durable(), 2U);
  std::vector<bool> written(whole.size());
  bool synced = false;
  int segment = -1;
  for (const auto& call : tap.take()) {
    if (call.kind == FileCallKind::open && call.path == "0000000000000001.log") {
      segment = static_cast<int>(call.result);
    }
    if (call.descriptor != segment) continue;
    if (call.kind == FileCallKind::write) {
      EXPECT_FALSE(synced) << "before the sync";
      for (std::uint64_t i = 0; i < call.bytes; ++i) written.at(call.offset + i) = true;
    }
    synced = synced || call.kind == FileCallKind::fsync;
  }
  EXPECT_TRUE(synced);
  for (std::size_t at = proven; at < whole.size(); ++at) ASSERT_TRUE(written[at]) << at;
  EXPECT_EQ(contents(folder.segment()), whole) << "with the same bytes";
}

// ---- The proof of damage ----

// It is looked for in windows: a head that lies across the end of one is found too.
TEST(AppendLogRecovery, AProofAtTheEndOfAWindowIsFound) {
  constexpr std::size_t window = std::size_t{256} << 10;
  for (const std::size_t windows : {1U, 2U}) {
    for (std::size_t before = 0; before <= 48; before += 8) {
      const LogFolder folder;
      const std::size_t bytes = windows * window - before - sizeof(detail::RecordHead);
      {
        AppendLog log(folder.log(),
                      {.segment_bytes = std::uint64_t{4} << 20, .preallocate = false});
        log.append("first").check();
        log.append(std::string(bytes, 'r')).check();
      }
      std::string damaged = contents(folder.segment());
      flip(damaged, damaged.find("rrrr"));
      test::put(folder.segment(), damaged);
      EXPECT_EQ(failure_of([&] { AppendLog(folder.log(), kPlain); }).error, EBADMSG)
          << before << " bytes before the end of window " << windows;
      EXPECT_EQ(failure_of([&] { (void)read_all(folder.log()); }).error, EBADMSG);
      EXPECT_EQ(contents(folder.segment()), damaged) << "nothing was cut";
    }
  }
}

// ---- What is in the folder, and where the folder is ----

TEST(AppendLogPlace, AFifoInPlaceOfASegmentIsDamageAndNoHang) {
  const LogFolder folder;
  fs::create_directory(folder.log());
  ASSERT_EQ(::mkfifo(folder.segment().c_str(), 0600), 0);
  EXPECT_EQ(failure_of([&] { AppendLogReader(folder.log()); }).error, EBADMSG);
  EXPECT_EQ(failure_of([&] { AppendLog(folder.log(), kPlain); }).error, EBADMSG);
}

TEST(AppendLogPlace, AFifoInPlaceOfTheLockIsNoHang) {
  const LogFolder folder;
  fs::create_directory(folder.log());
  ASSERT_EQ(::mkfifo((folder.log() + "/lock").c_str(), 0600), 0);
  const test::Told failure = failure_of([&] { AppendLog(folder.log(), kPlain); });
  EXPECT_TRUE(failure.error == 0 || failure.error == EINVAL) << failure.text;
}

TEST(AppendLogPlace, ALinkInPlaceOfAFileIsNotFollowed) {
  const LogFolder folder;
  append_and_be_killed(folder, kThree);
  const std::string outside = folder.log() + ".outside";
  const std::string before = contents(folder.segment());
  fs::rename(folder.segment(), outside);
  fs::create_symlink(outside, folder.segment());
  EXPECT_EQ(failure_of([&] { AppendLogReader(folder.log()); }).error, ELOOP);
  EXPECT_EQ(failure_of([&] { AppendLog(folder.log(), kPlain); }).error, ELOOP);
  EXPECT_EQ(contents(outside), before);
  fs::remove(folder.segment());
  fs::remove(outside);
  fs::remove(folder.log() + "/lock");
  fs::create_symlink(outside, folder.log() + "/lock");
  EXPECT_EQ(failure_of([&] { AppendLog(folder.log(), kPlain); }).error, ELOOP);
  EXPECT_FALSE(fs::exists(outside));
}

TEST(AppendLogPlace, WhatIsNamedAlmostAsASegmentIsNone) {
  const LogFolder folder;
  append_and_be_killed(folder, kThree);
  for (const char* const name :
       {"000000000000000A.log", "2xxxxxxxxxxxxxxx.log", "00000000000000002.log",
        "0000000000000002.lo", "0000000000000002.LOG", "+000000000000002.log"}) {
    test::put(folder.log() + "/" + name, "another's");
  }
  EXPECT_EQ(read_all(folder.log()), kThree);
  EXPECT_EQ(AppendLog(folder.log(), kPlain).last(), 3U);
}

// As /home and the folders of hosters are: they may be entered and not read.
TEST(AppendLogPlace, AFolderAboveThatCannotBeRead) {
  const LogFolder folder;
  const fs::path above = fs::path(folder.log()).parent_path();
  fs::create_directory(folder.log());
  constexpr unsigned nobody = 65534;
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(::chown(folder.log().c_str(), nobody, nobody), 0);
  }
  ASSERT_EQ(::chmod(above.c_str(), is_root ? 0711 : 0311), 0);
  const int code = in_child([&] {
    if (is_root && ::setresuid(nobody, nobody, nobody) != 0) return 2;
    if (::open(above.c_str(), O_RDONLY | O_DIRECTORY) >= 0) return 3;
    for (int opening = 0; opening < 2; ++opening) {
      AppendLog(folder.log(), kPlain).append("kept").check();
    }
    return 0;
  });
  ASSERT_EQ(::chmod(above.c_str(), 0755), 0);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(read_all(folder.log()).size(), 2U);
}

TEST(AppendLogPlace, AFolderThatCannotBeSynced) {
  const LogFolder folder;
  test::FoldersCannotBeSynced tap;
  for (int opening = 0; opening < 2; ++opening) {
    AppendLog log(folder.log(), {.segment_bytes = 300, .preallocate = false, .tap = &tap});
    for (int i = 0; i < 10; ++i) log.append(std::string(100, 'x')).check();
    EXPECT_TRUE(log.trim(log.last()).ok());
  }
  EXPECT_GT(tap.asked, 10);
}

TEST(AppendLogPlace, WhatIsWrongIsSaid) {
  const LogFolder folder;
  const test::Told none = failure_of([&] { AppendLog(folder.log() + "/no/log"); });
  EXPECT_EQ(none.error, ENOENT);
  EXPECT_EQ(none.text, "AppendLog " + folder.log() +
                           "/no/log: make the folder; the one above it has to be there: No such "
                           "file or directory");
  const std::string empty = ": the path is empty; name a folder: No such file or directory";
  EXPECT_EQ(failure_of([] { AppendLog(""); }).text, "AppendLog" + empty);
  EXPECT_EQ(failure_of([] { AppendLogReader(""); }).text, "AppendLogReader" + empty);
  const AppendLog log(folder.log(), kPlain);
  const test::Told locked = failure_of([&] { AppendLog(folder.log()); });
  EXPECT_EQ(locked.error, EWOULDBLOCK);
  EXPECT_NE(locked.text.find("/log: open in another program, or by another AppendLog of this one"),
            std::string::npos)
      << locked.text;
  test::put(folder.log() + ".file", "");
  EXPECT_EQ(failure_of([&] { AppendLog(folder.log() + ".file"); }).error, ENOTDIR);
  const test::Told unread = failure_of([&] { AppendLogReader(folder.log() + "2"); });
  EXPECT_EQ(unread.text,
            "AppendLogReader " + folder.log() + "2: no such folder: No such file or directory");
}

// ---- The lock ----

TEST(AppendLogLock, EndsWithCloseThoughAForkedChildLives) {
  const LogFolder folder;
  std::array<int, 2> go{};
  ASSERT_EQ(::pipe2(go.data(), O_CLOEXEC), 0);
  AppendLog log(folder.log(), kPlain);
  log.append("a").check();
  const pid_t child = start_child([&] {
    char byte = 0;
    ::close(go[1]);
    return ::read(go[0], &byte, 1) == 0 ? 0 : 1;
  });
  log.append("b").check();
  EXPECT_EQ(failure_of([&] { AppendLog(folder.log()); }).error, EWOULDBLOCK);
  (void)log.close();
  EXPECT_EQ(log.trim(2).failure().error, ECANCELED) << "it is another's now";
  {
    AppendLog next(folder.log(), kPlain);
    next.append("c").check();
  }
  ::close(go[0]);
  ::close(go[1]);
  EXPECT_EQ(end_of(child), 0);
  EXPECT_EQ(read_all(folder.log()).size(), 3U);
}

// The object in a child is a copy: what it does at its end is the parent's to do.
TEST(AppendLogLock, StaysWhenAForkedChildEndsItsCopy) {
  const LogFolder folder;
  auto log = std::make_unique<AppendLog>(folder.log(), kPlain);
  log->append("a").check();
  const std::string before = contents(folder.segment());
  const auto end_copy = [&] {
    log.reset();
    return 0;
  };
  EXPECT_EQ(in_child(end_copy), 0);
  EXPECT_EQ(contents(folder.segment()), before);
  EXPECT_EQ(failure_of([&] { AppendLog(folder.log()); }).error, EWOULDBLOCK);
  log->append("b").check();
  log.reset();
  EXPECT_EQ(read_all(folder.log()), (std::vector<std::string>{"a", "b"}));
}

// ---- Limits ----

TEST(AppendLogLimits, RoomThatWasHadInPartIsGivenBack) {
  const LogFolder folder;
  for (const bool old : {false, true}) {
    bool taken = false;
    // A file system that takes what it can, and says then that it was not enough.
    test::TapOf tap([&](const FileCallView& call) {
      const bool is_it = call.kind == FileCallKind::preallocate;
      const auto at = static_cast<off_t>(call.offset);
      const auto half = static_cast<off_t>(call.bytes / 2);
      if (is_it) taken = ::fallocate(call.descriptor, 0, at, half) == 0;
      return answer_if(is_it, -ENOSPC);
    });
    const AppendLog log(folder.log(), {.segment_bytes = std::uint64_t{4} << 20, .tap = &tap});
    if (!taken) GTEST_SKIP() << "no room is reserved here";
    struct stat facts{};
    ASSERT_EQ(::stat(folder.segment().c_str(), &facts), 0);
    EXPECT_LT(facts.st_size, 1000) << old;
    EXPECT_LT(facts.st_blocks, 100) << old;
  }
}

// The signal would end this process: it is not ignored here.
TEST(AppendLogLimits, ALimitOfFilesIsAnErrorAndNoSignal) {
  const std::string record(1000, 'x');
  for (const bool limit_first : {true, false}) {
    const LogFolder folder;
    std::size_t acknowledged = 0;
    {
      std::optional<test::Limit> limit;
      const auto set_limit = [&] { limit.emplace(RLIMIT_FSIZE, 100'000U); };
      // A segment is longer than the limit: it does without its room, or has it already.
      if (limit_first) set_limit();
      AppendLog log(folder.log());
      if (!limit_first) set_limit();
      AppendResult result = log.append(record);
      for (; result.ok() && acknowledged < 1000; ++acknowledged) result = log.append(record);
      EXPECT_EQ(result.failure().error, EFBIG);
      EXPECT_GT(result.failure().offset, 50'000u);
      EXPECT_EQ(log.append("x").failure().error, EFBIG) << "for good";
    }
    EXPECT_GT(acknowledged, 90U);
    AppendLog(folder.log()).append("goes on").check();
    const auto all = read_all(folder.log());
    EXPECT_GE(all.size(), acknowledged + 1);
    for (std::size_t i = 0; i < acknowledged; ++i) EXPECT_EQ(all.at(i), record);
  }
}

// ---- Files that anybody could have made ----

template <class T>
void put_at(std::string& bytes, std::size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, std::min(sizeof value, bytes.size() - at));
}

// A segment with numbers that cannot be, some of them signed again as if they were right.
std::string hostile_of(const std::string& whole, const std::vector<std::size_t>& heads,
                       std::mt19937_64& dice) {
  std::string hostile = whole;
  const auto header =
      detail::from_raw<detail::SegmentHeader>(std::as_bytes(std::span(whole.data(), whole.size())));
  for (auto changes = 1 + dice() % 3; changes != 0; --changes) {
    const std::size_t at = dice() % (hostile.size() / 8) * 8;
    const std::uint64_t extreme = dice() % 3 == 0 ? ~std::uint64_t{0} : dice() >> dice() % 64;
    switch (dice() % 5) {
      case 0: hostile[at] = static_cast<char>(dice() & 255); break;
      case 1: put_at(hostile, at, extreme); break;
      case 2: put_at(hostile, at, detail::RecordHead::kMark | extreme); break;
      case 3: {
        const std::size_t head_at = heads[dice() % heads.size()];
        detail::BatchHead head{.mark = detail::BatchHead::kMark | (dice() % 8),
                               .first = dice() % 12,
                               .durable = dice() % 2 == 0 ? dice() % 12 : extreme};
        head.check = head.right_check(header.log, head_at);
        if (head_at < hostile.size()) put_at(hostile, head_at, head);
        break;
      }
      default: hostile.resize(std::max<std::size_t>(at, 8));
    }
  }
  return hostile;
}

TEST(AppendLogFormat, HostileSegmentsAreReadOrRefused) {
  const LogFolder folder;
  const std::vector<std::string> records{"first", std::string(300, 'x'), "", "fourth", "fifth"};
  append_and_be_killed(folder, records);
  const std::string whole = contents(folder.segment());
  std::vector<std::size_t> heads{sizeof(detail::SegmentHeader)};
  for (const std::string& record : records) {
    heads.push_back(heads.back() + sizeof(detail::BatchHead) + sizeof(detail::RecordHead) +
                    detail::padded(record.size()));
  }
  ASSERT_EQ(heads.back(), whole.size());
  heads.pop_back();
  auto dice = test::random();
  std::map<int, std::size_t> said;
  const std::size_t tries = test::deep() ? 1'000'000U : test::rounds(2000);
  for (std::size_t i = 0; i < tries; ++i) {
    const std::string hostile = hostile_of(whole, heads, dice);
    test::put(folder.segment(), hostile);
    const test::Told read = failure_of([&] {
      for (const AppendLogRecord& record : AppendLogReader(folder.log())) {
        ASSERT_LE(record.bytes.size(), hostile.size());
      }
    });
    test::TapOf tap = test::unsynced();
    const AppendLogOptions options{.batch_bytes = 4096, .preallocate = false, .tap = &tap};
    const test::Told opened = failure_of([&] { AppendLog(folder.log(), options); });
    ASSERT_TRUE(read.error == 0 || read.error == EBADMSG) << read.text;
    ASSERT_EQ(opened.error, read.error) << opened.text;
    ++said[read.error];
    for (const std::string& name : folder.kept()) fs::remove(name);
  }
  EXPECT_EQ(said.size(), 2U) << "some of each";
}

}}  // namespace append_log_recovery_test
