// SPDX-License-Identifier: MIT
// `main` of every contender: reads commands, times bursts, publishes answers.
#include "harness/contender.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <sstream>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/protocol.hpp"

namespace handoff::lab {

std::string Parameters::text(const std::string& name, const char* otherwise) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  if (otherwise == nullptr) throw std::invalid_argument("no parameter " + name + " was sent");
  return otherwise;
}

std::size_t Parameters::number(const std::string& name) const {
  return std::stoull(text(name));
}

std::size_t Parameters::number(const std::string& name, std::size_t otherwise) const {
  return values_.contains(name) ? number(name) : otherwise;
}

namespace {

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
    if (n <= 0) std::exit(1);  // nobody is left who could be told
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

class Session {
 public:
  Session()
      : input_(map(protocol::input_fd, PROT_READ, MAP_PRIVATE)),
        answer_(map(protocol::answer_fd, PROT_READ | PROT_WRITE, MAP_SHARED)) {}

  void prepare(const Parameters& parameters) {
    try {
      prepared_ = lab::prepare(parameters, input_);
      reply(std::string(protocol::ready));
    } catch (const Unavailable& reason) {
      reply(std::string(protocol::unavailable) + ' ' + reason.what());
    }
  }

  // The first operation is not timed: it wakes threads and warms caches. The output is poisoned
  // after it, so that what is published was computed within the time that is reported.
  void burst(long long least_ns) {
    prepared_.operation();
    std::memset(prepared_.output.data(), protocol::poison, prepared_.output.size());
    const long long cpu_start = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    const long long start = now_ns(CLOCK_MONOTONIC);
    long long operations = 0;
    long long elapsed = 0;
    do {
      prepared_.operation();
      ++operations;
      elapsed = now_ns(CLOCK_MONOTONIC) - start;
    } while (elapsed < least_ns);
    const long long cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
    const auto bytes = std::min(answer_.size(), prepared_.output.size());
    std::memcpy(answer_.data(), prepared_.output.data(), bytes);
    std::ostringstream line;
    line << protocol::done << ' ' << elapsed << ' ' << cpu << ' ' << operations;
    reply(line.str());
  }

 private:
  std::span<const std::byte> input_;
  std::span<std::byte> answer_;
  Prepared prepared_;
};

void serve() {
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
    } else {
      throw std::runtime_error("the coordinator sent an unknown command: " + line);
    }
  }
}

}  // namespace
}  // namespace handoff::lab

int main() {
  try {
    handoff::lab::serve();
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';  // the coordinator quotes the last line in the row
    return 1;
  }
}
