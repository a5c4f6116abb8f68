// SPDX-License-Identifier: MIT
// posix_spawn: a child that is a program. The C library makes it without a copy of the parent's
// tables.
#include <cerrno>
#include <stdexcept>
#include <string>

#include <spawn.h>
#include <unistd.h>

#include "scenarios/spawn/children.hpp"
#include "scenarios/spawn/workers.hpp"

namespace handoff::lab::spawn { namespace {

class Programs {
 public:
  Programs() {
    if (posix_spawn_file_actions_init(&actions_) != 0 ||
        posix_spawn_file_actions_adddup2(&actions_, told_.writes(), STDOUT_FILENO) != 0) {
      throw std::runtime_error("no file actions");
    }
  }
  ~Programs() { posix_spawn_file_actions_destroy(&actions_); }
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  pid_t start() {
    char* const arguments[] = {program_.data(), nullptr};
    const int error =
        posix_spawn(&child_, program_.c_str(), &actions_, nullptr, arguments, environ);
    if (error != 0) throw std::runtime_error("posix_spawn: error " + std::to_string(error));
    return told_.by(child_);
  }
  void end() { end_child(child_); }

 private:
  std::string program_ = worker_program();
  Told told_;
  posix_spawn_file_actions_t actions_{};
  pid_t child_ = 0;
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_ready<spawn::Programs>(parameters);
}
