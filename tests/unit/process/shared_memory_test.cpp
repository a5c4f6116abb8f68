// SPDX-License-Identifier: MIT
//
// Shared memory that is used as it should be: both forms, several processes, views, large sizes.
#include <sys/time.h>

#include "support/test.hpp"
#include "unit/process/shared_memory_support.hpp"

namespace shared_memory_test { namespace {

using namespace handoff;
using namespace handoff::test;

constexpr std::size_t kBytes = 10'000;

std::byte pattern(std::size_t at, unsigned seed) {
  return static_cast<std::byte>((at * 31 + seed) % 251);
}
void fill(std::span<std::byte> bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(i, seed);
}
bool is_filled(std::span<const std::byte> bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != pattern(i, seed)) return false;
  }
  return true;
}
bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Both forms, and a second handle of each.
struct Form {
  bool named;
  SharedMemory create(const SharedName& name, SharedMemoryOptions options = {}) const {
    if (options.bytes == 0) options.bytes = kBytes;
    if (named) options.name = name.text();
    return SharedMemory::create(options);
  }
  SharedMemory attach(const SharedMemory& memory, const SharedName& name,
                      const AttachOptions& options = {}) const {
    return named ? SharedMemory::open(name.text(), options)
                 : SharedMemory::attach(memory.descriptor(), options);
  }
};
class EachForm : public testing::TestWithParam<bool> {
 protected:
  Form form{GetParam()};
  SharedName name;
};

TEST_P(EachForm, ItsLife) {
  SharedMemory memory = form.create(name, {.layout = 9});
  ASSERT_TRUE(memory.valid());
  EXPECT_EQ(memory.bytes().size(), kBytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % 4096, 0u);
  EXPECT_TRUE(is_zero(memory.bytes()));
  EXPECT_TRUE(memory.writable());
  EXPECT_NE(memory.key(), 0u);
  EXPECT_EQ(name.is_there(), form.named);
  fill(memory.bytes(), 1);
  memory.publish();

  SharedMemory other = form.attach(memory, name, {.layout = 9});
  EXPECT_NE(other.bytes().data(), memory.bytes().data());
  EXPECT_NE(other.descriptor(), memory.descriptor());
  EXPECT_EQ(other.key(), memory.key());
  EXPECT_EQ(other.bytes().size(), kBytes);
  EXPECT_TRUE(is_filled(other.bytes(), 1));
  fill(other.bytes(), 2);
  EXPECT_TRUE(is_filled(memory.bytes(), 2));

  memory = SharedMemory();
  EXPECT_FALSE(memory.valid());
  EXPECT_FALSE(name.is_there()) << "the creator removes it";
  EXPECT_TRUE(is_filled(other.bytes(), 2)) << "a process that has it keeps it";
}

TEST_P(EachForm, OneHandleOfIt) {
  const SharedName second_name;
  SharedMemory first = form.create(name);
  SharedMemory second = form.create(second_name);
  EXPECT_NE(first.key(), second.key());
  const std::uint64_t key = second.key();
  SharedMemory moved = std::move(second);
  EXPECT_FALSE(second.valid());  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_TRUE(second.bytes().empty());
  EXPECT_EQ(second.descriptor(), -1);
  EXPECT_EQ(second.key(), 0u);
  EXPECT_FALSE(second.writable());
  const std::size_t descriptors = handoff::test::open_descriptors().size();
  first = std::move(moved);
  EXPECT_EQ(first.key(), key);
  EXPECT_EQ(handoff::test::open_descriptors().size(), descriptors - 1)
      << "what it had is given back";
  EXPECT_FALSE(name.is_there());
  EXPECT_EQ(second_name.is_there(), form.named);
}

TEST_P(EachForm, TwoProcessesSeeEachOther) {
  SharedMemory memory = form.create(name);
  fill(memory.bytes(), 3);
  memory.publish();
  const int code = in_child([&] {
    const SharedMemory own = form.attach(memory, name);
    if (!is_filled(own.bytes(), 3)) return 1;
    fill(own.bytes(), 4);
    return 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(is_filled(memory.bytes(), 4));
}

TEST_P(EachForm, AForkHasTheMappingAndRemovesNothing) {
  SharedMemory memory = form.create(name);
  const int code = in_child([&] {
    fill(memory.bytes(), 5);
    memory = SharedMemory();
    return 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(is_filled(memory.bytes(), 5));
  EXPECT_EQ(name.is_there(), form.named);
  memory.publish();
  EXPECT_TRUE(form.attach(memory, name).valid());
}

TEST_P(EachForm, AReadOnlyViewFaults) {
  SharedMemory memory = form.create(name);
  fill(memory.bytes(), 6);
  memory.publish();
  const int code = in_child([&] {
    const SharedMemory view = form.attach(memory, name, {.writable = false});
    if (view.writable() || !is_filled(view.bytes(), 6)) return 1;
    view.bytes()[7] = std::byte{1};
    return 0;
  });
  EXPECT_EQ(code, -SIGSEGV);
  EXPECT_TRUE(is_filled(memory.bytes(), 6));
  const SharedMemory view = form.attach(memory, name, {.writable = false});
  fill(memory.bytes(), 7);
  EXPECT_TRUE(is_filled(view.bytes(), 7)) << "it sees what others write";
}

TEST_P(EachForm, AsManyBytesAsAreWanted) {
  SharedMemory memory = form.create(name, {.bytes = kBytes});
  memory.publish();
  EXPECT_EQ(form.attach(memory, name, {.bytes = kBytes}).bytes().size(), kBytes);
  const auto more = refused([&] { return form.attach(memory, name, {.bytes = kBytes + 1}); });
  EXPECT_EQ(more.error, EPROTO);
  EXPECT_EQ(more.step, "header");
}

TEST_P(EachForm, HugePagesWhereThereAreSome) {
  for (const std::size_t bytes : {std::size_t{100}, (std::size_t{2} << 20) + 1}) {
    const SharedName own;
    SharedMemory memory = form.create(own, {.bytes = bytes, .huge_pages = true});
    EXPECT_EQ(memory.bytes().size(), bytes);
    EXPECT_TRUE(is_zero(memory.bytes()));
    fill(memory.bytes(), 8);
    memory.publish();
    EXPECT_TRUE(is_filled(form.attach(memory, own).bytes(), 8));
  }
}

TEST_P(EachForm, DescriptorsAreClosedOnExec) {
  SharedMemory memory = form.create(name);
  memory.publish();
  const SharedMemory other = form.attach(memory, name);
  const int reader = memory.read_only_descriptor();
  for (const int each : {memory.descriptor(), other.descriptor(), reader}) {
    EXPECT_EQ(::fcntl(each, F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(::fcntl(reader, F_GETFL) & O_ACCMODE, O_RDONLY);
  ::close(reader);
}

TEST_P(EachForm, IsForItsUserOnly) {
  for (const mode_t mask : {0000U, 0077U, 0777U}) {
    const SharedName own;
    const mode_t before = ::umask(mask);
    const SharedMemory memory = form.create(own);
    ::umask(before);
    struct stat now{};
    ASSERT_EQ(::fstat(memory.descriptor(), &now), 0);
    EXPECT_EQ(now.st_mode & 07777U, 0600u);
  }
}

INSTANTIATE_TEST_SUITE_P(SharedMemory, EachForm, testing::Bool(),
                         [](const auto& each) { return each.param ? "named" : "anonymous"; });

TEST(SharedMemory, AnAnonymousOneIsSealed) {
  SharedMemory memory = published({.bytes = kBytes});
  EXPECT_NE(::ftruncate(memory.descriptor(), 0), 0);
  EXPECT_NE(::ftruncate(memory.descriptor(), 1 << 20), 0);
  EXPECT_NE(::fcntl(memory.descriptor(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  struct stat now{};
  ASSERT_EQ(::fstat(memory.descriptor(), &now), 0);
  EXPECT_GE(static_cast<std::size_t>(now.st_blocks) * 512, kBytes) << "reserved";
  EXPECT_EQ(now.st_mode & 0111U, 0u) << "no program can be run from it";
}

TEST(SharedMemory, WhatIsReadOnlyForOthers) {
  SharedMemory memory = SharedMemory::create({.bytes = kBytes, .only_creator_writes = true});
  fill(memory.bytes(), 1);
  memory.publish();
  const auto writer = refused([&] { return SharedMemory::attach(memory.descriptor()); });
  EXPECT_EQ(writer.error, EPERM) << writer.text;
  EXPECT_EQ(writer.step, "mmap");
  EXPECT_NE(writer.text.find("for reading only"), std::string::npos) << writer.text;
  const char byte = 1;
  EXPECT_NE(::pwrite(memory.descriptor(), &byte, 1, 5000), 1);
  const SharedMemory view = SharedMemory::attach(memory.descriptor(), {.writable = false});
  EXPECT_NE(::mprotect(view.bytes().data(), 4096, PROT_READ | PROT_WRITE), 0);
  fill(memory.bytes(), 2);
  EXPECT_TRUE(is_filled(view.bytes(), 2)) << "the creator writes on";
  EXPECT_EQ(in_child([&] {
              fill(memory.bytes(), 3);
              return 0;
            }),
            0);
  EXPECT_TRUE(is_filled(view.bytes(), 3)) << "and its fork";
}

TEST(SharedMemory, AReadOnlyDescriptor) {
  SharedMemory memory = published({.bytes = kBytes});
  const int reader = memory.read_only_descriptor();
  ASSERT_GE(reader, 0);
  const auto writer = refused([&] { return SharedMemory::attach(reader); });
  EXPECT_EQ(writer.error, EACCES) << writer.text;
  EXPECT_NE(writer.text.find("for reading only"), std::string::npos) << writer.text;
  const SharedMemory view = SharedMemory::attach(reader, {.writable = false});
  EXPECT_NE(::mprotect(view.bytes().data(), 4096, PROT_READ | PROT_WRITE), 0);
  fill(memory.bytes(), 1);
  EXPECT_TRUE(is_filled(view.bytes(), 1));
  if (::geteuid() == 0) {  // another user does not get more of it either
    EXPECT_EQ(in_child([&] {
                if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 2;
                const std::string path = "/proc/self/fd/" + std::to_string(reader);
                return ::open(path.c_str(), O_RDWR) < 0 ? 0 : 1;
              }),
              0);
  }
  ::close(reader);
}

TEST(SharedMemory, IsMisused) {
  SharedMemory empty;
  EXPECT_FALSE(empty.valid());
  EXPECT_THROW(empty.publish(), std::logic_error);
  EXPECT_THROW((void)empty.read_only_descriptor(), std::logic_error);
  SharedMemory memory = published({.bytes = 1});
  memory.publish();  // once more says no more
  SharedMemory other = SharedMemory::attach(memory.descriptor());
  EXPECT_THROW(other.publish(), std::logic_error);
  EXPECT_THROW((void)SharedMemory::create({}), std::invalid_argument);
  EXPECT_THROW((void)SharedMemory::create({.name = "/x", .bytes = 1, .only_creator_writes = true}),
               std::invalid_argument);
}

// A timer interrupts the reservation again and again: it gets there all the same.
TEST(SharedMemory, ReservesThroughSignals) {
  struct sigaction act{};
  struct sigaction before{};
  act.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &act, &before);
  itimerval often{};
  often.it_interval.tv_usec = often.it_value.tv_usec = 500;
  ::setitimer(ITIMER_REAL, &often, nullptr);
  constexpr std::size_t bytes = std::size_t{48} << 20;
  const auto failure = refused([&] {
    const SharedMemory memory = SharedMemory::create({.bytes = bytes});
    struct stat now{};
    EXPECT_EQ(::fstat(memory.descriptor(), &now), 0);
    EXPECT_GE(static_cast<std::size_t>(now.st_blocks) * 512, bytes);
    return true;
  });
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(failure.text, "");
}

// The kernel takes back what a call has reserved when it interrupts it: only smaller ones get
// there.
TEST(SharedMemory, ReservesInSmallerPartsWhenItIsInterrupted) {
  const int end = in_child([] {
    const handoff::test::FilteredArgument large{3, BPF_JGT, 100'000};
    if (!handoff::test::forbid({SYS_fallocate}, EINTR, large)) return 77;
    const SharedMemory memory = SharedMemory::create({.bytes = 3'000'000});
    struct stat now{};
    return ::fstat(memory.descriptor(), &now) == 0 && now.st_blocks * 512 >= 3'000'000 ? 0 : 1;
  });
  if (end == 77) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_EQ(end, 0);
}

// No program can be made of it, where the kernel knows how to say so; it works where it does not.
TEST(SharedMemory, IsSealedAgainstExecution) {
  constexpr unsigned no_exec = 8, seal_exec = 0x20;  // newer than some headers
  const int probe = ::memfd_create("probe", MFD_CLOEXEC | no_exec);
  if (probe >= 0) {
    const SharedMemory memory = SharedMemory::create({.bytes = 1});
    EXPECT_NE(static_cast<unsigned>(::fcntl(memory.descriptor(), F_GET_SEALS)) & seal_exec, 0u);
    ::close(probe);
  }
  const int end = in_child([] {
    const handoff::test::FilteredArgument flags{1, BPF_JEQ,
                                                MFD_CLOEXEC | MFD_ALLOW_SEALING | no_exec};
    if (!handoff::test::forbid({SYS_memfd_create}, EINVAL, flags)) {
      return 77;
    }
    return SharedMemory::create({.bytes = 1}).valid() ? 0 : 1;
  });
  if (end == 77) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_EQ(end, 0);
}

TEST(SharedMemory, MoreThanFourGigabytes) {
  if (!handoff::test::deep()) GTEST_SKIP() << "only in a deep run";
  constexpr std::size_t bytes = (std::size_t{4} << 30) + 12345;
  try {
    SharedMemory memory = SharedMemory::create({.bytes = bytes});
    memory.bytes().back() = std::byte{7};
    memory.publish();
    const SharedMemory other = SharedMemory::attach(memory.descriptor(), {.bytes = bytes});
    EXPECT_EQ(other.bytes().size(), bytes);
    EXPECT_EQ(other.bytes().back(), std::byte{7});
  } catch (const std::system_error& error) {
    if (error.code().value() != ENOMEM) throw;
    GTEST_SKIP() << error.what();
  }
}

}}  // namespace shared_memory_test
