// SPDX-License-Identifier: MIT
//
// The one place where the library gets its descriptors: each way, with each set of closed standard
// streams, and when there can be no more; and RLIMIT_FSIZE without its signal.
#include <linux/openat2.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "support/child.hpp"
#include "support/limit.hpp"
#include "support/test.hpp"
#include "sync/internal/descriptor.hpp"
#include "sync/internal/file_limit.hpp"

namespace descriptor_test { namespace {

namespace descriptors = handoff::detail::descriptors;
using handoff::detail::Descriptor;

std::vector<int> both(int said, const std::array<int, 2>& ends) {
  return said < 0 ? std::vector<int>{-1} : std::vector<int>{ends[0], ends[1]};
}

// Each function of sync/descriptor.hpp, and what it has opened; -1 if it could not.
struct Way {
  const char* name;
  std::vector<int> (*open)();
};
const Way kWays[]{
    {"above_streams",
     []() -> std::vector<int> {
       return {descriptors::above_streams(::open("/dev/null", O_RDONLY | O_CLOEXEC))};
     }},
    {"of_file", []() -> std::vector<int> { return {descriptors::of_file("/dev/null", O_RDONLY)}; }},
    {"of_file_in",
     []() -> std::vector<int> { return {descriptors::of_file_in(AT_FDCWD, "/", O_PATH)}; }},
    {"of_resolved_file",
     []() -> std::vector<int> {
       const Descriptor folder(descriptors::of_file("/dev", O_PATH));
       return {descriptors::of_resolved_file(folder.get(), "null", O_RDONLY, 0, RESOLVE_BENEATH)};
     }},
    {"of_shared_file",
     []() -> std::vector<int> {
       const std::string name = "/handoff-descriptor-test-" + std::to_string(::getpid());
       const int number = descriptors::of_shared_file(name.c_str(), O_RDWR | O_CREAT, 0600);
       const int error = errno;
       ::shm_unlink(name.c_str());
       errno = error;
       return {number};
     }},
    {"of_memory", []() -> std::vector<int> { return {descriptors::of_memory("test")}; }},
    {"of_event", []() -> std::vector<int> { return {descriptors::of_event(EFD_NONBLOCK)}; }},
    {"of_process", []() -> std::vector<int> { return {descriptors::of_process(::getpid())}; }},
    {"copy_of",
     []() -> std::vector<int> {
       const Descriptor file(descriptors::of_file("/dev/null", O_RDONLY));
       return {descriptors::copy_of(file.get())};
     }},
    {"of_pipe",
     []() -> std::vector<int> {
       std::array<int, 2> ends{};
       const int said = descriptors::of_pipe(ends);
       return both(said, ends);
     }},
    {"of_socket_pair",
     []() -> std::vector<int> {
       std::array<int, 2> ends{};
       const int said = descriptors::of_socket_pair(ends);
       return both(said, ends);
     }},
};

unsigned streams_open() {
  unsigned open = 0;
  for (int stream = 0; stream < 3; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0) open |= 1U << static_cast<unsigned>(stream);
  }
  return open;
}

// In a child with these streams closed: 0, or the line of what was wrong.
int look_at(const Way& way, unsigned closed) {
  for (unsigned stream = 0; stream < 3; ++stream) {
    if ((closed >> stream & 1U) != 0) ::close(static_cast<int>(stream));
  }
  const unsigned before = streams_open();
  const std::vector<int> numbers = way.open();
  for (const int number : numbers) {
    if (number <= STDERR_FILENO) return __LINE__ % 250;
    if ((::fcntl(number, F_GETFD) & FD_CLOEXEC) == 0) return __LINE__ % 250;
  }
  if (streams_open() != before) return __LINE__ % 250;
  for (const int number : numbers) ::close(number);
  // Room for what can be moved from nowhere: it is closed, and the errno is the right one.
  rlimit few{.rlim_cur = 3, .rlim_max = 3};
  if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return __LINE__ % 250;
  errno = 0;
  for (const int number : way.open()) {
    if (number >= 0) return __LINE__ % 250;
  }
  if (errno != EMFILE && errno != EBADF) return __LINE__ % 250;
  return streams_open() == before ? 0 : __LINE__ % 250;
}

int ending_of(const Way& way, unsigned closed) {
  return handoff::test::in_child([&] { return look_at(way, closed); });
}

TEST(Descriptors, EachWayIsAboveTheStreams) {
  for (const Way& way : kWays) {
    for (unsigned closed = 0; closed < 8; ++closed) {
      EXPECT_EQ(ending_of(way, closed), 0) << way.name << ", closed: mask " << closed;
    }
  }
}

TEST(Descriptors, AWayThatIsNotIsFound) {
  const Way raw{"open",
                []() -> std::vector<int> { return {::open("/dev/null", O_RDONLY | O_CLOEXEC)}; }};
  EXPECT_NE(ending_of(raw, 2), 0);
  const Way kept{"open", []() -> std::vector<int> { return {::open("/dev/null", O_RDONLY)}; }};
  EXPECT_NE(ending_of(kept, 0), 0);
}

// Of two that get the numbers of streams one can be moved only: then none is left.
TEST(Descriptors, HalfAPairIsClosed) {
  const int code = handoff::test::in_child([] {
    for (const int stream : {0, 1}) ::close(stream);
    const int free = ::fcntl(STDERR_FILENO, F_DUPFD, 3);
    ::close(free);
    rlimit few{};
    ::getrlimit(RLIMIT_NOFILE, &few);
    few.rlim_cur = static_cast<rlim_t>(free) + 1;
    std::array<int, 2> ends{};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return 2;
    if (descriptors::of_pipe(ends) != -1 || errno != EMFILE) return 3;
    for (const int number : {0, 1, free}) {
      if (::fcntl(number, F_GETFD) >= 0) return 4;
    }
    return 0;
  });
  EXPECT_EQ(code, 0);
}

TEST(Descriptors, MemoryCanBeSealedAndSocketsKeepMessagesApart) {
  const Descriptor memory(descriptors::of_memory("test"));
  EXPECT_EQ(::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  std::array<int, 2> ends{};
  ASSERT_EQ(descriptors::of_socket_pair(ends), 0);
  const Descriptor one(ends[0]);
  const Descriptor other(ends[1]);
  ASSERT_EQ(::send(one.get(), "ab", 2, 0), 2);
  ASSERT_EQ(::send(one.get(), "c", 1, 0), 1);
  std::array<char, 8> text{};
  EXPECT_EQ(::recv(other.get(), text.data(), text.size(), 0), 2);
}

// The signal would end this process: it is not ignored here.
TEST(FileLimit, IsAnErrorAndNoSignal) {
  const Descriptor file(descriptors::of_memory("test"));
  std::optional<handoff::test::Limit> limit(std::in_place, RLIMIT_FSIZE, 1000U);
  const std::vector<std::byte> bytes(1500);
  std::uint64_t position = 0;
  EXPECT_EQ(handoff::detail::most_file_bytes(), 1000U);
  EXPECT_EQ(handoff::detail::write_fully(file.get(), bytes, position), EFBIG);
  EXPECT_EQ(position, 1000U) << "as far as it may";
  EXPECT_FALSE(handoff::detail::is_beyond_limit(file.get(), 999));
  EXPECT_TRUE(handoff::detail::is_beyond_limit(file.get(), 1000));
  const Descriptor null(descriptors::of_file("/dev/null", O_WRONLY));
  EXPECT_FALSE(handoff::detail::is_beyond_limit(null.get(), 5000)) << "which has no length";
  EXPECT_EQ(handoff::detail::write_fully(null.get(), bytes, position = 5000), 0);
  limit.reset();
  EXPECT_GT(handoff::detail::most_file_bytes(), 1000U);
}

}}  // namespace descriptor_test
