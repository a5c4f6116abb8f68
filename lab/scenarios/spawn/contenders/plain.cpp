// SPDX-License-Identifier: MIT
// What needs no library.
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "scenarios/spawn/children.hpp"
#include "scenarios/spawn/measure.hpp"

namespace handoff::lab::spawn {
namespace {

void std_thread(Word& word) {
  std::thread([&word] { word.store(); }).join();
}

// What people write to get a result of another thread.
void std_async(Word& word) {
  std::async(std::launch::async, [&word] { word.store(); }).get();
}

// POSIX threads: started and joined. The C library keeps the stacks of threads that ended.
void posix_thread(Word& word) {
  pthread_t thread{};
  const auto run = [](void* there) -> void* {
    static_cast<Word*>(there)->store();
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, run, &word) != 0) throw std::runtime_error("no thread");
  pthread_join(thread, nullptr);
}

// What the kernel alone takes: clone(2) onto one stack that is there already, and a futex which the
// kernel wakes as the thread ends. The thread has no thread-local memory of its own, no guard below
// its stack, and no place in the C library's books.
void kernel_thread(Word& word) {
  constexpr std::size_t bytes = 32 << 10;
  alignas(64) static std::byte stack[bytes];
  constexpr int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                        CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
  const auto run = [](void* there) {
    static_cast<Word*>(there)->store();
    return 0;
  };
  std::atomic<pid_t> alive = 1;  // until the kernel clears it
  if (clone(run, stack + bytes, flags, &word, nullptr, nullptr, &alive) == -1) {
    throw std::runtime_error("no thread");
  }
  // The kernel wakes sleepers of all processes, so this is no private futex.
  for (pid_t seen; (seen = alive.load(std::memory_order_acquire)) != 0;) {
    syscall(SYS_futex, &alive, FUTEX_WAIT, seen, nullptr, nullptr, 0);
  }
}

// posix_spawn: a child that is a program. The C library makes it without a copy of the parent's
// tables.
class SpawnedPrograms : Pinned {
 public:
  SpawnedPrograms() {
    if (posix_spawn_file_actions_init(&actions_) != 0 ||
        posix_spawn_file_actions_adddup2(&actions_, told_.writes(), STDOUT_FILENO) != 0) {
      throw std::runtime_error("no file actions");
    }
  }
  ~SpawnedPrograms() { posix_spawn_file_actions_destroy(&actions_); }

  pid_t start() {
    char* const arguments[] = {program_.data(), nullptr};
    const int error =
        posix_spawn(&child_, program_.c_str(), &actions_, nullptr, arguments, environ);
    if (error != 0) throw std::runtime_error("posix_spawn: error " + std::to_string(error));
    return told_.by(child_);
  }
  void end() { peers::end_child(child_); }

 private:
  std::string program_ = worker_program();
  Told told_;
  posix_spawn_file_actions_t actions_{};
  pid_t child_ = 0;
};

// fork: a child that goes on with the parent's code and a copy of its tables.
class Forks {
 public:
  pid_t start() {
    child_ = fork();
    if (child_ == 0) work();
    if (child_ < 0) throw std::runtime_error("no child");
    return told_.by(child_);
  }
  void end() { peers::end_child(child_); }

 private:
  [[noreturn]] void work() const {
    peers::live_as_child();
    const pid_t own = getpid();
    if (write(told_.writes(), &own, sizeof own) != sizeof own) _exit(1);
    for (;;) pause();
  }

  Told told_;
  pid_t child_ = 0;
};

// Workers that stay, as many as CPUs, each fed by a socket pair of its own, one after the other:
// what is written by hand where a process per job is too dear. A worker that dies takes its jobs
// with it.
template <class T>
bool take(int socket, T& value) {
  return peers::uninterrupted([&] { return recv(socket, &value, sizeof value, 0); }) ==
         sizeof value;
}
template <class T>
bool give(int socket, const T& value) {
  return peers::uninterrupted([&] { return send(socket, &value, sizeof value, MSG_NOSIGNAL); }) ==
         sizeof value;
}

class Fed : Pinned {
 public:
  Fed() {
    cpu_set_t cpus;
    const bool is_known = sched_getaffinity(0, sizeof cpus, &cpus) == 0;
    workers_.resize(is_known ? static_cast<std::size_t>(CPU_COUNT(&cpus)) : 1);
    for (Worker& worker : workers_) start(worker);
  }
  ~Fed() {
    for (const Worker& worker : workers_) {
      close(worker.socket);
      peers::end_child(worker.process);
    }
  }

  void begin(Number number) {
    if (!give(workers_[begun_++ % workers_.size()].socket, number)) {
      throw std::runtime_error("a worker is gone");
    }
  }
  Answer end() {
    Answer answer{};
    static_cast<void>(take(workers_[ended_++ % workers_.size()].socket, answer));
    return answer;
  }

 private:
  struct Worker {
    pid_t process = -1;
    int socket = -1;
  };

  static void start(Worker& worker) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
      throw std::runtime_error("no socket pair");
    }
    worker.process = fork();
    if (worker.process == 0) work(ends[1]);
    close(ends[1]);
    if (worker.process < 0) throw std::runtime_error("no child");
    worker.socket = ends[0];
  }
  [[noreturn]] static void work(int socket) {
    peers::live_as_child();
    for (Number number = 0; take(socket, number) && give(socket, do_job(number));) {
    }
    _exit(0);
  }

  std::vector<Worker> workers_;
  std::size_t begun_ = 0;
  std::size_t ended_ = 0;
};

// What the ways to do a job in a process of its own share: a pipe for each job, from which its
// answer is read before the child is waited for.
class JobPipes : Pinned {
 public:
  ~JobPipes() {
    while (!jobs_.empty()) static_cast<void>(end());
  }

  // start(output) makes the child, which writes an Answer to that descriptor and ends.
  template <class Start>
  void begin(const Start& start) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const pid_t child = start(ends[1]);
    close(ends[1]);
    if (child < 0) {
      close(ends[0]);
      throw std::runtime_error("no child");
    }
    jobs_.push_back({child, ends[0]});
  }
  Answer end() {
    const Job job = jobs_.front();
    jobs_.pop_front();
    Answer answer{};
    const ssize_t n =
        peers::uninterrupted([&] { return read(job.answers, &answer, sizeof answer); });
    close(job.answers);
    peers::wait_for(job.child);
    return n == sizeof answer ? answer : Answer{};
  }

 private:
  struct Job {
    pid_t child;
    int answers;
  };
  std::deque<Job> jobs_;
};

// fork: a child for each job, which goes on with the parent's code and ends behind it.
class ForkedJobs {
 public:
  void begin(Number number) {
    jobs_.begin([number](int output) {
      const pid_t child = fork();
      if (child != 0) return child;
      const Answer answer = do_job(number);
      _exit(write(output, &answer, sizeof answer) == sizeof answer ? 0 : 1);
    });
  }
  Answer end() { return jobs_.end(); }

 private:
  JobPipes jobs_;
};

// posix_spawn: a program for each job, which gets its number as an argument.
class SpawnedJobs {
 public:
  void begin(Number number) {
    jobs_.begin([&](int output) {
      posix_spawn_file_actions_t actions{};
      if (posix_spawn_file_actions_init(&actions) != 0 ||
          posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) != 0) {
        throw std::runtime_error("no file actions");
      }
      std::string text = std::to_string(number);
      char* const arguments[] = {program_.data(), text.data(), nullptr};
      pid_t child = -1;
      const int error =
          posix_spawn(&child, program_.c_str(), &actions, nullptr, arguments, environ);
      posix_spawn_file_actions_destroy(&actions);
      return error == 0 ? child : -1;
    });
  }
  Answer end() { return jobs_.end(); }

 private:
  std::string program_ = worker_program();
  JobPipes jobs_;
};

// Forked workers that take blocks from one counter in shared memory, between two barriers: what is
// written by hand. What a worker that dies has taken is never done, and the barrier waits for it.
class Counting : Pinned {
 public:
  explicit Counting(std::size_t width) {
    make(shared_->begin, width + 1);
    make(shared_->end, width + 1);
    workers_.reserve(width);
    while (workers_.size() < width) {
      const pid_t worker = fork();
      if (worker == 0) work();
      if (worker < 0) {
        end();
        throw std::runtime_error("no child");
      }
      workers_.push_back(worker);
    }
  }
  ~Counting() { end(); }

  void run(const Rows& rows) {
    shared_->rows = rows;
    shared_->next.store(0, std::memory_order_relaxed);  // order: the barriers have it
    pthread_barrier_wait(&shared_->begin);
    pthread_barrier_wait(&shared_->end);
  }

 private:
  struct Shared {
    pthread_barrier_t begin{};
    pthread_barrier_t end{};
    Rows rows{};
    alignas(128) std::atomic<std::size_t> next{0};
  };
  static_assert(std::atomic<std::size_t>::is_always_lock_free);

  static void make(pthread_barrier_t& barrier, std::size_t count) {
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    const int error = pthread_barrier_init(&barrier, &shared, static_cast<unsigned>(count));
    pthread_barrierattr_destroy(&shared);
    if (error != 0) throw std::runtime_error("no barrier between processes");
  }
  [[noreturn]] void work() const {
    peers::live_as_child();
    for (;;) {
      pthread_barrier_wait(&shared_->begin);
      const Rows rows = shared_->rows;
      for (std::size_t first = take(); first < rows.count; first = take()) {
        rows.do_block(first, std::min(first + kBlock, rows.count));
      }
      pthread_barrier_wait(&shared_->end);
    }
  }
  [[nodiscard]] std::size_t take() const {
    // order: each block is taken once; what is done at it, the barriers have
    return shared_->next.fetch_add(kBlock, std::memory_order_relaxed);
  }
  void end() {
    for (const pid_t worker : workers_) peers::end_child(worker);
  }

  peers::Common<Shared> shared_;
  std::vector<pid_t> workers_;
};

// Gives new memory its size and its first word. Throws std::runtime_error.
void fill(int file) {
  if (file < 0 || ftruncate(file, kMemoryBytes) != 0 ||
      pwrite(file, &kFirstWord, sizeof kFirstWord, 0) != sizeof kFirstWord) {
    throw std::runtime_error("no shared memory");
  }
}

// Asks for its size, maps all of it and lets go of the mapping. Throws std::runtime_error.
std::uint64_t first_word_of(int file) {
  struct stat status{};
  if (fstat(file, &status) != 0) throw std::runtime_error("it has no size");
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (place == MAP_FAILED) throw std::runtime_error("it cannot be mapped");
  std::uint64_t word = 0;
  std::memcpy(&word, place, sizeof word);
  munmap(place, bytes);
  return word;
}

// POSIX shared memory: opened by its name, asked for its size, and mapped.
class Posix {
 public:
  Posix() {
    const int file = shm_open(name_.text().c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    fill(file);
    close(file);
  }

  [[nodiscard]] std::uint64_t look() const {
    const int file = shm_open(name_.text().c_str(), O_RDWR, 0);
    if (file < 0) throw std::runtime_error("it cannot be opened");
    const std::uint64_t word = first_word_of(file);
    close(file);
    return word;
  }

 private:
  KeptName name_;
};

// Memory without a name: its descriptor, which is there already, is asked for the size, and mapped.
class Memfd : Pinned {
 public:
  Memfd() { fill(file_); }
  ~Memfd() { close(file_); }

  [[nodiscard]] std::uint64_t look() const { return first_word_of(file_); }

 private:
  const int file_ = memfd_create("handoff-lab", MFD_CLOEXEC);
};

}  // namespace

Prepared contender(const Parameters& parameters) {
  return chosen<Prepared(const Parameters&)>({{"limit.clone", measure_threads<kernel_thread>},
                                              {"peer.std_thread", measure_threads<std_thread>},
                                              {"peer.std_async", measure_threads<std_async>},
                                              {"peer.pthread", measure_threads<posix_thread>},
                                              {"peer.posix_spawn", measure_ready<SpawnedPrograms>},
                                              {"peer.fork", measure_ready<Forks>},
                                              {"peer.fed_workers", measure_jobs<Fed>},
                                              {"peer.fork_a_job", measure_jobs<ForkedJobs>},
                                              {"peer.posix_spawn_a_job", measure_jobs<SpawnedJobs>},
                                              {"peer.shared_counter", measure_claims<Counting>},
                                              {"peer.shm_open", measure_attach<Posix>},
                                              {"peer.memfd", measure_attach<Memfd>}})(parameters);
}

}  // namespace handoff::lab::spawn
