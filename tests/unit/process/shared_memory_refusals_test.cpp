// SPDX-License-Identifier: MIT
//
// Shared memory that is not what it should be, is another's, or cannot be had: an error with its
// reason, no signal, and nothing left behind.
#include <sys/file.h>

#include "process/shared_header.hpp"
#include "support/failing.hpp"
#include "support/test.hpp"
#include "unit/process/shared_memory_support.hpp"

namespace shared_memory_refusals_test { namespace {

using handoff::SharedMemory;
using handoff::detail::SharedHeaderCopy;
using namespace handoff::test;

constexpr std::size_t kBytes = 10'000;
constexpr std::size_t kFile = 16'384;
constexpr int kSealed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// A descriptor of the test's.
class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() { ::close(number_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  operator int() const { return number_; }  // NOLINT(google-explicit-constructor): it is one

 private:
  int number_;
};

// As create() and publish() make it.
SharedHeaderCopy right_header(std::uint64_t total = kFile) {
  SharedMemory memory = published({.bytes = kBytes});
  SharedHeaderCopy header;
  EXPECT_EQ(::pread(memory.descriptor(), &header, sizeof header, 0), ssize_t{sizeof header});
  if (total != kFile) {
    header.words = handoff::detail::shared_header_words(kBytes, total, 0, 5, false);
  }
  return header;
}
// A file that another program made.
int made(const SharedHeaderCopy& header, std::size_t bytes, int seals) {
  const int file = ::memfd_create("other", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  EXPECT_EQ(::ftruncate(file, static_cast<off_t>(bytes)), 0);
  const std::size_t written = std::min(bytes, sizeof header);
  EXPECT_EQ(::pwrite(file, &header, written, 0), static_cast<ssize_t>(written));
  if (seals != 0) {
    EXPECT_EQ(::fcntl(file, F_ADD_SEALS, seals), 0);
  }
  return file;
}
Refused attach_refused(int file) {
  const auto before = open_descriptors();
  const Refused answer = refused([&] { return SharedMemory::attach(file); });
  EXPECT_EQ(open_descriptors(), before) << answer.text;
  return answer;
}
Refused open_refused(const std::string& name, bool writable = true) {
  const auto before = open_descriptors();
  const Refused answer = refused([&] { return SharedMemory::open(name, {.writable = writable}); });
  EXPECT_EQ(open_descriptors(), before) << answer.text;
  return answer;
}
bool says(const Refused& answer, const char* words) {
  return answer.text.find(words) != std::string::npos;
}

// ---- By a descriptor ----

TEST(AttachRefuses, AllButTheRightFile) {
  EXPECT_TRUE(SharedMemory::attach(File(made(right_header(), kFile, kSealed))).valid());

  const Refused none = attach_refused(-1);
  EXPECT_EQ(none.error, EBADF);
  const Refused unsealed = attach_refused(File(made(right_header(), kFile, 0)));
  EXPECT_EQ(unsealed.step, "seals");
  EXPECT_TRUE(says(unsealed, "cut it short")) << unsealed.text;
  for (const int seals : {F_SEAL_SHRINK, F_SEAL_GROW | F_SEAL_SEAL, F_SEAL_SHRINK | F_SEAL_GROW}) {
    EXPECT_EQ(attach_refused(File(made(right_header(), kFile, seals))).step, "seals");
  }
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const File reader(ends[0]), writer(ends[1]);
  EXPECT_EQ(attach_refused(reader).step, "seals");
  EXPECT_EQ(attach_refused(File(::open("/dev/zero", O_RDWR))).step, "seals");
  EXPECT_EQ(attach_refused(File(::open("/", O_RDONLY | O_DIRECTORY))).step, "seals");
  EXPECT_NE(attach_refused(File(::open("/", O_PATH))).error, 0);

  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, sizeof(SharedHeaderCopy) - 1}) {
    const Refused cut = attach_refused(File(made(right_header(), bytes, kSealed)));
    EXPECT_EQ(cut.step, "header");
    EXPECT_TRUE(says(cut, "within its first page")) << cut.text;
  }
  for (const std::size_t bytes : {sizeof(SharedHeaderCopy), std::size_t{4096}, kFile - 4096,
                                  kFile - 1, kFile + 1, kFile + 4096}) {
    const Refused cut = attach_refused(File(made(right_header(), bytes, kSealed)));
    EXPECT_EQ(cut.error, EPROTO);
    EXPECT_TRUE(says(cut, "size is not as it was made")) << cut.text;
  }
  // It says so itself: still no missing page is mapped.
  const Refused huge = attach_refused(
      File(made(right_header(std::uint64_t{1} << 40), std::size_t{1} << 30, kSealed)));
  EXPECT_TRUE(says(huge, "size is not as it was made")) << huge.text;
}

TEST(AttachRefuses, WhatIsHalfMade) {
  SharedMemory memory = SharedMemory::create({.bytes = kBytes});
  const Refused early = attach_refused(memory.descriptor());
  EXPECT_EQ(early.error, EAGAIN);
  EXPECT_TRUE(says(early, "not published")) << early.text;
  const Refused empty = attach_refused(File(made({}, kFile, kSealed)));
  EXPECT_EQ(empty.error, EAGAIN) << empty.text;
  EXPECT_EQ(attach_refused(File(made({}, 0, kSealed))).error, EAGAIN);
  memory.publish();
  EXPECT_TRUE(SharedMemory::attach(memory.descriptor()).valid());
}

TEST(AttachRefuses, AnotherLayout) {
  SharedMemory memory = published({.bytes = kBytes, .layout = 5});
  const Refused other = refused([&] { return SharedMemory::attach(memory.descriptor()); });
  EXPECT_TRUE(says(other, "layout")) << other.text;
  EXPECT_TRUE(SharedMemory::attach(memory.descriptor(), {.layout = 5}).valid());
}

// ---- By a name ----

TEST(Names, OfAFormThatCannotBe) {
  const std::string long_one = "/" + std::string(255, 'x');
  for (const std::string& name :
       {std::string("x"), std::string("/"), std::string("/a/b"), std::string("/.."),
        std::string("/."), std::string("//a"), long_one, std::string("/a\0b", 4),
        std::string("/a\nb"), std::string("/a\x1b[1m"), std::string("/a\xc2\x9b[1m"),
        std::string("/a\x9b[1m"), std::string("../../etc/passwd")}) {
    EXPECT_THROW((void)SharedMemory::create({.name = name, .bytes = 1}), std::invalid_argument);
    EXPECT_THROW((void)SharedMemory::open(name), std::invalid_argument);
    EXPECT_THROW((void)SharedMemory::remove(name), std::invalid_argument);
  }
  EXPECT_THROW((void)SharedMemory::open(""), std::invalid_argument);
  EXPECT_THROW((void)SharedMemory::remove(""), std::invalid_argument);
  EXPECT_EQ(open_refused("/handoff_test_nobody_has_this").error, ENOENT);
  EXPECT_FALSE(SharedMemory::remove("/handoff_test_nobody_has_this"));
  const std::string longest = "/handoff_test_" + std::string(241, 'x');
  EXPECT_TRUE(SharedMemory::create({.name = longest, .bytes = 1}).valid());
}

TEST(Names, OneThatIsTaken) {
  const SharedName name;
  SharedMemory memory = SharedMemory::create({.name = name.text(), .bytes = kBytes});
  memory.bytes()[0] = std::byte{1};
  memory.publish();
  const auto before = open_descriptors();
  const Refused second =
      refused([&] { return SharedMemory::create({.name = name.text(), .bytes = kBytes}); });
  EXPECT_EQ(second.error, EEXIST);
  EXPECT_TRUE(says(second, name.text().c_str())) << second.text;
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(SharedMemory::open(name.text()).bytes()[0], std::byte{1});
}

TEST(Names, OneThatIsAnothersByNowStays) {
  const SharedName name;
  std::optional<SharedMemory> first = SharedMemory::create({.name = name.text(), .bytes = kBytes});
  ASSERT_EQ(::shm_unlink(name.text().c_str()), 0);
  {
    const SharedMemory second = SharedMemory::create({.name = name.text(), .bytes = kBytes});
    first.reset();
    EXPECT_TRUE(name.is_there()) << "the first creator took away what is the second one's";
  }
  EXPECT_FALSE(name.is_there());
}

// What stands at a name: nothing of it is opened, waited for or followed.
TEST(Names, OfSomethingElse) {
  const SharedName name, target;
  SharedMemory memory = published({.name = target.text(), .bytes = kBytes});
  ASSERT_EQ(::symlink(target.path().c_str(), name.path().c_str()), 0);
  for (const bool writable : {false, true}) {
    const Refused link = open_refused(name.text(), writable);
    EXPECT_EQ(link.error, ELOOP);
    EXPECT_TRUE(says(link, "a link")) << link.text;
  }
  EXPECT_EQ(refused([&] { return SharedMemory::create({.name = name.text(), .bytes = 1}); }).error,
            EEXIST);
  ASSERT_EQ(::unlink(name.path().c_str()), 0);

  ASSERT_EQ(::link(target.path().c_str(), name.path().c_str()), 0);
  EXPECT_TRUE(says(open_refused(name.text()), "another one too"));
  ASSERT_EQ(::unlink(name.path().c_str()), 0);

  ASSERT_EQ(::mkfifo(name.path().c_str(), 0600), 0);
  for (const bool writable : {false, true}) {
    EXPECT_EQ(open_refused(name.text(), writable).step, "owner");
  }
  ASSERT_EQ(::unlink(name.path().c_str()), 0);
  ASSERT_EQ(::mkdir(name.path().c_str(), 0700), 0);
  EXPECT_NE(open_refused(name.text()).error, 0);
  EXPECT_NE(open_refused(name.text(), false).error, 0);
  EXPECT_NE(refused([&] { return SharedMemory::remove(name.text()); }).error, 0);
  ASSERT_EQ(::rmdir(name.path().c_str()), 0);
}

TEST(Names, CutShortOrNeverMade) {
  const SharedName name;
  SharedMemory memory = SharedMemory::create({.name = name.text(), .bytes = kBytes});
  EXPECT_EQ(open_refused(name.text()).error, EAGAIN) << "not published";
  memory.publish();
  EXPECT_EQ(open_refused(name.text()).error, 0);
  ASSERT_EQ(::ftruncate(memory.descriptor(), kFile - 4096), 0);
  EXPECT_TRUE(says(open_refused(name.text()), "size is not as it was made"));
  ASSERT_EQ(::ftruncate(memory.descriptor(), 10), 0);
  EXPECT_TRUE(says(open_refused(name.text()), "within its first page"));
  ASSERT_EQ(::ftruncate(memory.descriptor(), 0), 0);
  EXPECT_EQ(open_refused(name.text()).error, EAGAIN)
      << "its creator may be about to give it a size";
}

// Killed at each call of the way: what it leaves is refused, and can be taken away.
TEST(Names, OfACreatorThatWasKilledOnTheWay) {
  const SharedName name;
  const std::vector<std::vector<long>> calls{
      {SYS_fchmod}, {SYS_flock}, {SYS_ftruncate}, {SYS_fallocate}};
  for (const std::vector<long>& each : calls) {
    SCOPED_TRACE(each.front());
    const int end = in_child([&] {
      if (!kill_at(each)) return 77;
      return SharedMemory::create({.name = name.text(), .bytes = kBytes}).valid() ? 1 : 2;
    });
    if (end == 77) GTEST_SKIP() << "system calls cannot be filtered here";
    EXPECT_EQ(end, -SIGSYS);
    EXPECT_EQ(open_refused(name.text()).error, EAGAIN);
    EXPECT_EQ(
        refused([&] { return SharedMemory::create({.name = name.text(), .bytes = 1}); }).error,
        EEXIST);
    EXPECT_TRUE(SharedMemory::remove(name.text()));
    EXPECT_TRUE(SharedMemory::create({.name = name.text(), .bytes = 1}).valid());
    EXPECT_FALSE(name.is_there());
  }
}

// All want to be the creator, at once: one is, and the others get what it made, whole.
struct Race {
  std::string name;
  int start[2], end[2], done[2];  // pipes: begin, the creator may end, one that attached has ended
};
constexpr int kCreated = 10, kAttached = 20;

int take_part(const Race& race, int number) {
  ::close(race.start[1]);
  ::close(race.end[1]);
  char ignored = 0;
  (void)!::read(race.start[0], &ignored, 1);
  SharedMemory memory;
  const Refused taken = refused([&] {
    memory = SharedMemory::create({.name = race.name, .bytes = kBytes});
    return true;
  });
  if (taken.error == 0) {
    for (std::byte& byte : memory.bytes()) byte = static_cast<std::byte>(number + 1);
    memory.publish();
    (void)!::read(race.end[0], &ignored, 1);
    return kCreated;
  }
  if (taken.error != EEXIST) return 1;
  Refused early;
  do
    early = refused([&] {
      memory = SharedMemory::open(race.name);
      return true;
    });
  while (early.error == EAGAIN);
  if (early.error != 0) {
    std::fprintf(stderr, "%s\n", early.text.c_str());
    return 2;
  }
  const std::byte first = memory.bytes().front();
  const bool whole = std::all_of(memory.bytes().begin(), memory.bytes().end(),
                                 [first](std::byte byte) { return byte == first; });
  return whole && first != std::byte{0} ? kAttached : 3;
}

TEST(Names, OfManyThatStartTogether) {
  constexpr int many = 8;
  // A sanitizer sees nothing of what goes on between processes.
  const int rounds = handoff::test::slow ? 5 : 20;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    const SharedName name;
    Race race{.name = name.text(), .start = {}, .end = {}, .done = {}};
    ASSERT_TRUE(::pipe(race.start) == 0 && ::pipe(race.end) == 0 && ::pipe(race.done) == 0);
    std::vector<pid_t> members;
    for (int i = 0; i < many; ++i) {
      members.push_back(start_child([&, i] {
        const int code = take_part(race, i);
        if (code != kCreated) (void)!::write(race.done[1], "", 1);
        return code;
      }));
    }
    for (const int each : {race.start[0], race.start[1], race.done[1]}) ::close(each);
    char told[many];
    for (ssize_t have = 0, more = 1; have < many - 1 && more > 0; have += more) {
      more = ::read(race.done[0], told, sizeof told);
    }
    for (const int each : {race.end[0], race.end[1], race.done[0]}) ::close(each);
    int created = 0, attached = 0;
    for (const pid_t each : members) {
      const int code = end_of(each);
      created += code == kCreated ? 1 : 0;
      attached += code == kAttached ? 1 : 0;
    }
    EXPECT_EQ(created, 1);
    EXPECT_EQ(attached, many - 1);
  }
}

TEST(Names, OpenToOthers) {
  const SharedName name;
  SharedMemory memory = published({.name = name.text(), .bytes = kBytes});
  for (const mode_t mode : {0640U, 0604U, 0666U, 0700U, 04600U}) {
    ASSERT_EQ(::chmod(name.path().c_str(), mode), 0);
    const Refused wide = open_refused(name.text());
    EXPECT_EQ(wide.step, "owner") << mode;
    EXPECT_TRUE(says(wide, "open to other users")) << wide.text;
  }
}

// Root may open all; it does not.
TEST(Names, OfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  const SharedName name;
  const auto refused_child = [&] {
    return in_child([&] {
      if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 2;
      const Refused answer = open_refused(name.text(), false);
      const Refused removal = refused([&] { return SharedMemory::remove(name.text()); });
      return answer.error == EACCES && removal.error == EACCES ? 0 : 1;
    });
  };
  {
    SharedMemory memory = published({.name = name.text(), .bytes = kBytes});
    EXPECT_EQ(refused_child(), 0);
    ASSERT_EQ(::chmod(name.path().c_str(), 0666), 0);
    EXPECT_EQ(refused_child(), 0) << "open to it, and still another's";
    ASSERT_EQ(::chmod(name.path().c_str(), 0600), 0);
    ASSERT_EQ(::chown(name.path().c_str(), 65534, 65534), 0);
    const Refused stranger = open_refused(name.text());
    EXPECT_EQ(stranger.error, EACCES);
    EXPECT_EQ(stranger.step, "owner");
    EXPECT_TRUE(says(stranger, "another user's")) << stranger.text;
  }
}

TEST(Names, LeftBehindByAProcessThatWasKilled) {
  const SharedName name;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = start_child([&] {
    SharedMemory memory = published({.name = name.text(), .bytes = kBytes});
    const char made = 1;
    if (::write(ends[1], &made, 1) != 1) return 1;
    for (;;) ::pause();
  });
  char made = 0;
  ASSERT_EQ(::read(ends[0], &made, 1), 1);
  const std::size_t before = open_descriptors().size();
  const Refused alive = refused([&] { return SharedMemory::remove(name.text()); });
  EXPECT_EQ(alive.error, EBUSY);
  EXPECT_TRUE(says(alive, "creator has it still")) << alive.text;
  EXPECT_TRUE(name.is_there());
  EXPECT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_EQ(end_of(child), -SIGKILL);
  const SharedMemory kept = SharedMemory::open(name.text());
  EXPECT_TRUE(SharedMemory::remove(name.text()));
  EXPECT_FALSE(name.is_there());
  EXPECT_FALSE(SharedMemory::remove(name.text()));
  EXPECT_EQ(kept.bytes().size(), kBytes);
  EXPECT_EQ(open_descriptors().size(), before + 1);
  for (const int each : ends) ::close(each);
}

// ---- What cannot be had ----

TEST(NotToBeHad, SizesBeyondAll) {
  const auto before = open_descriptors();
  const SharedName name;
  for (const std::string& which : {std::string(), name.text()}) {
    for (const std::size_t bytes :
         {std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max() - 4096,
          std::numeric_limits<std::size_t>::max() / 2 + 1}) {
      const Refused beyond =
          refused([&] { return SharedMemory::create({.name = which, .bytes = bytes}); });
      EXPECT_EQ(beyond.error, EFBIG) << beyond.text;
      EXPECT_EQ(beyond.step, "size");
    }
  }
  EXPECT_FALSE(name.is_there());
  EXPECT_EQ(open_descriptors(), before);
}

// More than there is: refused at once, and no process is killed for it. The child can map less than
// that, and is the first to be killed: the test harms nobody where nothing is refused.
TEST(NotToBeHad, MoreThanTheSystemHas) {
  if (handoff::test::sanitized) GTEST_SKIP() << "a limit of mappings stops a sanitizer";
  const SharedName name;
  for (const std::string& which : {std::string(), name.text()}) {
    for (const bool huge : {false, true}) {
      const int end = in_child([&] {
        std::ofstream("/proc/self/oom_score_adj") << 1000;
        const rlimit limit{std::size_t{1} << 30, std::size_t{1} << 30};
        if (::setrlimit(RLIMIT_AS, &limit) != 0) return 1;
        const Refused most = refused([&] {
          return SharedMemory::create(
              {.name = which, .bytes = std::size_t{1} << 46, .huge_pages = huge});
        });
        return most.error == ENOMEM && most.step == "size" ? 0 : 2;
      });
      EXPECT_EQ(end, 0);
    }
  }
  EXPECT_FALSE(name.is_there());
}

// A limit of the process; the child that has it sees an error and no signal.
TEST(NotToBeHad, BeyondALimitOfTheProcess) {
  struct Limit {
    __rlimit_resource which;
    rlim_t value;
    std::size_t bytes;
    int error;
    const char* words;
  };
  const int next = ::dup(0);
  ::close(next);
  const SharedName name;
  for (const Limit& each : {Limit{RLIMIT_FSIZE, 8192, kBytes, EFBIG, "RLIMIT_FSIZE"},
                            Limit{RLIMIT_NOFILE, static_cast<rlim_t>(next), kBytes, EMFILE, ""},
                            Limit{RLIMIT_AS, 1 << 20, 1 << 24, ENOMEM, ": mmap: "}}) {
    // The shadow of a sanitizer is more than any limit.
    if (handoff::test::sanitized && each.which == RLIMIT_AS) continue;
    for (const std::string& which : {std::string(), name.text()}) {
      const int code = in_child([&] {
        const rlimit limit{each.value, each.value};
        if (::setrlimit(each.which, &limit) != 0) return 1;
        const Refused answer =
            refused([&] { return SharedMemory::create({.name = which, .bytes = each.bytes}); });
        return answer.error == each.error && says(answer, each.words) ? 0 : 2;
      });
      EXPECT_EQ(code, 0) << each.words;
      EXPECT_FALSE(name.is_there());
    }
  }
}

TEST(NotToBeHad, FromADeviceThatIsFull) {
  const SharedName name;
  const int code = in_child([&] {
    if (!take_own_shm("size=1m")) return 77;
    const auto before = open_descriptors();
    for (const bool huge : {false, true}) {
      const Refused full = refused([&] {
        return SharedMemory::create(
            {.name = name.text(), .bytes = std::size_t{3} << 20, .huge_pages = huge});
      });
      if (full.error != ENOSPC || full.step != "fallocate") return 1;
      if (name.is_there() || open_descriptors() != before) return 2;
    }
    SharedMemory fits = SharedMemory::create({.name = name.text(), .bytes = 500'000});
    for (std::byte& byte : fits.bytes()) byte = std::byte{1};
    return 0;
  });
  if (code == 77) GTEST_SKIP() << "no file system of one's own here";
  EXPECT_EQ(code, 0);
}

// Each call of the way forbidden, in turn, as a container's profile or an old kernel does.
enum class Way { anonymous, named, attached };
struct Forbidden {
  const char* step;
  std::vector<long> calls;
  std::vector<Way> ways;
  std::uint32_t second = 0;  // only calls with this second argument; 0: all
};
std::vector<Forbidden> each_call() {
  using enum Way;
  const std::vector<long> stats{SYS_fstat, SYS_newfstatat, SYS_statx};
  return {{"memfd_create", {SYS_memfd_create}, {anonymous}},
          {"shm_open", {SYS_openat, SYS_open}, {named}},
          {"fchmod", {SYS_fchmod}, {anonymous, named}},
          {"fstat", stats, {anonymous, named, attached}},
          {"flock", {SYS_flock}, {named}},
          {"ftruncate", {SYS_ftruncate}, {anonymous, named}},
          {"fallocate", {SYS_fallocate}, {anonymous, named}},
          {"seals", {SYS_fcntl}, {anonymous}, F_ADD_SEALS},
          {"fcntl", {SYS_fcntl}, {attached}, F_DUPFD_CLOEXEC},
          {"seals", {SYS_fcntl}, {attached}, F_GET_SEALS},
          {"pread", {SYS_pread64}, {attached}}};
}

TEST(NotToBeHad, WhereACallIsForbidden) {
  if (in_child([] { return forbid({SYS_memfd_create}, EPERM) ? 0 : 1; }) != 0) {
    GTEST_SKIP() << "system calls cannot be filtered here";
  }
  const SharedName name;
  SharedMemory memory = published({.bytes = kBytes});
  const auto go = [&](Way way) {
    if (way == Way::attached) return SharedMemory::attach(memory.descriptor());
    const bool named = way == Way::named;
    return SharedMemory::create({.name = named ? name.text() : std::string(), .bytes = kBytes});
  };
  for (const Forbidden& each : each_call()) {
    std::optional<FilteredArgument> only;
    if (each.second != 0) only = {.number = 1, .compare = BPF_JEQ, .value = each.second};
    for (const Way way : each.ways) {
      for (const int error : {EPERM, ENOSYS}) {
        SCOPED_TRACE(testing::Message()
                     << each.step << ", " << static_cast<int>(way) << ", " << error);
        const int code = in_child([&] {
          const auto before = open_descriptors();
          if (!forbid(each.calls, error, only)) return 1;
          const Refused answer = refused([&] { return go(way); });
          const bool is_it = way == Way::attached ? answer.error != 0 : answer.error == error;
          if (!is_it || answer.step != each.step) {
            std::fprintf(stderr, "%s, at %s\n", answer.text.c_str(), answer.step.c_str());
            return 2;
          }
          return open_descriptors() == before ? 0 : 3;
        });
        EXPECT_EQ(code, 0);
        EXPECT_FALSE(name.is_there());
        ::shm_unlink(name.text().c_str());
      }
    }
  }
}

TEST(NotToBeHad, MappingsAndAllocations) {
  using handoff::test::Call;
  const SharedName name;
  SharedMemory memory = published({.name = name.text(), .bytes = kBytes});
  SharedMemory unnamed = SharedMemory::create({.bytes = kBytes});
  unnamed.publish();
  const SharedName second;
  const auto before = open_descriptors();
  for (const Call call : {Call::map, Call::allocation}) {
    const auto ways = std::vector<std::function<void()>>{
        [&] { (void)SharedMemory::create({.bytes = kBytes}); },
        [&] { (void)SharedMemory::create({.name = second.text(), .bytes = kBytes}); },
        [&] { (void)SharedMemory::create({.bytes = std::size_t{4} << 20, .huge_pages = true}); },
        [&] { (void)SharedMemory::open(name.text()); },
        [&] { (void)SharedMemory::attach(unnamed.descriptor()); }};
    for (const auto& way : ways) {
      handoff::test::until_whole(
          call, ENOMEM,
          [&] {
            try {
              way();
            } catch (const std::system_error& error) {
              EXPECT_EQ(error.code().value(), ENOMEM);
              EXPECT_NE(std::string(error.what()).find(": mmap: "), std::string::npos);
            } catch (const std::bad_alloc&) {
              EXPECT_EQ(call, Call::allocation);
            }
          },
          [&] {
            EXPECT_EQ(open_descriptors(), before);
            EXPECT_FALSE(second.is_there());
          });
    }
  }
  EXPECT_TRUE(name.is_there());
}

// ---- What a process that has the descriptor may do ----

TEST(HostilePeer, ChangesWhatItMay) {
  SharedMemory memory = published({.bytes = kBytes});
  const SharedMemory mine = SharedMemory::attach(memory.descriptor());
  mine.bytes().back() = std::byte{1};
  const int code = in_child([&] {
    const int file = memory.descriptor();
    if (::ftruncate(file, 0) == 0 || ::ftruncate(file, 1 << 24) == 0) return 1;
    if (::fcntl(file, F_ADD_SEALS, F_SEAL_WRITE) == 0) return 2;
    const SharedHeaderCopy garbage{};
    if (::pwrite(file, &garbage, sizeof garbage, 0) < 0) return 3;
    ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kFile);
    return 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(mine.bytes().size(), kBytes) << "known since it was checked";
  EXPECT_EQ(mine.bytes().back(), std::byte{0}) << "its pages are gone, and there are others";
  EXPECT_EQ(attach_refused(memory.descriptor()).error, EAGAIN);
}

}}  // namespace shared_memory_refusals_test
