// SPDX-License-Identifier: MIT
#include "commands/advise_questions.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include <fmt/format.h>

#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

// A number and its unit, which is one of a few; NaN if it is neither.
template <std::size_t kUnits>
double number_with_unit(const std::string& text,
                        const std::array<std::pair<std::string_view, double>, kUnits>& units) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(rest, text.data() + text.size());
  for (const auto& [name, factor] : units) {
    if (error == std::errc{} && unit == name) return number * factor;
  }
  return NAN;
}

// 300ns, 1.5us, 20ms, 2s. The micro sign and the letter mu look the same.
double duration_ns_of(const std::string& text) {
  constexpr double longest = 1e12;
  constexpr std::array<std::pair<std::string_view, double>, 6> units{
      {{"ns", 1}, {"us", 1e3}, {"\u00b5s", 1e3}, {"\u03bcs", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  const double ns = number_with_unit(text, units);
  if (ns >= 0 && ns <= longest) return ns;
  throw UserError(fmt::format(
      "--grain takes a time from 0ns to 1000s, as in 300ns, 20us or 1.5ms, not '{}'", text));
}

// 72, 4k, 16M, 1G; 4KiB is 4k, and 4kB is 4000.
double bytes_of(const std::string& text) {
  constexpr double most = 1e12;
  constexpr double kilo = 1024;
  constexpr double mega = kilo * kilo;
  constexpr double giga = kilo * mega;
  using Size = std::pair<std::string_view, double>;
  constexpr std::array units{Size{"", 1},       Size{"k", kilo}, Size{"K", kilo},
                             Size{"KiB", kilo}, Size{"kB", 1e3}, Size{"M", mega},
                             Size{"MiB", mega}, Size{"MB", 1e6}, Size{"G", giga},
                             Size{"GiB", giga}, Size{"GB", 1e9}};
  const double bytes = number_with_unit(text, units);
  if (bytes >= 1 && bytes <= most) return bytes;
  throw UserError(
      fmt::format("--bytes takes a size from 1 to 900G, as in 72, 4k or 16M, not '{}'", text));
}

// Which of some words it is; the first one where nothing is said.
template <std::size_t kCount>
std::size_t which(const char* option, const std::optional<std::string>& text,
                  const std::array<const char*, kCount>& words) {
  if (!text) return 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (*text == words[i]) return i;
  }
  throw UserError(fmt::format("{} takes {} or {}, not '{}'", option,
                              fmt::join(words.begin(), words.end() - 1, ", "), words.back(),
                              *text));
}

std::uint64_t whole_of(const char* option, std::optional<std::uint64_t> value, std::uint64_t most) {
  const std::uint64_t number = value.value_or(1);
  if (number >= 1 && number <= most) return number;
  throw UserError(fmt::format("{} takes 1 to {}, not {}", option, most, number));
}

void set_unit(const AdviseOptions& options, Question& question) {
  constexpr std::array<Unit, 6> units{Unit::piece,   Unit::piece,   Unit::event,
                                      Unit::message, Unit::command, Unit::file};
  constexpr std::array<const char*, 6> names{"task",    "index",   "event",
                                             "message", "command", "file"};
  const std::size_t unit = which("--unit", options.unit, names);
  question.unit = units[unit];
  question.by_index = unit == 1;
  if (question.unit == Unit::piece && !options.grain) {
    throw UserError("--grain is required: the work in one task, such as 300ns, 20us or 1.5ms");
  }
  if (!options.count) throw UserError("--count is required: how many are handed over at once");
}

// What is asked of some kinds of work only.
void require_that_it_fits(const AdviseOptions& options, const Question& question) {
  const bool is_piece = question.unit == Unit::piece;
  const auto refuse = [](bool is_wrong, const char* text) {
    if (is_wrong) throw UserError(text);
  };
  refuse(question.nested && (!is_piece || question.by_index), "--nesting tasks needs --unit task");
  refuse(options.bytes && (is_piece || question.unit == Unit::command),
         "--bytes needs --unit event, message or file");
  refuse(options.durable && question.unit != Unit::file, "--durable needs --unit file");
  refuse(question.by_processes && (question.unit == Unit::command || question.unit == Unit::file),
         "--isolation processes needs --unit task, index, event or message");
  refuse(question.per_producer && is_piece, "--order producer needs --unit event or message");
  refuse((options.waves || options.largest || options.bound) && !is_piece,
         "--waves, --largest and --bound need --unit task or index");
}

void set_idle_cost(const AdviseOptions& options, Question& question) {
  question.idle_percent = options.idle_cost;
  const double percent = options.idle_cost.value_or(0);
  const long most_percent = 100 * std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
  if (!(percent >= 0 && percent <= static_cast<double>(most_percent))) {
    throw UserError(fmt::format("--idle-cost takes % of one CPU, 0 to {} (all CPUs), not {}",
                                most_percent, percent));
  }
}

// One question at a terminal.
struct Asked {
  const char* words;
  const char* flag;
  std::string usual;  // taken on an empty line; empty: nothing is said then
  bool (*applies)(const AdviseOptions&);
  void (*set)(AdviseOptions&, const std::string&);
};

std::uint64_t whole_number(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && rest == end) return number;
  throw UserError(fmt::format("that takes a whole number, not '{}'", text));
}

double plain_number(const std::string& text) {
  const double number =
      number_with_unit(text, std::array<std::pair<std::string_view, double>, 1>{{{"", 1}}});
  if (!std::isnan(number)) return number;
  throw UserError(fmt::format("that takes a number, not '{}'", text));
}

bool always(const AdviseOptions& /*options*/) { return true; }
bool is_piece_asked(const AdviseOptions& options) {
  return options.unit == "task" || options.unit == "index";
}
bool is_task_asked(const AdviseOptions& options) { return options.unit == "task"; }
bool is_file_asked(const AdviseOptions& options) { return options.unit == "file"; }
bool is_sent(const AdviseOptions& options) {
  return options.unit == "event" || options.unit == "message";
}
bool has_size(const AdviseOptions& options) { return is_sent(options) || is_file_asked(options); }
bool has_producers(const AdviseOptions& options) { return !has_size(options) || is_sent(options); }
bool may_be_apart(const AdviseOptions& options) {
  return is_piece_asked(options) || is_sent(options);
}

std::vector<Asked> all_questions() {
  using Options = AdviseOptions;
  using Text = const std::string&;
  return {{"what do you hand over: task, index (of a loop), event, message, command or file",
           "--unit", "task", always, [](Options& o, Text text) { o.unit = text; }},
          {"work in one piece, such as 300ns, 20us, 1.5ms", "--grain", "20us", is_piece_asked,
           [](Options& o, Text text) { o.grain = text; }},
          {"how many at once", "--count", "1000", always,
           [](Options& o, Text text) { o.count = whole_number(text); }},
          {"size of one in bytes, such as 72, 4k, 16M", "--bytes", "", has_size,
           [](Options& o, Text text) { o.bytes = text; }},
          {"the largest piece divided by the mean", "--largest", "1", is_piece_asked,
           [](Options& o, Text text) { o.largest = plain_number(text); }},
          {"what limits the work: compute or memory", "--bound", "compute", is_piece_asked,
           [](Options& o, Text text) { o.bound = text; }},
          {"kinds of work, or types of messages", "--kinds", "1", always,
           [](Options& o, Text text) { o.kinds = whole_number(text); }},
          {"order: any, fifo, or (events, messages) producer", "--order", "any", may_be_apart,
           [](Options& o, Text text) { o.order = text; }},
          {"do tasks hand over tasks and wait for them: none or tasks", "--nesting", "none",
           is_task_asked, [](Options& o, Text text) { o.nesting = text; }},
          {"isolation: threads, or processes if a crash must not end the program", "--isolation",
           "threads", may_be_apart, [](Options& o, Text text) { o.isolation = text; }},
          {"throughput or latency", "--goal", "throughput", always,
           [](Options& o, Text text) { o.goal = text; }},
          {"memory of waiting items: any or bounded", "--memory", "any", always,
           [](Options& o, Text text) { o.memory = text; }},
          {"% of one CPU that idle threads may take (empty: any)", "--idle-cost", "", may_be_apart,
           [](Options& o, Text text) { o.idle_cost = plain_number(text); }},
          {"threads that hand over", "--producers", "1",
           [](const Options& o) { return has_producers(o) && !is_piece_asked(o); },
           [](Options& o, Text text) { o.producers = whole_number(text); }},
          {"must files survive a loss of power: no or yes", "--durable", "no", is_file_asked,
           [](Options& o, Text text) { o.durable = text; }}};
}

// What is not answered yet must not be what is wrong with an answer.
void require_allowed(const AdviseOptions& options) {
  AdviseOptions complete = options;
  if (!complete.grain) complete.grain = "1us";
  if (!complete.count) complete.count = 1;
  static_cast<void>(question_of(complete));
}

// False: the person leaves.
bool ask_one(const Asked& asked, Interrupt& interrupt, AdviseOptions& options) {
  for (;;) {
    fmt::print(stderr, "{} [{}]: ", asked.words, asked.usual);
    std::optional<std::string> line = line_of_terminal(interrupt);
    if (!line || *line == "q") return false;
    if (line->empty()) line = asked.usual;
    if (line->empty()) return true;
    AdviseOptions answered = options;
    try {
      asked.set(answered, *line);
      require_allowed(answered);
    } catch (const UserError& error) {
      fmt::print(stderr, "{}\n", error.what());
      continue;
    }
    options = answered;
    return true;
  }
}

}  // namespace

Question question_of(const AdviseOptions& options) {
  constexpr std::uint64_t most = 1'000'000'000'000;
  constexpr std::uint64_t most_hands = 4096;
  Question question;
  set_unit(options, question);
  question.task_ns = duration_ns_of(options.grain.value_or("0ns"));
  question.count = whole_of("--count", options.count, most);
  question.nested = which<2>("--nesting", options.nesting, {"none", "tasks"}) == 1;
  const std::size_t order = which<3>("--order", options.order, {"any", "fifo", "producer"});
  question.in_order = order > 0;
  question.per_producer = order == 2;
  question.by_processes = which<2>("--isolation", options.isolation, {"threads", "processes"}) == 1;
  question.for_latency = which<2>("--goal", options.goal, {"throughput", "latency"}) == 1;
  question.bounded = which<2>("--memory", options.memory, {"any", "bounded"}) == 1;
  question.by_memory = which<2>("--bound", options.bound, {"compute", "memory"}) == 1;
  question.durable = which<2>("--durable", options.durable, {"no", "yes"}) == 1;
  if (options.bytes) question.bytes = bytes_of(*options.bytes);
  question.kinds = whole_of("--kinds", options.kinds, most);
  question.producers = whole_of("--producers", options.producers, most_hands);
  question.waves = whole_of("--waves", options.waves, most);
  question.largest = options.largest.value_or(1);
  if (!(question.largest >= 1 && question.largest <= static_cast<double>(question.count))) {
    throw UserError(
        fmt::format("--largest takes 1 to --count times the mean, not {}", question.largest));
  }
  set_idle_cost(options, question);
  question.width = options.width;
  if (question.width == 0) throw UserError("--width takes 1 or more threads, not 0");
  require_that_it_fits(options, question);
  return question;
}

bool has_answers(const AdviseOptions& o) {
  return o.unit || o.grain || o.count || o.nesting || o.order || o.isolation || o.goal ||
         o.memory || o.bound || o.durable || o.bytes || o.kinds || o.producers || o.waves ||
         o.largest || o.idle_cost || o.width;
}

bool is_at_a_terminal() { return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1; }

std::optional<std::string> line_of_terminal(Interrupt& interrupt) {
  std::fflush(stderr);
  while (!interrupt.wait_readable(STDIN_FILENO, Clock::now() + std::chrono::hours(1))) continue;
  std::array<char, 256> line{};
  const auto length = read(STDIN_FILENO, line.data(), line.size());  // a terminal gives a line
  if (length <= 0) return {};
  std::string text(line.data(), static_cast<std::size_t>(length));
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

bool ask_all(AdviseOptions& options) {
  Interrupt interrupt;
  fmt::print(stderr, "An empty line takes the value in brackets, q leaves.\n");
  for (const Asked& asked : all_questions()) {
    if (!asked.applies(options)) continue;
    if (!ask_one(asked, interrupt, options)) return false;
  }
  return true;
}

}  // namespace handoff::lab
