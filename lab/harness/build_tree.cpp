// SPDX-License-Identifier: MIT
#include "harness/build_tree.hpp"

#include <sys/file.h>
#include <handoff/sync/cpu_budget.hpp>

#include "harness/progress.hpp"
#include "harness/tool.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

// What a build said last. Build tools do not expect each other in one tree: a process that has this
// file open is alone there, and sees no program that is half written.
class BuildLog : Pinned {
 public:
  // Waits for its turn. Throws Interrupted.
  BuildLog(fs::path path, Interrupt& interrupt)
      : path_(std::move(path)), file_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    constexpr auto patience = std::chrono::milliseconds(20);
    while (file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      interrupt.check();
      std::this_thread::sleep_for(patience);
    }
  }
  ~BuildLog() {
    if (file_ >= 0) close(file_);
  }

  void begin() const { require(file_ >= 0 && ftruncate(file_, 0) == 0); }
  void write(const std::string& line) const { require(dprintf(file_, "%s\n", line.c_str()) > 0); }
  [[nodiscard]] std::string name() const { return path_.string(); }

 private:
  void require(bool done) const {
    if (!done) throw UserError("{}: cannot be written", name());
  }

  fs::path path_;
  int file_;
};

// Those of other lists are somebody else's programs.
bool is_made_here(const Contender& contender) {
  return contender.built() &&
         contender.executables.front().parent_path().parent_path() == folder_of_the_build();
}

ToolResult run_build(const std::vector<std::string>& command, const std::string& what,
                     const BuildLog& log, Interrupt& interrupt) {
  Progress progress(1);
  progress.show(what);
  return run_tool(command, &interrupt, [&](const std::string& line) {
    log.write(line);
    progress.show(fmt::format("{}: {}", what, line));
  });
}

// A canary has its contender's name, and another program.
std::string target_of(const Contender& contender) {
  const fs::path& program = contender.executables.front();
  return fmt::format("handoff_{}_{}", program.parent_path().filename().string(),
                     program.filename().string());
}

}  // namespace

std::optional<fs::path> build_tree() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  if (!fs::exists(folder / "CMakeCache.txt")) return {};
  return folder;
}

std::set<std::string> targets_of(const std::vector<Contender>& contenders) {
  std::set<std::string> targets;
  for (const Contender& contender : contenders) {
    if (is_made_here(contender)) targets.insert(target_of(contender));
  }
  return targets;
}

void build_missing(const std::vector<Contender>& contenders, Interrupt& interrupt) {
  const auto tree = build_tree();
  if (!tree) return;
  const BuildLog log(*tree / "contenders.log", interrupt);
  std::vector<Contender> missing = contenders;
  std::erase_if(missing, [](const Contender& contender) { return contender.is_there(); });
  const std::set<std::string> targets = targets_of(missing);
  if (targets.empty()) return;
  std::vector<std::string> command{
      "cmake",   "--build", *tree, "--parallel", std::to_string(sync::cpu_budget().width()),
      "--target"};
  command.insert(command.end(), targets.begin(), targets.end());
  log.begin();
  const std::string what = fmt::format("building {} contenders", targets.size());
  const auto start = Clock::now();
  const ToolResult done = run_build(command, what, log, interrupt);
  if (done.exit_code != 0) {
    throw UserError("{} failed: {}; the whole output is in {}", what, why_failed(command, done),
                    log.name());
  }
  const std::chrono::duration<double> took = Clock::now() - start;
  fmt::print(stderr, "{}: {:.0f} s\n", what, took.count());
}

}  // namespace handoff::lab
