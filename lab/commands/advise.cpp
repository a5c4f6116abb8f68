// SPDX-License-Identifier: MIT
#include "commands/advise.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "commands/output.hpp"
#include "harness/progress.hpp"
#include "harness/user_error.hpp"
#include "report/advice.hpp"
#include "report/json.hpp"
#include "report/read_result.hpp"

namespace handoff::lab {
namespace {

// Where ./run leaves what it measured.
constexpr const char* usual_results = "report/results.json";

// 300ns, 1.5us, 20ms, 2s.
double duration_ns(const std::string& text) {
  constexpr double longest = 1e12;
  constexpr std::array<std::pair<std::string_view, double>, 4> units{
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(rest, text.data() + text.size());
  for (const auto& [name, ns] : units) {
    if (error == std::errc{} && unit == name && number * ns >= 0 && number * ns <= longest) {
      return number * ns;
    }
  }
  throw UserError(fmt::format(
      "--grain takes a time from 0ns to 1000s, as in 300ns, 20us or 1.5ms, not '{}'", text));
}

// Whether it is the second of two words.
bool is_second(const char* option, const std::string& text,
               const std::array<std::string, 2>& words) {
  if (text == words[0] || text == words[1]) return text == words[1];
  throw UserError(fmt::format("{} takes {} or {}, not '{}'", option, words[0], words[1], text));
}

Question question_of(const AdviseOptions& options) {
  constexpr std::uint64_t most = 1'000'000'000'000;
  Question question;
  question.task_ns = duration_ns(options.grain);
  question.count = options.count;
  if (question.count < 1 || question.count > most) {
    throw UserError(fmt::format("--count takes 1 to {}, not {}", most, question.count));
  }
  question.by_index = is_second("--unit", options.unit, {"task", "index"});
  question.nested = is_second("--nesting", options.nesting, {"none", "tasks"});
  question.in_order = is_second("--order", options.order, {"any", "fifo"});
  if (question.nested && question.by_index) {
    throw UserError("--nesting tasks needs --unit task");
  }
  question.idle_percent = options.idle_cost;
  const double percent = options.idle_cost.value_or(0);
  if (!(percent >= 0 && std::isfinite(percent))) {
    throw UserError(fmt::format("--idle-cost takes % of one CPU, 0 or more, not {}", percent));
  }
  question.width = options.width;
  if (question.width == 0) throw UserError("--width takes 1 or more threads, not 0");
  return question;
}

std::vector<std::filesystem::path> files_of(const AdviseOptions& options) {
  if (!options.results.empty()) return options.results;
  if (std::filesystem::exists(usual_results)) return {usual_results};
  return {};
}

void say_what_differs(const Result& result, const std::filesystem::path& path) {
  const std::string machine = Environment::here({}, 0, {}).machine();
  const std::string there = result.environment.machine();
  if (machine == there) return;
  fmt::print(stderr, "note: {} was measured on {}, this is {}: its times may not hold here\n",
             path.string(), there, machine);
}

}  // namespace

int advise(const AdviseOptions& options) {
  const Question question = question_of(options);
  std::vector<Result> files;
  for (const auto& path : files_of(options)) {
    files.push_back(read_result(path));
    say_what_differs(files.back(), path);
  }
  Results results;
  for (const Result& file : files) results.push_back(&file);
  const Advice advice = advice_on(question, results);
  if (!advice.missing.empty()) {
    const std::string where = options.results.empty() && files.empty()
                                  ? fmt::format("there is no {}", usual_results)
                                  : "they are not among the rows";
    fmt::print(stderr, "handoff: this needs rows of {}, and {}; `{} --output FILE` measures them\n",
               advice.missing, where, advice.command);
    return exit_code::too_noisy;
  }
  write_text({}, options.json ? to_json_text(question, advice)
                              : advice_text(question, advice, may_style(STDOUT_FILENO)));
  return exit_code::ok;
}

}  // namespace handoff::lab
