// SPDX-License-Identifier: MIT
// This library's ways.
#include <handoff/core/bulk.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/process/process_pool.hpp>
#include <handoff/process/process_team.hpp>
#include <handoff/process/shared_memory.hpp>
#include <handoff/process/subprocess.hpp>
#include <handoff/team/thread_team.hpp>

#include "peers/threads.hpp"
#include "scenarios/spawn/children.hpp"
#include "scenarios/spawn/measure.hpp"

namespace handoff::lab::spawn {
namespace {

// This library's pool, used as nobody should: made for one task, and closed after it.
void pool(Word& word) {
  ThreadPool pool(1);
  pool.post([&word] { word.store(); });
  pool.close(Closing::finish);
}

// This library's team, used as nobody should: made for one run. start(), since run() leaves one
// index to the caller, which would do it before the new thread is there.
void thread_team(Word& word) {
  std::optional<ThreadTeam> team(std::in_place, std::size_t{2});
  BulkOperation run(
      *team, 1, [&word](std::size_t, std::size_t) { word.store(); }, [](const Tally&) noexcept {});
  if (run.start() != Status::ok) throw std::runtime_error("refused");
  team.reset();  // waits for the run, which lives longer than the team
}

// This library's team of processes, made while the parent is small: its fork server starts a worker
// in the place of one that was killed, and the team's next run is that worker's first.
struct Note {
  pid_t* worker;  // in shared memory
};
void tell(IndexRange /*range*/, const Note& note) { *note.worker = getpid(); }

class KilledTeam {
 public:
  KilledTeam() {
    start();
    end();
  }

  pid_t start() {
    static_cast<void>(team_.run<tell>(1, Note{worker_}));
    return *worker_;
  }

  // Gone is a worker whose number is free again: the fork server has waited for it.
  void end() {
    const pid_t worker = *worker_;
    if (kill(worker, SIGKILL) != 0) throw std::runtime_error("the worker has ended by itself");
    const bool is_gone = peers::retry_for(std::chrono::seconds(10),
                                          [&] { return kill(worker, 0) != 0 && errno == ESRCH; });
    if (!is_gone) throw std::runtime_error("the worker does not end");
  }

 private:
  SharedMemory memory_ = SharedMemory::create({.bytes = sizeof(pid_t)});
  pid_t* const worker_ = reinterpret_cast<pid_t*>(memory_.bytes().data());
  ProcessTeam team_{{.width = 1, .replacements_per_second = 1'000'000}};
};

// This library's child that is a program: it ends with its parent, has no descriptors but those it
// is given, and is known by its pidfd.
class Programs {
 public:
  pid_t start() {
    child_.emplace(
        Subprocess::start({program_}, {.output = SubprocessOutput::descriptor(told_.writes())}));
    return told_.by(child_->id());
  }
  void end() { child_.reset(); }

 private:
  const std::string program_ = worker_program();
  Told told_;
  std::optional<Subprocess> child_;
};

// This library's pool of processes: its workers stay, and each job has a Future.
class Pool {
 public:
  void begin(Number number) { futures_.push_back(pool_.submit<do_job>(number)); }
  Answer end() {
    const Answer answer = futures_.front().get();
    futures_.pop_front();
    return answer;
  }

 private:
  ProcessPool pool_{{.capacity = kInFlight}};
  std::deque<Future<Answer>> futures_;
};

// This library's team of processes, of which any may die: a claim says whose it is.
void do_rows(IndexRange range, const Rows& rows) { rows.do_block(range.first, range.last); }

class ProcessTeamClaims {
 public:
  explicit ProcessTeamClaims(std::size_t width)
      : team_({.width = width, .on_fewer = OnFewerWorkers::refuse}) {}

  void run(const Rows& rows) {
    static_cast<void>(team_.run<do_rows>(rows.count, rows, {.block = kBlock}));
  }

 private:
  ProcessTeam team_;
};

// This library's team of threads, of which the caller is one: what the same rows cost where nobody
// can die alone.
class ThreadTeamClaims {
 public:
  explicit ThreadTeamClaims(std::size_t width) : team_(ThreadTeamOptions{.width = width}) {}

  void run(const Rows& rows) {
    static_cast<void>(
        team_.run(rows.count, [&rows](IndexRange range) { rows.do_block(range.first, range.last); },
                  {.block = kBlock}));
  }

 private:
  ThreadTeam team_;
};

// Memory that is made: without a name if that is empty.
SharedMemory made(const std::string& name) {
  SharedMemory memory =
      SharedMemory::create({.name = name, .bytes = kMemoryBytes, .layout = kFirstWord});
  std::memcpy(memory.bytes().data(), &kFirstWord, sizeof kFirstWord);
  memory.publish();
  return memory;
}

std::uint64_t first_word_of(const SharedMemory& memory) {
  std::uint64_t word = 0;
  std::memcpy(&word, memory.bytes().data(), sizeof word);
  return word;
}

// This library's shared memory without a name: attached to by its descriptor, once its size, its
// seals and its header have been checked.
class Anonymous {
 public:
  [[nodiscard]] std::uint64_t look() const {
    return first_word_of(SharedMemory::attach(memory_.descriptor(), {.layout = kFirstWord}));
  }

 private:
  SharedMemory memory_ = made("");
};

// This library's shared memory with a name: opened by it, once its owner, its mode and its header
// have been checked.
class Named {
 public:
  [[nodiscard]] std::uint64_t look() const {
    return first_word_of(SharedMemory::open(name_.text(), {.layout = kFirstWord}));
  }

 private:
  KeptName name_;
  SharedMemory memory_ = made(name_.text());
};

}  // namespace

Prepared contender(const Parameters& parameters) {
  return chosen<Prepared(const Parameters&)>(
      {{"own.pool", measure_threads<pool>},
       {"own.thread_team", measure_threads<thread_team>},
       {"own.process_team", measure_ready<KilledTeam>},
       {"own.subprocess", measure_ready<Programs>},
       {"own.process_pool", measure_jobs<Pool>},
       {"own.process_team.claims", measure_claims<ProcessTeamClaims>},
       {"own.thread_team.claims", measure_claims<ThreadTeamClaims>},
       {"own.shared_memory", measure_attach<Anonymous>},
       {"own.shared_memory.named", measure_attach<Named>}})(parameters);
}

}  // namespace handoff::lab::spawn
