// SPDX-License-Identifier: MIT
//
// ProcessTeam and ProcessPool that cannot start: the k-th worker, descriptor, thread or piece of
// memory is not to be had, or the system refuses a call that they need, as a container's filter or
// an old kernel does. An error with nothing left, or fewer workers, as was chosen. And rings whose
// memory cannot be had.
#include "support/failing.hpp"
#include "support/limit.hpp"
#include "support/test.hpp"
#include "unit/process/shared_memory_support.hpp"
#include "unit/process/subprocess_support.hpp"
#include "unit/process/team_support.hpp"
#include "unit/process/worker_support.hpp"

namespace process_starts_test { namespace {

using namespace handoff;
using team_support::servers_of;
using test::Call;

bool has_no_child() { return ::waitpid(-1, nullptr, WNOHANG | __WALL) == -1 && errno == ECHILD; }

// ---- The k-th descriptor -----------------------------------------------------------------------

// Of three workers; how many there are, 0: it threw.
std::size_t made(char kind, OnFewerWorkers on_fewer) {
  if (kind == 'p') return ProcessPool{{.width = 3, .on_fewer = on_fewer}}.width();
  ProcessTeamOptions options{.width = 3, .on_fewer = on_fewer};
  if (kind == 'w') options.program = worker_support::worker("works");
  return ProcessTeam{options}.width();
}

void run_as_each_kind(const char* role) {
  for (const char* const kind : {"t", "p", "w"}) (void)subprocess_support::run_role(role, kind);
}

const subprocess_support::RoleEntry few_descriptors(
    "few_descriptors", [](const std::string& argument) {
      const auto before = test::open_descriptors();
      for (const OnFewerWorkers on_fewer : {OnFewerWorkers::refuse, OnFewerWorkers::accept}) {
        std::size_t width = 0;
        bool is_whole = false;
        for (rlim_t most = subprocess_support::kRoleOutput + 1; !is_whole; ++most) {
          if (most > 100) return 1;
          const test::Limit few(RLIMIT_NOFILE, most);
          try {
            const std::size_t now = made(argument.front(), on_fewer);
            if (now < width || (now < 3 && on_fewer == OnFewerWorkers::refuse)) return 2;
            width = now;
            is_whole = width == 3;
          } catch (const std::system_error& error) {
            std::printf("with %d: %s\n", static_cast<int>(most), error.what());
            if (width != 0) return 3;
          }
          if (!has_no_child()) return 4;
          if (test::open_descriptors() != before) return 5;
        }
      }
      return 0;
    });

TEST(ProcessStarts, WithoutTheKthDescriptorNothingIsLeft) {
  if (test::sanitized) GTEST_SKIP() << "a sanitizer needs descriptors of its own";
  run_as_each_kind("few_descriptors");
}

// ---- The k-th piece of memory, and the thread --------------------------------------------------

TEST(ProcessStarts, WithoutTheKthMappingAllocationOrThreadNothingIsLeft) {
  const auto before = test::open_descriptors();
  const std::vector<std::function<void()>> ways{
      [] { const ProcessTeam team{{.width = 2, .on_fewer = OnFewerWorkers::refuse}}; },
      [] { const ProcessPool pool{{.width = 2, .on_fewer = OnFewerWorkers::refuse}}; }};
  for (std::size_t way = 0; way < ways.size(); ++way) {
    for (const Call call : {Call::map, Call::allocation, Call::thread}) {
      SCOPED_TRACE(testing::Message() << "way " << way << ", call " << static_cast<int>(call));
      const int places = test::until_whole(
          call, call == Call::thread ? EAGAIN : ENOMEM,
          [&] {
            try {
              ways[way]();
            } catch (const std::system_error& error) {
              const bool is_memory =
                  std::string_view(error.what()).starts_with("worker processes: get the memory");
              EXPECT_EQ(call, is_memory ? Call::map : Call::thread) << error.what();
              EXPECT_EQ(error.code().value(), is_memory ? ENOMEM : EAGAIN);
            } catch (const std::bad_alloc&) {
              EXPECT_EQ(call, Call::allocation);
            }
          },
          [&] {
            EXPECT_EQ(test::open_descriptors(), before);
            EXPECT_TRUE(servers_of(::getpid()).empty());
          });
      EXPECT_TRUE(places > 0 || (call == Call::thread && way == 0)) << "nothing was made to fail";
    }
  }
}

// ---- Calls that are forbidden ------------------------------------------------------------------

// What a text says could not be done.
enum class Step { memory, server, support, worker };
constexpr const char* kWords[] = {"memory", "fork server", "pidfds", "start one"};

struct Forbidden {
  const char* name;
  std::vector<long> calls;
  int error;
  // What a team or pool of forks says could not be done, and a team of another program; none: it
  // does without.
  std::optional<Step> forks;
  std::optional<Step> programs;
};
const Forbidden kForbidden[] = {
    {"no_pidfds", {SYS_pidfd_open, SYS_pidfd_send_signal}, ENOSYS, Step::support, Step::worker},
    {"pidfd_eperm", {SYS_pidfd_open}, EPERM, Step::support, Step::worker},
    {"pidfd_emfile", {SYS_pidfd_open}, EMFILE, Step::server, Step::worker},
    {"fork", {SYS_clone, SYS_fork, SYS_vfork}, EAGAIN, Step::server, Step::worker},
    {"eventfd", {SYS_eventfd2}, EMFILE, Step::server, Step::server},
    {"socketpair", {SYS_socketpair}, ENFILE, Step::server, Step::server},
    // The memory of forks has no file, but pages that are taken at once; that of programs has one.
    {"memfd", {SYS_memfd_create}, EPERM, {}, Step::memory},
    {"no_room", {SYS_fallocate}, ENOSPC, {}, Step::memory},
    {"no_pages", {SYS_madvise}, ENOMEM, Step::memory, {}},
};

const subprocess_support::RoleEntry without_a_call(
    "without_a_call", [](const std::string& argument) {
      const char kind = argument.front();
      const std::string name = argument.substr(1);
      const auto* const each = std::find_if(std::begin(kForbidden), std::end(kForbidden),
                                            [&](const Forbidden& one) { return name == one.name; });
      if (each == std::end(kForbidden)) return 90;
      const std::size_t before = test::open_descriptors().size();
      const std::optional<Step> wanted = kind == 'w' ? each->programs : each->forks;
      if (!test::forbid(each->calls, each->error)) return 77;
      try {
        (void)made(kind, OnFewerWorkers::accept);
        std::printf("nothing was thrown\n");
        if (wanted) return 1;
      } catch (const std::system_error& error) {
        const std::string what = error.what();
        std::printf("%s\n", what.c_str());
        if (!wanted || error.code().value() != each->error) return 2;
        if (what.find(kWords[static_cast<int>(*wanted)]) == std::string::npos) return 2;
        if (what.find('\n') != std::string::npos) return 3;
      }
      if (!has_no_child()) return 4;
      return test::open_descriptors().size() <= before ? 0 : 5;
    });

TEST(ProcessStarts, WhereACallIsForbiddenItIsAnErrorBeforeAnythingHasStarted) {
  if (test::in_child([] { return test::forbid({SYS_pidfd_open}, EPERM) ? 0 : 1; }) != 0) {
    GTEST_SKIP() << "no filter of system calls here";
  }
  for (const Forbidden& each : kForbidden) {
    for (const char kind : {'t', 'p', 'w'}) {
      // A program with a sanitizer does not start without some of them.
      if (test::sanitized && kind == 'w' && !each.programs) continue;
      (void)subprocess_support::run_role("without_a_call", kind + std::string(each.name));
    }
  }
}

// ---- Limits ------------------------------------------------------------------------------------

const subprocess_support::RoleEntry small_files("small_files", [](const std::string& argument) {
  const rlimit limit{8192, 8192};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 90;
  // Only programs have a file for their memory; that is refused, and no signal comes.
  const bool has_file = argument == "w";
  try {
    if (made(argument.front(), OnFewerWorkers::refuse) != 3 || has_file) return 1;
  } catch (const std::system_error& error) {
    std::printf("%s\n", error.what());
    const bool is_memory = std::string_view(error.what()).find("memory") != std::string_view::npos;
    if (!has_file || !is_memory || error.code().value() != EFBIG) return 2;
  }
  return has_no_child() ? 0 : 3;
});

TEST(ProcessStarts, WhereNoFileMayBeLarge) { run_as_each_kind("small_files"); }

// ---- Rings -------------------------------------------------------------------------------------

using Ring = SharedRing<std::uint64_t>;
constexpr std::size_t places = 400'000;  // of 8 bytes each, or more

test::Refused ring_refused(const std::string& name) {
  return test::refused([&] {
    const SharedMemory memory =
        SharedMemory::create({.name = name, .bytes = Ring::bytes_for(places)});
    return Ring::create(memory.bytes(), places);
  });
}

TEST(ProcessStarts, ARingWithoutMemfdIsAnErrorAndOneWithANameWorks) {
  const test::SharedName name;
  const int code = test::in_child([&] {
    const auto before = test::open_descriptors();
    if (!test::forbid({SYS_memfd_create}, EPERM)) return 77;
    const test::Refused answer = ring_refused("");
    if (answer.error != EPERM || answer.step != "memfd_create") return 1;
    if (test::open_descriptors() != before) return 2;
    return ring_refused(name.text()).error == 0 && !name.is_there() ? 0 : 3;
  });
  if (code == 77) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_EQ(code, 0);
}

TEST(ProcessStarts, ARingInADeviceThatIsFullIsAnErrorAndOneWithoutANameWorks) {
  const test::SharedName name;
  const int code = test::in_child([&] {
    if (!test::take_own_shm("size=1m")) return 77;
    const auto before = test::open_descriptors();
    const test::Refused answer = ring_refused(name.text());
    if (answer.error != ENOSPC || answer.step != "fallocate" || name.is_there()) return 1;
    if (test::open_descriptors() != before) return 2;
    return ring_refused("").error == 0 ? 0 : 3;
  });
  if (code == 77) GTEST_SKIP() << "no file system of one's own here";
  EXPECT_EQ(code, 0);
}

// Teams and pools have no names there: a full device is nothing to them.
const subprocess_support::RoleEntry full_device("full_device", [](const std::string& argument) {
  if (!test::take_own_shm("size=4k")) return 0;  // no file system of one's own here
  const int file = ::open("/dev/shm/full", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  std::vector<char> some(1 << 16, 'x');
  while (::write(file, some.data(), some.size()) > 0) {
  }
  ::close(file);
  return made(argument.front(), OnFewerWorkers::refuse) == 3 ? 0 : 1;
});

TEST(ProcessStarts, AFullDeviceStopsNoTeamAndNoPool) { run_as_each_kind("full_device"); }

}}  // namespace process_starts_test
