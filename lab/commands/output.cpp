// SPDX-License-Identifier: MIT
#include "commands/output.hpp"
#include "harness/atomic_file.hpp"
#include "harness/plain_text.hpp"
#include "report/exports.hpp"
#include "report/json.hpp"
#include "report/ladder_text.hpp"

namespace handoff::lab {

void require_output(const std::filesystem::path& output,
                    const std::vector<std::filesystem::path>& inputs, std::string_view option) {
  if (output.empty()) return;
  std::error_code not_there;
  for (const auto& input : inputs) {
    if (std::filesystem::equivalent(input, output, not_there)) {
      throw UserError("{}: it is read as a result; choose another {}", output.string(), option);
    }
  }
  require_writable(output);
}

void say_if_interrupted(const Result& result, const std::filesystem::path& path) {
  if (!result.interrupted) return;
  fmt::print(stderr, "note: {} was interrupted: it is incomplete\n", plain(path.string()));
}

void write_text(const std::filesystem::path& output, std::string_view text) {
  if (!output.empty()) return write_atomically(output, text);
  fmt::print("{}", text);  // main() sees whether it is there
}

void write_result(const MeasureOptions& options, const Result& result) {
  if (!options.output.empty()) write_atomically(options.output, to_json_text(result));
}

ReadProgress::ReadProgress(const std::filesystem::path& path, Interrupt& interrupt)
    : name_(plain(path.filename().string())), interrupt_(interrupt) {}

void ReadProgress::show(std::uint64_t bytes) {
  interrupt_.check();
  if (bytes < next_) return;
  next_ += kShownEach;
  progress_.show(fmt::format("{} MiB of {} read", bytes >> 20, name_));
}

namespace {

// Debian's first, and then what must be fetched by hand, each once.
std::vector<std::string> missing_packages(const std::vector<Contender>& contenders) {
  std::set<std::string> debian;
  std::set<std::string> by_hand;
  for (const Contender& contender : contenders) {
    if (contender.built()) continue;
    const std::string& package = contender.package;
    if (package.find('/') != std::string::npos) {
      by_hand.insert(package.substr(0, package.find(',')));  // without its version
      continue;
    }
    std::istringstream names(package);
    for (std::string name; names >> name;) debian.insert(name);
  }
  std::vector<std::string> all(debian.begin(), debian.end());
  all.insert(all.end(), by_hand.begin(), by_hand.end());
  return all;
}

// From the folder where one is.
std::string program_as_typed() {
  namespace fs = std::filesystem;
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const std::string near = fs::relative(program, fs::current_path()).string();
  return near.starts_with("..") || near.empty() ? program.string() : near;
}

LadderLook look_of(const Result& result, const RunOptions& options,
                   const std::vector<Contender>& contenders, const std::string& busy,
                   double seconds) {
  LadderLook look;
  look.busy = busy;
  look.styled = may_style(STDOUT_FILENO);
  look.columns = columns_of(STDOUT_FILENO);
  look.rows = static_cast<std::size_t>(rows_of(STDOUT_FILENO));
  look.seconds = seconds;
  look.program = program_as_typed();
  look.page = options.page.string();
  look.results = options.measure.output.string();
  look.missing = missing_packages(contenders);
  look.interrupted = result.interrupted;
  return look;
}

}  // namespace

std::string answer_text(const Result& result, const RunOptions& options,
                        const std::vector<Contender>& contenders, const std::string& busy,
                        double seconds) {
  const bool styled = may_style(STDOUT_FILENO);
  if (result.rungs.empty()) return tables(result, styled);
  std::string text =
      ladder_text(ladder_of(result), look_of(result, options, contenders, busy, seconds));
  if (!options.rungs.empty()) return tables(result, styled) + '\n' + text;
  if (options.verbose) text += tables(result, styled);
  return text;
}

}  // namespace handoff::lab
