// SPDX-License-Identifier: MIT
//
// Another program, run beside this one and waited for.
//
//   auto sort = handoff::Subprocess::start(
//       {"sort", "-n"}, {.input = "10\n9\n", .output = handoff::SubprocessOutput::captured()});
//   const handoff::SubprocessExit end = sort.wait();
//   if (!end.ok()) log(end.text());          // "exited with 2", "killed by SIGSEGV"
//   const std::string sorted = sort.output();
//
// For: programs, and workers that may crash. Not for: a line of a shell ({"sh", "-c", line} is
// one), daemons that outlive this program.
//
// Contract:
// - Which program: the first argument names it. Unless it has a slash, start() looks for it in the
//   child's PATH as execvp(3) does, in /bin and /usr/bin without one. A file without a #! line is
//   ENOEXEC: no shell runs it.
// - What the child gets: streams, descriptors and variables as SubprocessOptions says, and no other
//   descriptor; all signals at their defaults, none blocked; the CPUs of the starting thread.
//   Priority, namespaces and system call filters are those of the thread that started the first
//   child.
// - The child ends with this process, however that ends, also by execve() and by the end of this
//   library's static objects (later, start() says ECANCELED); a set-user-ID program does not. The
//   rest of its group is killed when it has ended or its Subprocess is destroyed.
// - Concurrency: start() is thread-safe; starts run one after another, each until the program runs.
//   Of one Subprocess any thread may call signal() and kill() at any time; all else belongs to one
//   thread at a time. In a process that was forked from this one the destructor only closes.
// - Signals go by the child's pidfd, so they reach this child or nobody.
// - Blocks: start(), until the program runs or could not be run; wait(), write() and read_*(), as
//   their Until says; the destructor, until the child is dead.
// - Captured output: wait(), write() and read_*() move it, all streams at once, so they never wait
//   for a child that waits for them. Between these calls a child that writes more than a pipe holds
//   (64 KiB) stands still.
// - Allocates: start(); captured output; a wait with a std::stop_token, once. Such a wait opens a
//   descriptor; if there is none, it looks every 10 ms.
// - Exceptions: start() throws std::system_error, std::invalid_argument or std::bad_alloc, and then
//   nothing was started. If another call throws std::system_error or std::bad_alloc, the child goes
//   on, and the call may be repeated.
// Needs Linux 5.4 (pidfd); on an older one start() says so. How it works: docs/design/processes.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/until.hpp>
#include <handoff/process/subprocess_exit.hpp>
#include <handoff/process/subprocess_options.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class RunningChild;
}  // namespace detail

class [[nodiscard("the child is killed when this is destroyed")]] Subprocess {
 public:
  // Runs a program. See above.
  static Subprocess start(const std::vector<std::string>& arguments,
                          const SubprocessOptions& options = {});

  // What was moved from can only be destroyed and assigned to.
  Subprocess(Subprocess&& other) noexcept;
  // Kills the child it had.
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();

  // Its number, for people to read: what is signalled by number may be another process.
  [[nodiscard]] int id() const;
  // Its pidfd, to poll: readable when it has ended. Closed with the Subprocess.
  [[nodiscard]] int descriptor() const;

  // Until it has ended; meanwhile captures output. What it wrote is complete then, as far as it was
  // captured. Again: the same answer, at once.
  SubprocessExit wait();
  // ... or until `until` is over: nothing. wait(0ms) only looks.
  std::optional<SubprocessExit> wait(const Until& until);

  // Sends a signal to the child. False: it has ended, and the end is known. Throws
  // std::system_error (EINVAL: no such signal; EPERM: it has become another user).
  bool signal(int number);
  // SIGKILL, to the child and to its group if it has one of its own.
  void kill() noexcept;

  // Writes to an input that is a pipe. Returns how many bytes were written: fewer if `until` is
  // over or the child does not read any more, which closes the pipe. No SIGPIPE comes. Throws
  // std::system_error.
  std::size_t write(std::string_view bytes, const Until& until = {});
  std::size_t write(std::span<const std::byte> bytes, const Until& until = {});
  // The child finds the end of its input. Does nothing if it is closed, or no pipe.
  void close_input() noexcept;
  // Whether write() can still write.
  [[nodiscard]] bool input_is_open() const;

  // What was captured and not taken so far.
  [[nodiscard]] const std::string& output() const;
  [[nodiscard]] const std::string& error() const;
  // Waits until something was captured, and takes it: nothing at the end of the output, or if
  // `until` is over. Throws std::system_error.
  std::string read_output(const Until& until = {});
  std::string read_error(const Until& until = {});
  // How many bytes went beyond the limit and were dropped.
  [[nodiscard]] std::uint64_t output_dropped() const;
  [[nodiscard]] std::uint64_t error_dropped() const;

 private:
  explicit Subprocess(std::unique_ptr<detail::RunningChild> child) noexcept;
  detail::RunningChild& child() const;

  std::unique_ptr<detail::RunningChild> child_;
};

}}  // namespace handoff::HANDOFF_ABI
