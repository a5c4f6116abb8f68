// SPDX-License-Identifier: MIT
//
// The program `handoff-copy`: copies trees of files by copy_tree().
//
//   handoff-copy SRC... DST [--verify] [--durable]
//
// It knows the library alone, and is built for any machine of its kind. What it did, its progress
// and what failed go to stderr, and nothing to stdout. Exit 0: all is copied; 1: something is not,
// and is listed; 2: bad usage, and nothing was begun; 130: interrupted (128 and the signal).
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <handoff/file/copy_tree.hpp>
#include <handoff/version.hpp>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBadUsage = 2;
constexpr int kSignal = 128;

struct Options {
  std::vector<std::string> paths;  // the last one is where to
  bool durable = false;
  bool verify = false;
  std::size_t width = 0;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// 61,204
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

// 4.1 GB
std::string amount(double bytes) {
  constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < units.size(); ++unit) bytes /= 1000;
  std::array<char, 32> text{};
  const int digits = unit == 0 || bytes >= 99.95 ? 0 : 1;
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, bytes, units[unit]);
  return text.data();
}

std::string counted(std::uint64_t number, const char* one, const char* several) {
  return grouped(number) + ' ' + (number == 1 ? one : several);
}

// 3.2 s, or 1:07 min, or 2:05 h
std::string duration(double seconds) {
  std::array<char, 32> text{};
  if (seconds < 60) {
    std::snprintf(text.data(), text.size(), "%.1f s", seconds);
  } else {
    const auto minutes = static_cast<long>(seconds / 60);
    const bool hours = minutes >= 60;
    std::snprintf(text.data(), text.size(), "%ld:%02ld %s", hours ? minutes / 60 : minutes,
                  hours ? minutes % 60 : static_cast<long>(seconds) % 60, hours ? "h" : "min");
  }
  return text.data();
}

// One line on a terminal that is written over and over; nothing anywhere else.
class ProgressLine {
 public:
  ProgressLine()
      : shown_(::isatty(STDERR_FILENO) == 1), colour_(std::getenv("NO_COLOR") == nullptr) {
    const char* const terminal = std::getenv("TERM");
    if (terminal == nullptr || std::string_view(terminal) == "dumb") colour_ = false;
  }
  bool shown() const { return shown_; }

  void show(const handoff::CopyTreeProgress& now) {
    std::string line =
        counted(now.files, "file", "files") + ", " + amount(static_cast<double>(now.bytes));
    const double seconds = seconds_since(begin_);
    if (seconds > 0.5) line += ", " + amount(static_cast<double>(now.bytes) / seconds) + "/s";
    if (now.syncing) {
      line += ", on the way to the device";
    } else if (now.counted && seconds > 0.5) {
      // A file costs about what 30 kB cost.
      constexpr double file = 30e3;
      const double done = static_cast<double>(now.bytes) + file * static_cast<double>(now.files);
      const double all =
          static_cast<double>(now.all_bytes) + file * static_cast<double>(now.all_files);
      if (done > 0 && all > done) line += ", " + duration(seconds * (all - done) / done) + " left";
    }
    write(line);
  }
  void clear() {
    if (drawn_) std::fputs("\r\033[K", stderr);
    drawn_ = false;
  }

 private:
  void write(std::string line) {
    winsize size{};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    if (known && line.size() >= size.ws_col) line.resize(size.ws_col - 1u);
    const char* const dim = colour_ ? "\033[2m" : "";
    const char* const plain = colour_ ? "\033[0m" : "";
    std::fprintf(stderr, "\r%s%s%s\033[K", dim, line.c_str(), plain);
    std::fflush(stderr);
    drawn_ = true;
  }

  const bool shown_;
  bool colour_;
  bool drawn_ = false;
  Clock::time_point begin_ = Clock::now();
};

// The first SIGINT, SIGTERM or SIGHUP asks the copy to stop; the next one ends the program at once.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int one : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction before{};
      sigaction(one, nullptr, &before);
      if (before.sa_handler != SIG_IGN) sigaddset(&set_, one);  // nohup keeps its meaning
    }
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    signals_ = signalfd(-1, &set_, SFD_CLOEXEC);
    if (signals_ >= 0) listener_ = std::jthread([this](std::stop_token over) { listen(over); });
  }
  ~Signals() {
    if (listener_.joinable()) {
      listener_.request_stop();
      listener_.join();
    }
    if (signals_ >= 0) ::close(signals_);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  int caught() const { return caught_; }

 private:
  void listen(const std::stop_token& over) {
    constexpr int period_ms = 50;
    while (!over.stop_requested()) {
      pollfd waiting{.fd = signals_, .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, period_ms) <= 0) continue;
      signalfd_siginfo information{};
      if (::read(signals_, &information, sizeof information) != sizeof information) continue;
      caught_ = static_cast<int>(information.ssi_signo);
      pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
      source_.request_stop();
      return;
    }
  }

  sigset_t set_{};
  int signals_ = -1;
  std::atomic<int> caught_ = 0;
  std::stop_source source_;
  std::jthread listener_;
};

void complain(const std::string& what) { std::fprintf(stderr, "handoff-copy: %s\n", what.c_str()); }

void tell(const handoff::CopyTreeResult& result, const Options& options, double seconds) {
  for (const handoff::CopyTreeProblem& problem : result.problems) complain(problem.text());
  const std::uint64_t files = result.files + result.links + result.special_files;
  std::string line = result.stopped ? "stopped: " : "";
  line += counted(files, "file", "files") + ", " + amount(static_cast<double>(result.bytes)) +
          " in " + duration(seconds) + ", " +
          amount(static_cast<double>(result.bytes) / (seconds > 0 ? seconds : 1e-9)) + "/s";
  if (options.verify)
    line += ", " + amount(static_cast<double>(result.verified_bytes)) + " verified";
  if (!result.problems.empty()) {
    line += ", " + counted(result.problems.size(), "problem", "problems") + " above";
  }
  std::fprintf(stderr, "%s\n", line.c_str());
}

int copy(const Options& options) {
  const Clock::time_point begin = Clock::now();
  Signals signals;
  ProgressLine line;
  handoff::CopyTreeOptions how;
  how.durable = options.durable;
  how.verify = options.verify;
  how.width = options.width;
  how.until = signals.token();
  how.count = line.shown();
  if (line.shown()) {
    how.progress = [&line](const handoff::CopyTreeProgress& now) { line.show(now); };
  }
  const std::vector<std::string> from(options.paths.begin(), options.paths.end() - 1);
  const handoff::CopyTreeResult result =
      handoff::copy_tree(from, options.paths.back(), std::move(how));
  line.clear();
  if (!result.refusal.empty()) {
    complain(result.refusal);
    return kBadUsage;
  }
  tell(result, options, seconds_since(begin));
  if (result.stopped) return kSignal + signals.caught();
  return result.ok() ? 0 : 1;
}

int perform(int argc, char** argv) {
  CLI::App program(
      "Copies files and trees: contents, modes, times, owners, links, hard links, "
      "holes, attributes.",
      "handoff-copy");
  Options options;
  program.set_version_flag("--version", std::string("handoff-copy " HANDOFF_VERSION_STRING));
  program.add_option("paths", options.paths, "the sources, and last the destination")
      ->required()
      ->expected(2, -1)
      ->type_name("SRC... DST");
  program.add_flag("--durable", options.durable,
                   "end when all data is on the device; files get their names only then");
  program.add_flag("--verify", options.verify, "read the copies back and compare them");
  program.add_option("--width", options.width, "threads (default: chosen)")
      ->check(CLI::Range(1, 256));
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked_for_help) {
    return program.exit(asked_for_help);
  } catch (const CLI::ParseError& error) {
    std::string what = error.what();
    what.resize(std::min(what.find('\n'), what.size()));
    // An option that is none may be the name of a file, which must not act on a terminal.
    std::replace_if(what.begin(), what.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    complain(what + " (see --help)");
    return kBadUsage;
  }
  return copy(options);
}

// More files may be open at once than programs usually need. Nobody's copies lose bits of their
// modes to the umask, which would cost a call for each.
void prepare_process() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ::umask(0);
  for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor) {
    // Else the next file that is opened would be what is printed to.
    if (::fcntl(descriptor, F_GETFD) == -1) static_cast<void>(::open("/dev/null", O_RDWR));
  }
}

}  // namespace

int main(int argc, char** argv) {
  prepare_process();
  try {
    return perform(argc, argv);
  } catch (const std::exception& failure) {
    complain(failure.what());
    return 1;
  }
}
