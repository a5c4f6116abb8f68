// SPDX-License-Identifier: MIT
// The loop is run on plain threads, by the contender that starts one for each part. That program is
// not instrumented and need not be: what matters is what the loop reads and writes, and that the
// runtime sees threads begin and end. The runtime must come first, so it is preloaded.
#include "commands/commands.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/personality.h>

#include "commands/output.hpp"
#include "commands/session.hpp"
#include "harness/temporary_folder.hpp"
#include "harness/user_error.hpp"
#include "scenarios/try/scenario.hpp"
#include "scenarios/try/shared_object.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunner = "peer.std_thread";

// Of the first report: what was done to which memory, where, and by whom.
std::vector<std::string> lines_in(const fs::path& folder) {
  std::vector<std::string> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) all.push_back(line);
  }
  return all;
}

struct RaceReport {
  std::string summary;  // empty: there is none
  std::string details;
};

// An access, and the first of the places in the code that led to it.
RaceReport race_in(const std::vector<std::string>& lines) {
  constexpr std::string_view summary = "SUMMARY: ThreadSanitizer: ";
  RaceReport report;
  bool of_an_access = false;
  for (const std::string& line : lines) {
    if (line.starts_with(summary) && report.summary.empty()) {
      report.summary = line.substr(summary.size());
    }
    const bool access = line.find(" of size ") != std::string::npos;
    const bool first_place = of_an_access && line.find("#0 ") != std::string::npos;
    if (access || first_place) report.details += line + '\n';
    of_an_access = access;
  }
  return report;
}

Contender runner(const Session& session) {
  for (const Contender& contender : contenders_of("try", session.contenders())) {
    if (contender.name == kRunner) return contender;
  }
  throw UserError("the contenders of `try` are missing; build or install the lab as a whole");
}

}  // namespace

int look_for_races(const TryOptions& options) {
  const std::string kernel = options.kernel.string();
  const trial::SharedObject object = trial::look_at_shared_object(options.kernel);
  if (object.race_runtime.empty()) {
    throw UserError(fmt::format(
        "{}: it is not linked with the shared runtime of ThreadSanitizer; compile it with "
        "-fsanitize=thread, and with clang -shared-libsan and its -Wl,-rpath (`make tsan`)",
        kernel));
  }
  Interrupt interrupt;
  Session session(options.measure, interrupt);
  trial::Trial trial(fs::absolute(options.kernel), try_limit_of(options));
  const Cell cell = try_cell_of(trial, options);
  Measurement one{runner(session), cell, trial.problem(cell), trial.variables()};
  const TemporaryFolder folder("handoff-try");  // where the runtime writes
  one.variables.push_back({"LD_PRELOAD", object.race_runtime});
  one.variables.push_back({"TSAN_OPTIONS", "halt_on_error=1:exitcode=66:log_path=" +
                                               (folder.path() / "report").string()});
  // Some runtimes fail where the kernel draws addresses from all that there are.
  static_cast<void>(personality(ADDR_NO_RANDOMIZE));
  trial::Answer answer{};
  session.bench().bench().measure_once(one, std::as_writable_bytes(std::span(&answer, 1)));
  const RaceReport race = race_in(lines_in(folder.path()));
  if (!race.summary.empty()) {
    write_text({}, fmt::format("a race: {}\n{}", race.summary, race.details));
    return exit_code::broken;
  }
  if (one.status == RowStatus::unavailable) throw UserError(kernel + ": " + one.reason);
  if (one.status != RowStatus::ok) {
    write_text({}, fmt::format("no race was seen, but the kernel is broken: {}\n", one.reason));
    return exit_code::broken;
  }
  write_text({}, fmt::format("no race: ThreadSanitizer saw none in {} items on {} threads\n",
                             answer.items, cell.at("width")));
  return exit_code::ok;
}

}  // namespace handoff::lab
