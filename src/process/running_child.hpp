// SPDX-License-Identifier: MIT
//
// A child that runs or has ended: its pidfd, its pipes, what was captured, and how it ended.
//
//   SP-1  A number is signalled only while its process cannot have been reaped: under the mutex,
//   and
//         reaping is under the same mutex. All else goes by the pidfd.
//   SP-2  The group is killed before its leader is reaped: its number is still the group's.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/subprocess_exit.hpp>
#include <handoff/sync/mutex.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "../sync/internal/descriptor.hpp"
#include "child_request.hpp"
#include "spawner.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Why there can be no child here; 0: pidfds work. Asked anew each time: a filter of system calls
// may have come meanwhile.
int lack_of_pidfds() noexcept;

// What was captured of a stream.
struct Capture {
  Descriptor pipe;
  std::string bytes;
  std::size_t limit = 0;
  std::uint64_t dropped = 0;
};

// One call that waits: its deadline, and a descriptor that is readable once a stop is requested.
class PipeWait;

class RunningChild {
 public:
  RunningChild(const SubprocessOptions& options, const std::string& program);
  ~RunningChild();

  // Takes a child that was just made.
  void begin(Spawned& spawned, ChildRequest& request) noexcept;

  [[nodiscard]] int id() const noexcept { return id_; }
  [[nodiscard]] int descriptor() const noexcept { return pidfd_.get(); }
  [[nodiscard]] const Capture& capture(std::size_t which) const noexcept {
    return captures_[which];
  }
  [[nodiscard]] bool input_is_open() const noexcept { return input_.is_open(); }
  void close_input() noexcept { input_.close(); }

  std::optional<SubprocessExit> wait(const Until& until);
  std::size_t write(std::string_view bytes, const Until& until);
  std::string read(std::size_t which, const Until& until);
  bool signal(int number);
  void kill() noexcept;

 private:
  bool turn(PipeWait& wait, bool room);
  std::size_t take_some(Capture& capture, std::size_t most);
  void finish();
  void reap() noexcept;
  void take_rest(Capture& capture);
  bool signal_group(int number) noexcept;
  bool is_reaped() noexcept;
  [[noreturn]] void fail(const char* step, int error) const;

  const std::string program_;
  const bool own_group_;
  long owner_ = 0;  // the process whose child it is
  int id_ = -1;
  long starters_resident_kib_ = 0;
  Descriptor pidfd_;
  Descriptor input_;
  std::array<Capture, 2> captures_;  // output, error
  std::optional<SubprocessExit> exit_;
  std::string buffer_;  // what reading needs

  sync::Mutex mutex_;
  bool reaped_ = false;  // under the mutex
};

}}}  // namespace handoff::HANDOFF_ABI::detail
