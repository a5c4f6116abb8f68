// SPDX-License-Identifier: MIT
#include "harness/tool.hpp"
#include "harness/plain_text.hpp"

#include <sys/prctl.h>

namespace handoff::lab {
namespace {

// A running tool; an early return leaves nothing of it running.
class Tool : Pinned {
 public:
  Tool(std::vector<std::string> command, std::chrono::seconds grace) : grace_(grace) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "making a pipe");
    }
    const std::vector<char*> arguments = for_exec(command);
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ == 0) run(arguments.data(), ends[1], parent);
    const int error = errno;
    output_ = ends[0];
    close(ends[1]);
    if (process_ < 0) {
      close(output_);
      throw std::system_error(error, std::generic_category(), "starting " + command.front());
    }
    setpgid(process_, process_);
  }

  ~Tool() {
    close(output_);
    if (process_ > 0) end();
  }

  [[nodiscard]] int output() const { return output_; }

  int wait() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  // A build tool gives each of its commands a group of its own: asked to end, it ends them too.
  void end() {
    kill(-process_, SIGTERM);
    const auto deadline = Clock::now() + grace_;
    while (waitpid(process_, nullptr, WNOHANG) == 0) {
      if (Clock::now() > deadline) kill(-process_, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    kill(-process_, SIGKILL);  // those of the group that outlived its leader
  }

  [[noreturn]] static void run(char* const* arguments, int output, pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    restore_signals();
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execvp(arguments[0], arguments);
    _exit(127);
  }

  std::chrono::seconds grace_;
  pid_t process_ = -1;
  int output_ = -1;
};

}  // namespace

ToolResult run_tool(const std::vector<std::string>& command, Interrupt* interrupt,
                    const std::function<void(const std::string&)>& on_line, ToolPatience patience) {
  Tool tool(command, patience.grace);
  ToolResult result{0, ""};
  std::size_t seen = 0;
  const auto began = Clock::now();
  for (;;) {
    if (interrupt != nullptr) {
      const auto latest = seen == 0 ? began + patience.first_line : Clock::time_point::max();
      if (!interrupt->wait_readable(tool.output(), latest)) return {124, result.output};
    }
    std::array<char, 4096> chunk{};
    const ssize_t n = read(tool.output(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    result.output.append(chunk.data(), static_cast<std::size_t>(n));
    for (auto end = result.output.find('\n', seen); end != std::string::npos;
         end = result.output.find('\n', seen)) {
      if (on_line) on_line(result.output.substr(seen, end - seen));
      seen = end + 1;
    }
  }
  result.exit_code = tool.wait();
  return result;
}

std::string why_failed(const std::vector<std::string>& command, const ToolResult& result) {
  if (result.exit_code == 127) return command.front() + " could not be started";
  std::istringstream lines(result.output);
  std::string telling = "it said nothing";
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) continue;
    telling = line;
    const bool tells = line.find("error:") != std::string::npos ||
                       line.find("Error:") != std::string::npos || line.starts_with("CMake Error");
    if (tells) break;
  }
  constexpr std::size_t longest = 300;
  return in_ascii(telling.substr(0, longest));
}

}  // namespace handoff::lab
