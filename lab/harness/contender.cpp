// SPDX-License-Identifier: MIT
// `main` of every contender: reads commands, times bursts, publishes answers.
#include "harness/contender.hpp"

#include <iostream>
#include <sstream>

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "harness/counters.hpp"
#include "harness/protocol.hpp"
#include "harness/thread_times.hpp"

namespace handoff::lab {

std::string Parameters::text(const std::string& name, const char* otherwise) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  if (otherwise == nullptr) throw std::invalid_argument("no parameter " + name + " was sent");
  return otherwise;
}

std::size_t Parameters::number(const std::string& name) const { return std::stoull(text(name)); }

std::size_t Parameters::number(const std::string& name, std::size_t otherwise) const {
  return values_.contains(name) ? number(name) : otherwise;
}

namespace {

std::string_view argument;

long long now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<long long>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::span<std::byte> map(int descriptor, int protection, int sharing) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0 || status.st_size == 0) {
    throw std::runtime_error("this program is started by `handoff run`, not by hand");
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* memory = mmap(nullptr, bytes, protection, sharing, descriptor, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("the shared memory cannot be mapped");
  return {static_cast<std::byte*>(memory), bytes};
}

// Reads a line from the coordinator; an empty one means that it is gone.
std::string read_line() {
  std::string line;
  for (char c = 0; read(protocol::command_fd, &c, 1) == 1;) {
    if (c == '\n') return line;
    line += c;
  }
  return {};
}

void reply(std::string line) {
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const auto n = send(protocol::command_fd, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) std::exit(1);  // nobody is left to tell
    sent += static_cast<std::size_t>(n);
  }
}

Parameters read_parameters(std::istringstream& words) {
  std::map<std::string, std::string> values;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    values[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return Parameters(std::move(values));
}

struct Times {
  long long wall_ns = now_ns(CLOCK_MONOTONIC);
  long long cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
};

struct Taken {
  long long wall_ns = 0;
  long long cpu_ns = 0;
};

// What a planted slow-down takes after a burst of `burst_ns`; next to no time where there is none.
Taken planted(long long burst_ns) {
  const char* const percent = std::getenv(protocol::planted_percent);
  if (percent == nullptr) return {};
  const Times start;
  const long long end = start.wall_ns + burst_ns * std::atoi(percent) / 100;
  while (now_ns(CLOCK_MONOTONIC) < end) {
  }
  const Times now;
  return {now.wall_ns - start.wall_ns, now.cpu_ns - start.cpu_ns};
}

rusage usage_of_this_process() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

// Those that the coordinator could open for this process.
class Counters {
 public:
  Counters() {
    for (std::size_t i = 0; i < counter_kinds.size(); ++i) {
      const int descriptor = protocol::first_counter_fd + static_cast<int>(i);
      if (fcntl(descriptor, F_GETFD) != -1) open_.push_back({counter_kinds[i].name, descriptor});
    }
  }

  [[nodiscard]] bool empty() const { return open_.empty(); }

  // What is counted while `work` runs, by the counters' names.
  template <typename Work>
  std::map<std::string, double> during(Work work) const {
    std::map<std::string, double> counts;
    for (const auto& [name, descriptor] : open_) counts[name] = -read_one(descriptor);
    for (const auto& counter : open_) ioctl(counter.descriptor, PERF_EVENT_IOC_ENABLE, 0);
    work();
    for (const auto& counter : open_) ioctl(counter.descriptor, PERF_EVENT_IOC_DISABLE, 0);
    for (const auto& [name, descriptor] : open_) counts[name] += read_one(descriptor);
    return counts;
  }

 private:
  struct Open {
    std::string name;
    int descriptor;
  };

  static double read_one(int descriptor) {
    std::uint64_t value = 0;
    return read(descriptor, &value, sizeof value) == sizeof value ? static_cast<double>(value) : 0;
  }

  std::vector<Open> open_;
};

}  // namespace

std::string_view contender_name() { return argument; }

void Burst::executed(std::size_t member, double count) {
  if (executed_.size() <= member) executed_.resize(member + 1);
  executed_[member] += count;
}

Histogram& Burst::latencies() {
  if (latencies_ == nullptr) latencies_ = std::make_unique<Histogram>();
  return *latencies_;
}

// Between the two readings of the wall clock is nothing but the work.
void Burst::start() {
  times_itself_ = true;
  cpu_ns_ -= now_ns(CLOCK_PROCESS_CPUTIME_ID);
  wall_ns_ -= now_ns(CLOCK_MONOTONIC);
}

void Burst::stop() {
  wall_ns_ += now_ns(CLOCK_MONOTONIC);
  cpu_ns_ += now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

// The line that tells the coordinator what a burst was.
class BurstReply {
 public:
  BurstReply(const Burst& burst, long long wall_ns, long long cpu_ns, long long operations) {
    if (burst.times_itself_) {
      wall_ns = burst.wall_ns_;
      cpu_ns = burst.cpu_ns_;
    }
    const Taken beside = planted(wall_ns);
    line_.precision(17);
    line_ << protocol::done << ' ' << wall_ns + beside.wall_ns << ' ' << cpu_ns + beside.cpu_ns
          << ' ' << operations << ' ' << items_of(burst, operations);
    if (!burst.executed_.empty()) {
      line_ << ' ' << protocol::executed;
      list(burst.executed_, [&](double count) { line_ << count; });
    }
    for (const auto& [name, value] : burst.figures_) add(protocol::figure, name, value);
    for (const auto& [name, points] : burst.curves_) {
      line_ << ' ' << protocol::curve << name;
      list(points, [&](const auto& point) { line_ << point.first << ':' << point.second; });
    }
    if (burst.latencies_ != nullptr) add(*burst.latencies_);
  }

  static double items_of(const Burst& burst, long long operations) {
    return static_cast<double>(operations) + burst.items_;
  }

  template <typename Value>
  void add(std::string_view prefix, std::string_view name, Value value) {
    line_ << ' ' << prefix << name << '=' << value;
  }

  [[nodiscard]] std::string text() const { return line_.str(); }

 private:
  void add(const Histogram& latencies) {
    if (latencies.count() == 0) return;
    add(protocol::figure, "p50", latencies.percentile(50));
    add(protocol::figure, "p90", latencies.percentile(90));
    add(protocol::figure, "p99", latencies.percentile(99));
    add(protocol::figure, "p99_9", latencies.percentile(99.9));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> buckets;
    latencies.each(
        [&](std::uint64_t value, std::uint64_t times) { buckets.emplace_back(value, times); });
    line_ << ' ' << protocol::latency;
    list(buckets, [&](const auto& bucket) { line_ << bucket.first << ':' << bucket.second; });
  }

  template <typename Values, typename Print>
  void list(const Values& values, Print print) {
    char separator = '=';
    for (const auto& value : values) {
      line_ << std::exchange(separator, ',');
      print(value);
    }
  }

  std::ostringstream line_;
};

namespace {

class Session {
 public:
  Session()
      : input_(map(protocol::input_fd, PROT_READ, MAP_PRIVATE)),
        answer_(map(protocol::answer_fd, PROT_READ | PROT_WRITE, MAP_SHARED)) {}

  void prepare(const Parameters& parameters) {
    const Times start;
    try {
      prepared_ = lab::prepare(parameters, input_);
      reply_with_time(protocol::ready, start);
    } catch (const Unavailable& reason) {
      reply(std::string(protocol::unavailable) + ' ' + reason.what());
    }
  }

  // The first part is not timed: it wakes threads and warms caches. The output is poisoned after
  // it, so that what is published was computed within the time that is reported. The last part is
  // not timed either: counters slow down what they count.
  void burst(long long least_ns) {
    Burst untimed;
    static_cast<void>(repeat(untimed, least_ns / untimed_part));
    std::memset(prepared_.output.data(), protocol::poison, prepared_.output.size());
    Burst burst;
    const ThreadTimes threads_before = ThreadTimes::now();
    const rusage usage = usage_of_this_process();
    const Times start;
    const long long operations = repeat(burst, least_ns);
    const Times end;
    const rusage used = usage_of_this_process();
    const ThreadTimes threads = ThreadTimes::now();
    const auto bytes = std::min(answer_.size(), prepared_.output.size());
    std::memcpy(answer_.data(), prepared_.output.data(), bytes);
    BurstReply line(burst, end.wall_ns - start.wall_ns, end.cpu_ns - start.cpu_ns, operations);
    line.add(protocol::usage, protocol::voluntary_switches, used.ru_nvcsw - usage.ru_nvcsw);
    line.add(protocol::usage, protocol::involuntary_switches, used.ru_nivcsw - usage.ru_nivcsw);
    const auto wall_ns = static_cast<double>(end.wall_ns - start.wall_ns);
    for (const auto& [name, ns] : threads.since(threads_before, wall_ns)) {
      line.add(protocol::usage, name, ns);
    }
    add_counters(line, least_ns / untimed_part);
    reply(line.text());
  }

  // Ends what `prepare` started: threads are joined, memory is given back.
  void stop() {
    const Times start;
    prepared_ = {};
    reply_with_time(protocol::stopped, start);
  }

 private:
  static constexpr long long untimed_part = 10;  // a tenth of a burst, and at least an operation

  // The operation until the time has passed; how often that was.
  long long repeat(Burst& burst, long long least_ns) {
    const long long end = now_ns(CLOCK_MONOTONIC) + least_ns;
    long long operations = 0;
    do {
      prepared_.operation(burst);
      ++operations;
    } while (now_ns(CLOCK_MONOTONIC) < end);
    return operations;
  }

  void add_counters(BurstReply& line, long long least_ns) {
    if (least_ns == 0 || counters_.empty()) return;
    Burst counted;
    long long operations = 0;
    const auto counts = counters_.during([&] { operations = repeat(counted, least_ns); });
    const double items = BurstReply::items_of(counted, operations);
    for (const auto& [name, count] : counts) line.add(protocol::count, name, count / items);
  }

  static void reply_with_time(std::string_view word, const Times& start) {
    const Times end;
    reply(std::string(word) + ' ' + std::to_string(end.wall_ns - start.wall_ns));
  }

  std::span<const std::byte> input_;
  std::span<std::byte> answer_;
  Counters counters_;
  Prepared prepared_;
};

void serve(std::string_view name) {
  argument = name;
  Session session;
  for (std::string line = read_line(); !line.empty(); line = read_line()) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == protocol::prepare) {
      session.prepare(read_parameters(words));
    } else if (command == protocol::burst) {
      long long least_ns = 0;
      words >> least_ns;
      session.burst(least_ns);
    } else if (command == protocol::stop) {
      session.stop();
    } else {
      throw std::runtime_error("the coordinator sent an unknown command: " + line);
    }
  }
}

}  // namespace
}  // namespace handoff::lab

int main(int argc, char** argv) {
  try {
    handoff::lab::serve(argc > 1 ? argv[1] : "");
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';  // the coordinator quotes the last line in the row
    return 1;
  }
}
