// SPDX-License-Identifier: MIT
//
// What the tests of ProcessTeam share: memory that all its processes have, a kernel whose rows are
// known, ways to die, and the team's processes as /proc shows them.
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include "support/files.hpp"
#include "support/test.hpp"

namespace team_support {

using namespace handoff;
using test::open_descriptors;

// What lies in the memory that all processes of a test have.
struct Board {
  static constexpr std::size_t most = 4096;
  std::array<std::uint64_t, most> rows;
  std::array<std::atomic<std::uint32_t>, most> calls;
  std::atomic<int> stops;
  std::atomic<int> deaths;
  std::atomic<unsigned> ready;
  std::array<char, 256> text;
};

// One that all processes have which are forked from here on.
template <class T>
class Shared {
 public:
  Shared() : memory_(SharedMemory::create({.bytes = sizeof(T)})) {}
  T& operator*() const { return *get(); }
  T* operator->() const { return get(); }
  T* get() const { return static_cast<T*>(static_cast<void*>(memory_.bytes().data())); }

 private:
  SharedMemory memory_;
};
using SharedBoard = Shared<Board>;

struct Rows {
  Board* board;
  std::uint64_t factor;
};

inline std::uint64_t row(std::uint64_t factor, std::size_t index) {
  std::uint64_t value = factor + index;
  for (int i = 0; i < 200; ++i) value = value * 6364136223846793005U + 1442695040888963407U;
  return value;
}

inline void compute_rows(IndexRange range, const Rows& rows) {
  for (const std::size_t i : range) {
    rows.board->rows[i] = 0;  // half a row, for a moment
    rows.board->rows[i] = row(rows.factor, i);
    ++rows.board->calls[i];
  }
}

inline void expect_rows(const Board& board, std::uint64_t factor, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(board.rows[i], row(factor, i)) << "row " << i;
}

inline void count_slowly(IndexRange range, const Rows& rows) {
  for (const std::size_t i : range) {
    ++rows.board->calls[i];
    ++rows.board->ready;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// How the worker that gets index 3 ends, the first `times` times.
struct Deadly {
  Board* board;
  int times;
  void (*die)();
};
inline void die_at_three(IndexRange range, const Deadly& deadly) {
  for (const std::size_t i : range) {
    if (i == 3 && deadly.board->deaths.fetch_add(1) < deadly.times) deadly.die();
    deadly.board->rows[i] = row(1, i);
  }
}

// Whether it is gone, or waits only to be reaped.
inline bool has_ended(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return true;
  const std::size_t name_end = line.rfind(") ");
  return name_end == std::string::npos || line[name_end + 2] == 'Z' || line[name_end + 2] == 'X';
}

inline std::string name_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

inline std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  DIR* const listing = ::opendir(folder.c_str());
  if (listing == nullptr) return names;
  while (const dirent* const entry = ::readdir(listing)) names.insert(entry->d_name);
  ::closedir(listing);
  return names;
}

// The children of all threads of a process: those of this name, or all.
inline std::vector<pid_t> children_of(pid_t parent, const std::string& name = "") {
  std::vector<pid_t> found;
  const std::string tasks = "/proc/" + std::to_string(parent) + "/task";
  for (const std::string& task : names_in(tasks)) {
    std::ifstream file(tasks + "/" + task + "/children");
    for (pid_t child = 0; file >> child;) {
      if (name.empty() || name_of(child) == name) found.push_back(child);
    }
  }
  return found;
}
inline std::vector<pid_t> servers_of(pid_t process) {
  return children_of(process, "handoff-forks");
}

// The workers of this process's only team, its spare included.
inline std::vector<pid_t> workers() {
  std::vector<pid_t> found;
  for (const pid_t server : servers_of(::getpid())) {
    const std::vector<pid_t> its = children_of(server);
    found.insert(found.end(), its.begin(), its.end());
  }
  return found;
}
// Of these, the one that has no slot yet.
inline std::vector<pid_t> spares() {
  std::vector<pid_t> found;
  for (const pid_t process : workers()) {
    if (name_of(process) == "handoff-spare") found.push_back(process);
  }
  return found;
}
inline void signal_workers(int number) {
  for (const pid_t worker : workers()) ::kill(worker, number);
}
inline void signal_server(int number) {
  for (const pid_t server : servers_of(::getpid())) ::kill(server, number);
}

// Patient: a busy machine is no fault. What hangs is ended by the watchdog.
template <class Condition>
bool becomes_true(const Condition& condition,
                  std::chrono::milliseconds patience = std::chrono::seconds(60)) {
  const auto late = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > late) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Does something beside a run, once `ready` of its blocks have begun, or the run is over. Its end
// waits.
template <class Action>
class Beside {
 public:
  Beside(const SharedBoard& board, unsigned ready, Action action)
      : thread_([this, &board, ready, action] {
          while (!over_ && board->ready < ready) std::this_thread::yield();
          action();
        }) {}
  ~Beside() {
    over_ = true;
    thread_.join();
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

// Kills the worker that is the `at`th to pass a step.
class KillsAtStep final : public detail::TeamTap {
 public:
  struct Shared {
    std::atomic<int> passed;
    std::atomic<int> at;
    std::array<char, 16> step;
  };
  explicit KillsAtStep(Shared& shared) : shared_(shared) {}
  void at(const char* step, std::size_t) noexcept override {
    if (std::strcmp(step, shared_.step.data()) != 0) return;
    if (++shared_.passed == shared_.at) ::raise(SIGKILL);
  }

 private:
  Shared& shared_;
};

}  // namespace team_support
