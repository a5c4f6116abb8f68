// SPDX-License-Identifier: MIT
#include "commands/revision.hpp"
#include "build_info.hpp"
#include "harness/build_tree.hpp"
#include "harness/progress.hpp"
#include "harness/tool.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

bool knows(const fs::path& compiler) {
  std::error_code ignored;
  return fs::exists(compiler, ignored);
}

bool is_like(const Contender& one, const Contender& other) {
  return one.scenario == other.scenario && one.name == other.name;
}

}  // namespace

Revision::Revision(const std::string& reference, const std::vector<Contender>& contenders,
                   Interrupt& interrupt)
    : interrupt_(interrupt), reference_(reference) {
  check_out(reference);
  build(contenders);
}

void Revision::check_out(const std::string& reference) {
  const auto top = run_tool({"git", "rev-parse", "--show-toplevel"}, &interrupt_);
  if (top.exit_code != 0) {
    throw UserError("--ref needs git and a clone of handoff as the current folder: {}",
                    why_failed({"git"}, top));
  }
  const fs::path repository = first_line(top.output);
  const auto found = run_tool({"git", "-C", repository, "rev-parse", "--verify", "--quiet",
                               "--end-of-options", reference + "^{commit}"},
                              &interrupt_);
  if (found.exit_code != 0) {
    throw UserError("there is no revision '{}' in {}", reference, repository.string());
  }
  const std::string commit = first_line(found.output);
  commit_ = commit.substr(0, 12);
  // An archive and not a worktree: the repository does not learn of it, so nothing has to be taken
  // back there if this process is killed.
  const fs::path archive = folder_.path() / "source.tar";
  step({"git", "-C", repository, "archive", "--format=tar", "--output", archive, commit},
       "checking out");
  fs::create_directory(folder_.path() / "source");
  step({"cmake", "-E", "chdir", folder_.path() / "source", "cmake", "-E", "tar", "xf", archive},
       "unpacking");
}

std::optional<Contender> Revision::like(const Contender& now) const {
  for (Contender before : contenders_) {
    if (!is_like(before, now)) continue;
    before.name += '@' + commit_;
    return before;
  }
  return {};
}

// The contenders are known once it is configured; of them only those wanted are built.
void Revision::build(const std::vector<Contender>& wanted) {
  const fs::path build = folder_.path() / "build";
  if (!fs::exists(folder_.path() / "source" / "lab" / "CMakeLists.txt")) {
    throw UserError("revision '{}' ({}) has no lab to compare with", reference_, commit_);
  }
  std::vector<std::string> configure{"cmake",
                                     "-G",
                                     "Ninja",
                                     "-S",
                                     folder_.path() / "source",
                                     "-B",
                                     build,
                                     "-DCMAKE_BUILD_TYPE=Release",
                                     "-DHANDOFF_TESTS=OFF",
                                     "-DHANDOFF_EXAMPLES=OFF",
                                     "-DHANDOFF_INSTALL=OFF"};
  if (knows(build_info::cxx))
    configure.push_back(fmt::format("-DCMAKE_CXX_COMPILER={}", build_info::cxx));
  step(configure, "configuring");
  // To ccache the same revision is the same in another temporary folder.
  std::vector<std::string> compile{"env", "CCACHE_BASEDIR=" + folder_.path().string(), "ninja",
                                   "-C", build};
  std::set<fs::path> programs;
  for (Contender& contender : contenders_in(build / "libexec" / "handoff" / "contenders.json")) {
    const bool is_wanted =
        contender.built() &&
        std::ranges::any_of(wanted, [&](const Contender& now) { return is_like(contender, now); });
    if (!is_wanted) continue;
    // By its files, which several contenders may share: a revision names its targets as it likes.
    for (const fs::path& program : contender.executables) programs.insert(program);
    contenders_.push_back(std::move(contender));
  }
  if (contenders_.empty()) {
    throw UserError("revision '{}' ({}) has none of the contenders that are wanted", reference_,
                    commit_);
  }
  for (const fs::path& program : programs) compile.push_back(program.lexically_relative(build));
  step(compile, "building");
}

void Revision::step(const std::vector<std::string>& command, const char* doing) {
  Progress progress(1);
  const std::string what = fmt::format("{} {} ({})", doing, reference_, commit_);
  progress.show(what);
  const auto done = run_tool(command, &interrupt_, [&](const std::string& line) {
    progress.show(fmt::format("{}: {}", what, line));
  });
  if (done.exit_code == 0) return;
  throw UserError("revision '{}' ({}): {} failed: {}", reference_, commit_, doing,
                  why_failed(command, done));
}

}  // namespace handoff::lab
