// SPDX-License-Identifier: MIT
//
// Subprocess: a request, a child, and the words of errors and ends.
#include <errno.h>
#include <string.h>

#include <handoff/core/misuse.hpp>
#include <handoff/process/subprocess.hpp>
#include <system_error>
#include <utility>

#include "../core/internal/call_failed.hpp"
#include "../core/internal/escaped_text.hpp"
#include "child_request.hpp"
#include "running_child.hpp"
#include "spawner.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

std::string name_of_signal(int number) {
#if defined(__GLIBC__)
  if (const char* const name = ::sigabbrev_np(number)) return std::string("SIG") + name;
#endif
  return "signal " + std::to_string(number);
}

std::system_error start_failed(const std::string& what, const char* step, int error) {
  return detail::call_failed(error, "Subprocess " + detail::escaped(what) + ": " + step);
}

}  // namespace

std::string SubprocessExit::text() const {
  if (kind == Kind::exited) return "exited with " + std::to_string(code);
  if (kind == Kind::unknown) return "ended in an unknown way";
  return "killed by " + name_of_signal(signal) + (core_dumped ? ", core dumped" : "");
}

Subprocess Subprocess::start(const std::vector<std::string>& arguments,
                             const SubprocessOptions& options) {
  if (const int lack = detail::lack_of_pidfds(); lack != 0) {
    const bool none_left = lack == EMFILE || lack == ENFILE || lack == ENOMEM;
    raise(start_failed(arguments.empty() ? options.executable : arguments.front(),
                       none_left ? "make its streams"
                                 : "find pidfds (Linux 5.4; a filter of system calls may forbid "
                                   "them)",
                       lack));
  }
  detail::ChildRequest request(arguments, options);
  auto child = std::make_unique<detail::RunningChild>(options, request.program());
  detail::Spawned spawned = detail::spawn(request.plan());
  if (spawned.error != 0) {
    const bool is_folder = spawned.failed == detail::kGoToFolder;
    raise(start_failed(is_folder ? options.directory : request.program(), spawned.failed,
                       spawned.error));
  }
  child->begin(spawned, request);
  return Subprocess(std::move(child));
}

Subprocess::Subprocess(std::unique_ptr<detail::RunningChild> child) noexcept
    : child_(std::move(child)) {}
Subprocess::Subprocess(Subprocess&& other) noexcept = default;
Subprocess& Subprocess::operator=(Subprocess&& other) noexcept = default;
Subprocess::~Subprocess() = default;

detail::RunningChild& Subprocess::child() const {
  if (child_ == nullptr) misuse("Subprocess: this one was moved from; use the one it became");
  return *child_;
}

int Subprocess::id() const { return child().id(); }
int Subprocess::descriptor() const { return child().descriptor(); }

SubprocessExit Subprocess::wait() {
  for (;;) {
    if (const std::optional<SubprocessExit> exit = child().wait({})) return *exit;
  }
}
std::optional<SubprocessExit> Subprocess::wait(const Until& until) { return child().wait(until); }

bool Subprocess::signal(int number) { return child().signal(number); }
void Subprocess::kill() noexcept {
  if (child_ != nullptr) child_->kill();
}

std::size_t Subprocess::write(std::string_view bytes, const Until& until) {
  return child().write(bytes, until);
}
std::size_t Subprocess::write(std::span<const std::byte> bytes, const Until& until) {
  return write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), until);
}
void Subprocess::close_input() noexcept {
  if (child_ != nullptr) child_->close_input();
}
bool Subprocess::input_is_open() const { return child().input_is_open(); }

const std::string& Subprocess::output() const { return child().capture(0).bytes; }
const std::string& Subprocess::error() const { return child().capture(1).bytes; }
std::string Subprocess::read_output(const Until& until) { return child().read(0, until); }
std::string Subprocess::read_error(const Until& until) { return child().read(1, until); }
std::uint64_t Subprocess::output_dropped() const { return child().capture(0).dropped; }
std::uint64_t Subprocess::error_dropped() const { return child().capture(1).dropped; }

}}  // namespace handoff::HANDOFF_ABI
