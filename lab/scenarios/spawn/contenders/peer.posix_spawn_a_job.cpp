// SPDX-License-Identifier: MIT
// posix_spawn: a program for each job, which gets its number as an argument.
#include <stdexcept>
#include <string>

#include <spawn.h>
#include <unistd.h>

#include "scenarios/spawn/children.hpp"
#include "scenarios/spawn/job_pipes.hpp"

namespace handoff::lab::spawn { namespace {

class Programs {
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

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_jobs<spawn::Programs>(parameters);
}
