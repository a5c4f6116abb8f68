// SPDX-License-Identifier: MIT
// This library's team of processes: the caller is none of them. The matrices lie in memory that
// they share, mapped before the team is made. With `--kill` workers are killed meanwhile.
#include <filesystem>
#include <fstream>
#include <random>
#include <stop_token>

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <handoff/process/process_team.hpp>
#include <handoff/process/shared_memory.hpp>
#include <handoff/sync/cpu_budget.hpp>

#include "harness/contender.hpp"
#include "harness/protocol.hpp"
#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {
namespace {

// Kills workers of a ProcessTeam at random moments, as the system or an operator would: the team is
// not told, and the kernel says who they are: the children of its fork server, which is a child of
// this process. Nobody else here has a child with children.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code gone;
  const std::string threads = "/proc/" + std::to_string(process) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(threads, gone)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

class RandomKills {
 public:
  // Made after the team. Throws Unavailable.
  explicit RandomKills(double a_second)
      : wait_s_(a_second),
        left_(draw()),
        thread_([this](const std::stop_token& stop) { live(stop); }) {
    if (workers().empty()) throw Unavailable("the kernel does not say who the workers are");
  }

  // Workers are killed from begin() to end(), so many a second of that time.
  void begin() { turn(true); }
  void end() { turn(false); }

  // So far.
  std::size_t killed() {
    const std::lock_guard lock(mutex_);
    return killed_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static std::vector<pid_t> workers() {
    std::vector<pid_t> all;
    for (const pid_t child : children_of(getpid())) {
      const std::vector<pid_t> its = children_of(child);
      all.insert(all.end(), its.begin(), its.end());
    }
    return all;
  }

  Clock::duration draw() {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(wait_s_(random_)));
  }

  void turn(bool on) {
    {
      const std::lock_guard lock(mutex_);
      const auto now = Clock::now();
      if (!on) left_ -= std::min(left_, now - since_);
      since_ = now;
      on_ = on;
      ++turns_;
    }
    changed_.notify_all();
  }

  void live(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested() && changed_.wait(lock, stop, [this] { return on_; })) {
      const std::uint64_t here = turns_;
      const auto due = since_ + left_;
      const bool over =
          changed_.wait_until(lock, stop, due, [this, here] { return turns_ != here; });
      if (over || stop.stop_requested()) continue;
      killed_ += kill_one() ? 1 : 0;
      since_ = due;
      left_ = draw();
    }
  }

  // A number may be another process's by the time that it is used: what is signalled is what has
  // the number now, held by a descriptor, and is still a worker.
  bool kill_one() {
    std::vector<pid_t> all = workers();
    std::shuffle(all.begin(), all.end(), random_);
    for (const pid_t worker : all) {
      const int held = static_cast<int>(syscall(SYS_pidfd_open, worker, 0));
      if (held < 0) continue;
      const std::vector<pid_t> now = workers();
      const bool is_worker = std::find(now.begin(), now.end(), worker) != now.end();
      pollfd end{held, POLLIN, 0};
      const bool lives = is_worker && poll(&end, 1, 0) == 0;
      const bool killed = lives && syscall(SYS_pidfd_send_signal, held, SIGKILL, nullptr, 0) == 0;
      close(held);
      if (killed) return true;
    }
    return false;
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::mt19937_64 random_{std::random_device{}()};
  std::exponential_distribution<double> wait_s_;
  bool on_ = false;
  std::uint64_t turns_ = 0;
  Clock::time_point since_;  // since when it has been on, or since the last kill
  Clock::duration left_;  // of that time, until the next kill
  std::size_t killed_ = 0;
  std::jthread thread_;  // the last: it begins when all else is there
};

// `--kill RATE`: products while workers are killed, beside the same products without. Only those
// with kills are timed by the lab. Each of them is looked at: it begins with poison and must be,
// byte by byte, what it is without kills. How many were killed in the burst and what that cost are
// figures beside the metric.
template <class Work>
double ns_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  return taken.count();
}

class KilledProducts {
 public:
  // `multiply` computes all of C, also if workers are killed meanwhile. The team is made already.
  KilledProducts(const Task& task, Operation multiply)
      : task_(task),
        multiply_(std::move(multiply)),
        bytes_(std::visit([](const auto& o) { return o.m * o.n * sizeof(*o.c); }, task.operands)),
        kills_(static_cast<double>(task.kills)) {}

  // An operation of the lab.
  void run() {
    constexpr int in_a_row = 4;  // of each kind; the scenario knows that it is nine in all
    if (task_.burst != burst_) begin_burst();
    multiply_();  // replaces workers that were killed when the last product was nearly done
    for (int i = 0; i < in_a_row; ++i) plain_ns_ += ns_of(multiply_);
    right_.assign(task_.output, task_.output + bytes_);
    for (int i = 0; i < in_a_row; ++i) multiply_with_kills();
    burst_->items(in_a_row);
    report();
  }

 private:
  // The bursts of a launch are objects that live at the same time as the one before and the one
  // after, so no two neighbours have one address.
  void begin_burst() {
    burst_ = task_.burst;
    plain_ns_ = 0;
    killed_ns_ = 0;
    killed_before_ = kills_.killed();
  }

  void multiply_with_kills() {
    std::memset(task_.output, protocol::poison, bytes_);
    kills_.begin();
    burst_->timed([this] { killed_ns_ += ns_of(multiply_); });
    kills_.end();
    if (std::memcmp(task_.output, right_.data(), bytes_) != 0) {
      throw std::runtime_error("with workers killed the product is another one");
    }
  }

  void report() {
    const auto killed = static_cast<double>(kills_.killed() - killed_before_);
    burst_->figure("killed", killed);
    burst_->figure("times_as_long", killed_ns_ / plain_ns_);
    if (killed > 0) burst_->figure("ms_a_kill", (killed_ns_ - plain_ns_) / 1e6 / killed);
  }

  const Task& task_;
  const Operation multiply_;
  const std::size_t bytes_;
  std::vector<std::byte> right_;
  Burst* burst_ = nullptr;
  double plain_ns_ = 0;
  double killed_ns_ = 0;
  std::size_t killed_before_ = 0;
  RandomKills kills_;
};

// The operands, to which it points, are as they were when the workers were forked.
void compute_rows(IndexRange range, const RowKernel& rows) { rows(range.first, range.last); }

void compute_nothing(IndexRange, const RowKernel&) {}

ProcessTeamOptions options_of(const Task& task) {
  ProcessTeamOptions options{.width = task.width, .on_fewer = OnFewerWorkers::refuse};
  if (task.kills == 0) return options;
  // It is no block's fault when its worker is killed, and each that is killed is replaced.
  options.tries = 15;
  options.replacements_per_second = static_cast<std::uint32_t>(100 + 2 * task.kills);
  return options;
}

class Team {
 public:
  explicit Team(const Task& task)
      : task_(task),
        rows_(task.rows()),
        block_(task.kernel == Kernel::tile ? task.tile_rows() : 0),  // 0: its choice
        team_(options_of(task)) {}

  void multiply() { static_cast<void>(team_.run<compute_rows>(task_.m, rows_, {.block = block_})); }

  // What it takes to hand out a row in a block of eight, as of 512 rows for two members: ns of the
  // CPUs that they have, the best of some runs. Measured once.
  double claim_ns() {
    if (claim_ns_ > 0) return claim_ns_;
    constexpr int runs = 4;
    constexpr std::size_t block = 8;
    constexpr std::size_t rows = ProcessTeam::max_blocks * block;
    double best = std::numeric_limits<double>::infinity();
    for (int run = 0; run < runs; ++run) {
      best =
          std::min(best, ns_of([&] {
                     static_cast<void>(team_.run<compute_nothing>(rows, rows_, {.block = block}));
                   }));
    }
    const auto cpus = std::min<std::size_t>(task_.width, sync::cpu_budget().width());
    claim_ns_ = best * static_cast<double>(cpus) / static_cast<double>(rows);
    return claim_ns_;
  }

 private:
  const Task& task_;
  const RowKernel rows_;
  const std::size_t block_;
  ProcessTeam team_;
  double claim_ns_ = 0;
};

std::shared_ptr<Team> team_for(const Task& task) {
  try {
    return std::make_shared<Team>(task);
  } catch (const std::system_error& error) {
    throw Unavailable(error.what());
  }
}

}  // namespace

std::shared_ptr<std::byte> matrix_memory(std::size_t bytes) {
  try {
    const auto memory = std::make_shared<SharedMemory>(SharedMemory::create({.bytes = bytes}));
    return {memory, memory->bytes().data()};
  } catch (const std::system_error& error) {
    throw Unavailable(error.what());
  }
}

Operation contender(const Task& task) {
  const std::shared_ptr<Team> team = team_for(task);
  if (task.kills > 0) {
    const auto products = std::make_shared<KilledProducts>(task, [team] { team->multiply(); });
    return [products] { products->run(); };
  }
  return [&task, team] {
    team->multiply();
    task.burst->figure("claim_ns", team->claim_ns());  // the first time in a part that is not timed
  };
}

}  // namespace handoff::lab::matmul
