// SPDX-License-Identifier: MIT
#include "harness/launch.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "harness/counters.hpp"
#include "harness/plain_text.hpp"
#include "harness/protocol.hpp"

namespace handoff::lab {
namespace {

// The environment of this process with `variables` set in it. Only they may plant a slow-down.
std::vector<std::string> environment_with(const std::vector<Variable>& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced =
        std::ranges::any_of(variables, [&](const Variable& v) { return name == v.name; });
    if (!replaced && name != protocol::planted_percent) all.emplace_back(text);
  }
  for (const Variable& v : variables) all.push_back(v.name + '=' + v.value);
  return all;
}

// What the child does between fork and exec; only calls that are safe there.
struct ChildPlan {
  const char* program;
  const char* argument;  // or null
  char* const* environment;
  pid_t parent;
  int socket;
  int input;
  int answer;
  int output;

  [[noreturn]] void run() const {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the coordinator died before it could be watched
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    restore_signals();
    // First out of the way of the agreed numbers, then onto them.
    const std::array<int, 3> sources{socket, input, answer};
    std::array<int, 3> moved{};
    for (std::size_t i = 0; i < sources.size(); ++i) moved[i] = fcntl(sources[i], F_DUPFD, 16);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    dup2(nothing, STDIN_FILENO);
    dup2(moved[0], protocol::command_fd);
    dup2(moved[1], protocol::input_fd);
    dup2(moved[2], protocol::answer_fd);
    for (const int copy : moved) close(copy);
    open_counters();
    const std::array<char*, 3> arguments{const_cast<char*>(program), const_cast<char*>(argument),
                                         nullptr};
    execve(program, arguments.data(), environment);
    const char* why = strerror(errno);
    if (write(STDERR_FILENO, why, strlen(why)) < 0) _exit(126);
    _exit(127);
  }

  static void open_counters() {
    for (std::size_t i = 0; i < counter_kinds.size(); ++i) {
      const int agreed = protocol::first_counter_fd + static_cast<int>(i);
      close(agreed);
      const int counter = open_counter(counter_kinds[i]);
      if (counter < 0 || counter == agreed) continue;
      dup2(counter, agreed);
      close(counter);
    }
  }
};

// Of all the process ever had at once; 0 if it is gone.
double peak_memory_of(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("crashed with SIG{} ({})", sigabbrev_np(signal), sigdescr_np(signal));
  }
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

Launch::Launch(const Contender& contender, const Problem& problem,
               const std::vector<Variable>& variables, const Layout& layout, Interrupt& interrupt)
    : interrupt_(interrupt), answer_("answer", problem.answer_bytes()), output_("output", 0) {
  start(contender, problem.input().descriptor(), variables, layout);
}

Launch::~Launch() {
  if (process_ > 0) reap();
  if (socket_ >= 0) close(socket_);
}

void Launch::start(const Contender& contender, int input, const std::vector<Variable>& variables,
                   const Layout& layout) {
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "making a contender's socket");
  }
  socket_ = sockets[0];
  std::vector<std::string> entries = environment_with(variables);
  entries.push_back("HANDOFF_STACK_SHIFT=" + std::string(layout.stack_shift, '.'));
  std::vector<char*> environment = for_exec(entries);
  fcntl(output_.descriptor(), F_SETFL, O_APPEND);
  const ChildPlan plan{contender.executables.at(layout.link).c_str(),
                       contender.argument.empty() ? nullptr : contender.argument.c_str(),
                       environment.data(),
                       getpid(),
                       sockets[1],
                       input,
                       answer_.descriptor(),
                       output_.descriptor()};
  process_ = fork();
  if (process_ == 0) plan.run();
  const int error = errno;
  close(sockets[1]);
  if (process_ < 0) {
    throw std::system_error(error, std::generic_category(), "starting " + contender.name);
  }
  setpgid(process_, process_);  // as the child does: the group exists from now on
}

void Launch::prepare(const Cell& cell, std::chrono::nanoseconds patience) {
  send(fmt::format("{} metric={} {}", protocol::prepare, cell.metric(), cell.text()));
  start_ns_ = receive_time(protocol::ready, patience, "while it prepared");
}

Phases Launch::finish(std::chrono::nanoseconds patience) {
  Phases phases{start_ns_, 0, peak_memory_of(process_)};
  send(std::string(protocol::stop));
  phases.stop_ns = receive_time(protocol::stopped, patience, "while it stopped");
  return phases;
}

void Launch::leave(std::chrono::nanoseconds patience) {
  shutdown(socket_, SHUT_WR);
  if (!interrupt_.wait_readable(socket_, Clock::now() + patience)) {
    throw Dropped{RowStatus::failed, "hung at its end: it was told to stop and goes on"};
  }
  siginfo_t now{};
  const auto deadline = Clock::now() + patience;
  while (now.si_pid == 0 && Clock::now() < deadline) {
    interrupt_.check();
    waitid(P_PID, static_cast<id_t>(process_), &now, WEXITED | WNOWAIT | WNOHANG);
    if (now.si_pid == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (now.si_code != CLD_EXITED || now.si_status != 0) throw ended("at its end");
  reap();
}

// The reply is the word and how long that took; or the contender says that it cannot run here.
double Launch::receive_time(std::string_view word, std::chrono::nanoseconds patience,
                            const char* doing) {
  const std::string line = receive(patience, doing);
  if (line.starts_with(protocol::unavailable)) {
    throw Dropped{RowStatus::unavailable, line.substr(protocol::unavailable.size() + 1)};
  }
  std::istringstream words(line);
  std::string said;
  double ns = 0;
  if (words >> said >> ns && said == word && ns >= 0) return ns;
  throw Dropped{RowStatus::failed, fmt::format("answered '{}' {}", line, doing)};
}

Reading Launch::burst(std::chrono::nanoseconds least, std::chrono::nanoseconds patience) {
  std::memset(answer_.bytes().data(), protocol::poison, answer_.bytes().size());
  send(fmt::format("{} {}", protocol::burst, least.count()));
  const std::string line = receive(patience, "in a burst");
  const auto reading = read_reading(line);
  if (!reading) throw Dropped{RowStatus::failed, fmt::format("answered '{}' to a burst", line)};
  return *reading;
}

void Launch::pause() {
  kill(-process_, SIGSTOP);
  siginfo_t now{};
  const auto id = static_cast<id_t>(process_);
  if (waitid(P_PID, id, &now, WEXITED | WSTOPPED | WNOWAIT) == 0 && now.si_code != CLD_STOPPED) {
    throw ended("between bursts");
  }
}

void Launch::resume() { kill(-process_, SIGCONT); }

void Launch::send(std::string line) {
  line += '\n';
  // A command fits the socket's buffer; a contender that is gone is noticed by the next receive.
  static_cast<void>(::send(socket_, line.data(), line.size(), MSG_NOSIGNAL));
}

std::string Launch::receive(std::chrono::nanoseconds patience, const char* doing) {
  const auto deadline = Clock::now() + patience;
  for (;;) {
    if (const auto end = received_.find('\n'); end != std::string::npos) {
      // It goes into tables, files and terminals: nothing in it may act there.
      std::string line = in_ascii(received_.substr(0, end));
      received_.erase(0, end + 1);
      return line;
    }
    if (!interrupt_.wait_readable(socket_, deadline)) {
      throw Dropped{RowStatus::failed,
                    fmt::format("hung {}: silent for {:.1f} s ({})", doing,
                                std::chrono::duration<double>(patience).count(), kWaitsLonger)};
    }
    std::array<char, 256> chunk{};
    const ssize_t n = recv(socket_, chunk.data(), chunk.size(), 0);
    if (n <= 0) throw ended(doing);
    received_.append(chunk.data(), static_cast<std::size_t>(n));
  }
}

// Its end of the socket is closed: normally because it is about to be, or is, dead.
Dropped Launch::ended(const char* doing) {
  resume();
  siginfo_t now{};
  const auto deadline = Clock::now() + std::chrono::seconds(1);
  while (now.si_pid == 0 && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    waitid(P_PID, static_cast<id_t>(process_), &now, WEXITED | WNOWAIT | WNOHANG);
  }
  const int status = reap();
  if (now.si_pid == 0) {
    return {RowStatus::failed, fmt::format("closed its connection {}{}", doing, last_words())};
  }
  return {RowStatus::failed, fmt::format("{} {}{}", ending_of(status), doing, last_words())};
}

// The group first: its number is ours for as long as its leader has not been waited for.
int Launch::reap() {
  int status = 0;
  kill(-process_, SIGKILL);
  waitpid(std::exchange(process_, -1), &status, 0);
  return status;
}

// Prints go after the byte that the file was made with.
std::string Launch::last_words() {
  struct stat status{};
  if (fstat(output_.descriptor(), &status) != 0 || status.st_size <= 1) return {};
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(status.st_size) - 1, 400), '\0');
  const auto from = status.st_size - static_cast<off_t>(text.size());
  if (pread(output_.descriptor(), text.data(), text.size(), from) < 0) return {};
  text.erase(text.find_last_not_of(" \n") + 1);
  text.erase(0, text.find_last_of('\n') + 1);
  text.erase(0, text.find_first_not_of(' '));
  return text.empty() ? text : ": " + in_ascii(text);
}

}  // namespace handoff::lab
