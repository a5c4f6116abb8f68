// SPDX-License-Identifier: MIT
//
// The library's descriptors in a program that has closed some of its standard streams: none gets
// such a number, wherever it is opened, and none goes into a program that is run by exec. The same
// cases at limits of files, descriptors and processes.
//
// tools/tidy asks that each file of the library that opens something is named here, beside what
// reaches it. What is open for a moment only is seen where a tap sees each call.
#include <handoff/probe/internal/slice.hpp>

#include "fault/fault_support.hpp"
#include "support/file_tap.hpp"
#include "support/test.hpp"

namespace descriptors_test { namespace {

using namespace handoff;
using namespace test;

bool goes_into_programs(int number) { return (::fcntl(number, F_GETFD) & FD_CLOEXEC) == 0; }

// What a case sees of the descriptors that were not there when it began, and of each that a tap
// sees; in the process of the case.
class Watch final : public test::LookingTap {
 public:
  explicit Watch(int to) : to_(to), before_(open_descriptors()) {}

  void look(const char* where) {
    for (const int number : open_descriptors()) {
      if (!before_.contains(number)) judge(number, where);
    }
  }
  // Of a number that the user gave away, or of one that is gone soon.
  void judge(int number, const char* where) {
    if (number > STDERR_FILENO && !goes_into_programs(number)) return;
    std::string what = std::string(where) + ": descriptor " + std::to_string(number);
    what += number > STDERR_FILENO ? " goes into other programs" : " is that of a stream";
    say(what);
  }
  void say(const std::string& what) {
    const std::string line = what + "\n";
    (void)!::write(to_, line.data(), line.size());
  }
  void after(const FileCallView& call, long result) noexcept override {
    if (call.kind == FileCallKind::open && result >= 0) judge(static_cast<int>(result), call.name);
  }

 private:
  const int to_;
  const std::set<int> before_;
};

void open_files(Watch& watch, const Folder& root) {
  TapOf old_kernel(  // without openat2
      [](const FileCallView& call) {
        return answer_if(std::string_view(call.name) == "openat2", -ENOSYS);
      },
      [&](const FileCallView& call, long result) { watch.after(call, result); });
  const OpenFile plain = OpenFile::open(root.at("file"), {.write = true, .create = true});
  const OpenFile beneath = OpenFile::open("sub/file", {.beneath = root.path(), .tap = &watch});
  const OpenFile by_steps =
      OpenFile::open("sub/file", {.beneath = root.path(), .tap = &old_kernel});
  watch.look("OpenFile");
}

void use_engine(Watch& watch, const Folder& root, FileBackend backend) {
  if (!test::possible(backend)) return;
  for (const std::string& beneath : {std::string(), root.path()}) {
    FileEngine files({.width = 2, .backend = backend, .beneath = beneath, .tap = &watch});
    watch.look("FileEngine");
    const auto path = [&](const char* name) { return beneath.empty() ? root.at(name) : name; };
    result_of(files.write(path("new"), bytes_of("new"), {.durable = true})).check();
    result_of(files.replace(path("new"), bytes_of("other"), {.durable = true})).check();
    result_of(files.copy(path("new"), path("copy"), {.durable = true})).check();
    result_of(files.read(path("copy"))).check();
    result_of(files.sync(path("copy"))).check();
    result_of(files.remove(path("copy"), {.durable = true})).check();
  }
}

void use_engine_of_threads(Watch& watch, const Folder& root) {
  use_engine(watch, root, FileBackend::caller);
  use_engine(watch, root, FileBackend::pool);
}
void use_engine_of_rings(Watch& watch, const Folder& root) {
  use_engine(watch, root, FileBackend::io_uring);
}

void log_records(Watch& watch, const Folder& root) {
  AppendLog log(root.at("log"), {.segment_bytes = 200, .tap = &watch});
  for (int i = 0; i < 10; ++i) log.append("a record of some length").check();
  AppendLogReader reader(root.at("log"), {.tap = &watch});
  AppendLogRecord record;
  while (reader.next(record)) {
  }
  watch.look("AppendLog");
}

void copy_trees(Watch& watch, const Folder& root) {
  const auto copied = copy_tree({root.at("sub")}, root.at("to"), {.width = 2, .tap = &watch});
  if (!copied.ok()) watch.say("copy_tree failed");
}

void record_messages(Watch& watch, const Folder& root) {
  MessageBus<int> bus;
  bus.record(root.at("recording").c_str());
  watch.look("record");
  (void)bus.publish(1);
  (void)bus.drain();
  bus.stop_recording();
  MessageBus<int> other;
  if (other.replay(root.at("recording").c_str()) != 1) watch.say("one message was recorded");
}

struct Sink {
  int count = 0;
};
struct Draw {
  int id = 0;
  void operator()(Sink& sink) const { sink.count += id; }
};

void capture_commands(Watch& watch, const Folder& root) {
  using Bucket = CommandBucket<std::uint32_t, Sink>;
  Bucket bucket;
  {
    auto recorder = bucket.recorder(0);
    recorder.add<Draw>(1).id = 7;
  }
  bucket.capture(root.at("image").c_str());
  Bucket loaded;
  (void)loaded.load<Draw>(root.at("image").c_str());
  watch.look("capture");
}

void trace_itself(Watch& watch, const Folder& root) {
  if (const auto error = trace::start(root.at("trace.json"))) watch.say(error.message());
  {
    const probe::Slice first(probe::Kind::task, "asks for this thread's times");
  }
  watch.look("trace");
  (void)trace::stop();
}

void read_quota(Watch& watch, const Folder& /*root*/) {
  (void)sync::cpu_budget();
  watch.look("cpu_budget");
}

void share_memory(Watch& watch, const Folder& /*root*/) {
  const std::string name = "/handoff-descriptors-" + std::to_string(::getpid());
  auto memory = SharedMemory::create({.bytes = 4096});
  auto named = SharedMemory::create({.name = name, .bytes = 4096});
  memory.publish();
  named.publish();
  const auto attached = SharedMemory::attach(memory.descriptor());
  const auto opened = SharedMemory::open(name);
  const int read_only = memory.read_only_descriptor();
  const SharedRingAlarm alarm;
  LoopExecutor loop;
  (void)loop.descriptor();
  watch.look("SharedMemory");
  ::close(read_only);
}

void run_programs(Watch& watch, const Folder& /*root*/) {
  sync::StopSource stop;
  auto child = Subprocess::start({"cat"}, {.input = SubprocessInput::pipe(),
                                           .output = SubprocessOutput::captured(),
                                           .error = SubprocessOutput::captured()});
  watch.look("Subprocess");
  (void)child.write("text", stop.token());
  child.close_input();
  (void)child.wait(stop.token());
  if (child.output() != "text") watch.say("the child was not heard");
  auto second = Subprocess::start(
      {"cat"}, {.input = std::string(100'000, 'x'), .output = SubprocessOutput::captured()});
  watch.look("Subprocess with bytes");
  (void)second.wait();
  if (second.output().size() != 100'000) watch.say("the second child was not heard");
}

struct Numbers {
  SharedSpan<std::uint64_t> to;
};
void fill(IndexRange range, const Numbers& numbers) {
  const auto to = numbers.to.get();
  for (const std::size_t i : range) to[i] = i + 1;
}
int next_of(const int& number) { return number + 1; }

void work_in_processes(Watch& watch, const Folder& /*root*/) {
  ProcessTeam team({.width = 2});
  // Later than the workers, so that they ask for it.
  auto memory = SharedMemory::create({.bytes = 100 * sizeof(std::uint64_t)});
  memory.publish();
  const SharedSpan<std::uint64_t> to{memory, 0, 100};
  if (team.run<fill>(100, Numbers{to}).done != 100) watch.say("the team has not done all");
  if (to.get()[99] != 100) watch.say("the team wrote elsewhere");
  watch.look("ProcessTeam");
  ProcessPool pool({.width = 2, .recycle_after = 5, .recycle_memory = std::size_t{1} << 30});
  for (int i = 0; i < 20; ++i) {
    if (pool.submit<next_of>(i).get() != i + 1) watch.say("a job has another result");
  }
  watch.look("ProcessPool");
}

std::string worker_program() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return (folder.parent_path() / "unit" / "handoff_worker_work").string();
}

void work_in_programs(Watch& watch, const Folder& /*root*/) {
  const ProcessTeam team({.width = 1, .program = {worker_program(), "works"}});
  if (team.width() != 1) watch.say("there is no worker");
  watch.look("ProcessTeam of a program");
}

struct Case {
  const char* name;
  std::vector<const char*> files;  // of the library, that open what the case looks at
  void (*use)(Watch&, const Folder&);
};

const std::vector<Case> kCases{
    {"open_files",
     {"src/file/open_file.cpp", "src/file/file_call.cpp", "src/file/path.cpp"},
     open_files},
    {"engine_of_threads",
     {"src/file/file_core.cpp", "src/file/file_run.cpp", "src/file/run_operations.cpp"},
     use_engine_of_threads},
    {"engine_of_rings", {"src/file/ring.cpp", "src/file/ring_driver.cpp"}, use_engine_of_rings},
    {"append_log", {"src/file/append_log_file.cpp", "src/file/append_log_reader.cpp"}, log_records},
    {"copy_tree", {"src/file/copy_tree_calls.cpp"}, copy_trees},
    {"recording",
     {"src/bus/message_recording.cpp", "src/core/internal/unfinished_file.cpp"},
     record_messages},
    {"capture", {"src/command/command_image.cpp"}, capture_commands},
    {"trace",
     {"src/trace/thread_times.cpp", "src/trace/ticks.cpp", "src/trace/trace_file.cpp"},
     trace_itself},
    {"quota",
     {"src/sync/internal/control_groups.cpp", "src/sync/internal/descriptor.cpp"},
     read_quota},
    {"shared_memory",
     {"src/process/shared_pages.cpp", "src/process/kept_names.cpp",
      "src/process/shared_ring_alarm.cpp", "src/pool/loop_executor.cpp"},
     share_memory},
    {"subprocess",
     {"src/process/child_request.cpp", "src/process/child_side.cpp", "src/process/pipe_wait.cpp",
      "src/process/running_child.cpp", "src/process/spawner.cpp"},
     run_programs},
    {"processes",
     {"src/process/descriptor_message.cpp", "src/process/fork_server.cpp",
      "src/process/fork_server_child.cpp", "src/process/handed_memory.cpp",
      "src/process/job_life.cpp", "src/process/team_crew.cpp"},
     work_in_processes},
    {"programs", {"src/process/program_workers.cpp"}, work_in_programs},
};

using Use = std::function<void(Watch&, const Folder&)>;

// What became of a case in a process of its own.
struct Ending {
  std::string said;
  int status = 0;
};

[[noreturn]] void be_child(int to, const Use& use, unsigned closed, const Folder& root) {
  for (unsigned stream = 0; stream < 3; ++stream) {
    if ((closed >> stream & 1U) != 0) ::close(static_cast<int>(stream));
  }
  ::alarm(120);  // what hangs is ended by a signal
  Watch watch(to);
  try {
    use(watch, root);
  } catch (const std::exception& error) {
    watch.say(error.what());
  }
  watch.look("afterwards");
  ::_exit(0);
}

// With these streams closed.
Ending ending_of(const Use& use, unsigned closed) {
  const Folder root;
  ::chmod(root.path().c_str(), 0777);  // for cases of another user
  std::filesystem::create_directory(root.at("sub"));
  root.put("sub/file", "old");
  std::filesystem::create_symlink("file", root.at("sub/link"));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {"no pipe"};
  const pid_t child = ::fork();
  if (child == 0) {
    const int to = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 100);
    for (const int end : ends) ::close(end);
    be_child(to, use, closed, root);
  }
  ::close(ends[1]);
  Ending ending;
  std::array<char, 512> part{};
  for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;) {
    ending.said.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  ::waitpid(child, &ending.status, 0);
  return ending;
}

// "" if all is well.
std::string fault_of(const Use& use, unsigned closed) {
  const Ending ending = ending_of(use, closed);
  if (ending.status == 0) return ending.said;
  return ending.said + "ended with status " + std::to_string(ending.status);
}

class ClosedStreams : public testing::TestWithParam<Case> {};

TEST_P(ClosedStreams, AreNobodysDescriptors) {
  for (unsigned closed = 0; closed < 8; ++closed) {
    EXPECT_EQ(fault_of(GetParam().use, closed), "") << "streams closed: mask " << closed;
  }
}
INSTANTIATE_TEST_SUITE_P(Each, ClosedStreams, testing::ValuesIn(kCases),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(ClosedStreams, ALowDescriptorAndOneThatExecKeepsAreFound) {
  const auto low = [](Watch& watch, const Folder&) {
    (void)::open("/dev/null", O_RDONLY | O_CLOEXEC);
    watch.look("canary");
  };
  EXPECT_TRUE(says(fault_of(low, 1), "that of a stream"));
  EXPECT_EQ(fault_of(low, 0), "");
  const auto kept = [](Watch& watch, const Folder&) {
    (void)::open("/dev/null", O_RDONLY);
    watch.look("canary");
  };
  EXPECT_TRUE(says(fault_of(kept, 0), "goes into other programs"));
}

// As a daemon does: what its libraries print goes nowhere, and not into the log.
TEST(ClosedStreams, APrintDoesNotDestroyALog) {
  const auto use = [](Watch& watch, const Folder& root) {
    AppendLog(root.at("log")).append("acknowledged").check();
    {
      AppendLog log(root.at("log"));
      const std::string warning(100, 'w');
      for (const int stream : {0, 1, 2}) {
        if (::write(stream, warning.data(), warning.size()) >= 0) watch.say("somebody was there");
      }
      log.append("more").check();
    }
    std::size_t records = 0;
    for (const auto& record : AppendLogReader(root.at("log"))) records += !record.bytes.empty();
    if (records != 2) watch.say("records are missing");
  };
  EXPECT_EQ(fault_of(use, 7), "");
}

// What an exec keeps is what a user has opened.
TEST(ClosedStreams, AProgramThatIsRunByExecHasNoneOfThem) {
  const auto use = [](Watch& watch, const Folder& root) {
    const AppendLog log(root.at("log"));
    const OpenFile file = OpenFile::open(root.at("file"), {.write = true, .create = true});
    const auto memory = SharedMemory::create({.bytes = 4096});
    const SharedRingAlarm alarm;
    LoopExecutor loop;
    (void)loop.descriptor();
    MessageBus<int> bus;
    bus.record(root.at("recording").c_str());
    const ProcessTeam team({.width = 1});
    FileEngine files({.backend = FileBackend::automatic});
    result_of(files.read(root.at("file"))).check();
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv("FOLDER", root.path().c_str(), 1);
      ::execl("/bin/sh", "sh", "-c",
              "for f in /proc/$$/fd/*; do readlink $f; done | "
              "grep -E \"$FOLDER|memfd|eventfd|socket|io_uring\" >&2 && exit 1; exit 0",
              nullptr);
      ::_exit(2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) watch.say("a descriptor went into the program");
  };
  EXPECT_EQ(fault_of(use, 0), "");
}

// ---- Limits of the surroundings ----

struct Limit {
  const char* name;
  __rlimit_resource which;
  rlim_t most;
};
// Of each as many as end all cases early, some in the middle, and none.
const std::vector<Limit> kLimits{
    {"file_0", RLIMIT_FSIZE, 0},       {"file_100", RLIMIT_FSIZE, 100},
    {"file_4096", RLIMIT_FSIZE, 4096}, {"file_50000", RLIMIT_FSIZE, 50'000},
    {"open_4", RLIMIT_NOFILE, 4},      {"open_6", RLIMIT_NOFILE, 6},
    {"open_8", RLIMIT_NOFILE, 8},      {"open_12", RLIMIT_NOFILE, 12},
    {"open_20", RLIMIT_NOFILE, 20},    {"processes_1", RLIMIT_NPROC, 1},
    {"processes_2", RLIMIT_NPROC, 2},  {"processes_4", RLIMIT_NPROC, 4},
    {"processes_8", RLIMIT_NPROC, 8},
};

// NPROC counts nothing of root's, so such a case is of a user who has no other process.
bool limit_this_process(const Limit& limit) {
  constexpr unsigned nobody = 64'999;
  const rlimit few{.rlim_cur = limit.most, .rlim_max = limit.most};
  if (::setrlimit(limit.which, &few) != 0) return false;
  if (limit.which != RLIMIT_NPROC) return true;
  return ::setresgid(nobody, nobody, nobody) == 0 && ::setresuid(nobody, nobody, nobody) == 0;
}

// What cannot be had is an error that is told, or is done without; no signal comes, and nothing
// hangs.
TEST_P(ClosedStreams, AndLimitsAreErrors) {
  for (const Limit& limit : kLimits) {
    // UndefinedBehaviorSanitizer asks by a pipe whether memory can be read.
    if (test::sanitized && (limit.which == RLIMIT_NOFILE || limit.most == 0)) continue;
    const auto use = [&](Watch& watch, const Folder& root) {
      if (!limit_this_process(limit)) return;
      GetParam().use(watch, root);
    };
    const Ending ending = ending_of(use, 0);
    EXPECT_EQ(ending.status, 0) << limit.name << ": " << ending.said;
  }
}

}}  // namespace descriptors_test
