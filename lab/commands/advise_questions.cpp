// SPDX-License-Identifier: MIT
#include "commands/advise_questions.hpp"
#include "commands/quantities.hpp"
#include "harness/plain_text.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

// Which of some words it is; the first one where nothing is said.
template <std::size_t kCount>
std::size_t which(const char* option, const std::optional<std::string>& text,
                  const std::array<const char*, kCount>& words) {
  if (!text) return 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (*text == words[i]) return i;
  }
  throw UserError("{} takes {} or {}, not '{}'", option,
                  fmt::join(words.begin(), words.end() - 1, ", "), words.back(), *text);
}

constexpr std::array<const char*, 6> kUnitNames{"task",    "index",   "event",
                                                "message", "command", "file"};

void set_unit(const AdviseOptions& options, Question& question) {
  constexpr std::array<Unit, 6> units{Unit::piece,   Unit::piece,   Unit::event,
                                      Unit::message, Unit::command, Unit::file};
  const std::size_t unit = which("--unit", options.unit, kUnitNames);
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
    throw UserError("--idle-cost takes % of one CPU, 0 to {} (all CPUs), not {}", most_percent,
                    percent);
  }
}

std::uint64_t whole_number(const std::string& text) {
  if (const auto number = whole_number_in(text)) return *number;
  throw UserError("that takes a whole number, not '{}'", text);
}

void answer_with(const std::string& text, AdviseOptions& options, const AdviseAnswer& answer) {
  if (const auto* const words = std::get_if<TextAnswer>(&answer)) {
    options.*(*words) = text;
  } else if (const auto* const whole = std::get_if<WholeAnswer>(&answer)) {
    options.*(*whole) = whole_number(text);
  } else {
    options.*std::get<NumberAnswer>(answer) = plain_number(text);
  }
}

// What is not answered yet must not be what is wrong with an answer.
void require_allowed(const AdviseOptions& options) {
  AdviseOptions complete = options;
  if (!complete.grain) complete.grain = "1us";
  if (!complete.count) complete.count = 1;
  static_cast<void>(question_of(complete));
}

// False: the person leaves.
bool ask_one(const AdviseQuestion& asked, Interrupt& interrupt, AdviseOptions& options) {
  for (;;) {
    fmt::print(stderr, "{} [{}]: ", asked.words, asked.usual);
    std::optional<std::string> line = line_of_terminal(interrupt);
    if (!line || *line == "q") return false;
    if (line->empty()) line = asked.usual;
    if (line->empty()) return true;
    AdviseOptions answered = options;
    try {
      answer_with(*line, answered, asked.answer);
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
  question.task_ns = duration_ns_of("--grain", options.grain.value_or("0ns"));
  question.count = whole_of("--count", options.count.value_or(1), most);
  question.nested = which<2>("--nesting", options.nesting, {"none", "tasks"}) == 1;
  const std::size_t order = which<3>("--order", options.order, {"any", "fifo", "producer"});
  question.in_order = order > 0;
  question.per_producer = order == 2;
  question.by_processes = which<2>("--isolation", options.isolation, {"threads", "processes"}) == 1;
  question.for_latency = which<2>("--goal", options.goal, {"throughput", "latency"}) == 1;
  question.bounded = which<2>("--memory", options.memory, {"any", "bounded"}) == 1;
  question.by_memory = which<2>("--bound", options.bound, {"compute", "memory"}) == 1;
  question.durable = which<2>("--durable", options.durable, {"no", "yes"}) == 1;
  if (options.bytes) question.bytes = bytes_of("--bytes", *options.bytes);
  question.kinds = whole_of("--kinds", options.kinds.value_or(1), most);
  question.producers = whole_of("--producers", options.producers.value_or(1), most_hands);
  question.waves = whole_of("--waves", options.waves.value_or(1), most);
  question.largest = options.largest.value_or(1);
  if (!(question.largest >= 1 && question.largest <= static_cast<double>(question.count))) {
    throw UserError("--largest takes 1 to --count times the mean, not {}", question.largest);
  }
  set_idle_cost(options, question);
  question.width = options.width;
  if (question.width == 0) throw UserError("--width takes 1 or more threads, not 0");
  require_that_it_fits(options, question);
  return question;
}

const std::vector<AdviseQuestion>& advise_questions() {
  using Options = AdviseOptions;
  constexpr unsigned any = 0x3F;  // by the places of kUnitNames
  constexpr unsigned task = 1;
  constexpr unsigned piece = 3;
  constexpr unsigned sent = 0xC;
  constexpr unsigned command = 0x10;
  constexpr unsigned file = 0x20;
  static const std::vector<AdviseQuestion> all{
      {"--unit", &Options::unit, "",
       "task (default), index of a loop, event, message, command or file",
       "what do you hand over: task, index (of a loop), event, message, command or file", "task",
       any},
      {"--grain", &Options::grain, "TIME",
       "work in one task, such as 300ns, 20us, 1.5ms; for events, messages and commands the time "
       "of their handler (default 0ns)",
       "work in one piece, such as 300ns, 20us, 1.5ms", "20us", piece},
      {"--count", &Options::count, "", "how many are handed over at once", "how many at once",
       "1000", any},
      {"--bytes", &Options::bytes, "SIZE",
       "size of an event, a message or a file, such as 72, 4k, 16M",
       "size of one in bytes, such as 72, 4k, 16M", "", sent | file},
      {"--largest", &Options::largest, "", "the largest piece divided by the mean (default 1)",
       "the largest piece divided by the mean", "1", piece},
      {"--bound", &Options::bound, "", "what limits the work: compute (default) or memory",
       "what limits the work: compute or memory", "compute", piece},
      {"--kinds", &Options::kinds, "", "kinds of work, types of messages (default 1)",
       "kinds of work, or types of messages", "1", any},
      {"--order", &Options::order, "",
       "any (default); fifo: they begin in the order of hand-over; producer: each producer's "
       "order is enough",
       "order: any, fifo, or (events, messages) producer", "any", piece | sent},
      {"--nesting", &Options::nesting, "",
       "none (default), or tasks: they hand over tasks and wait for them",
       "do tasks hand over tasks and wait for them: none or tasks", "none", task},
      {"--isolation", &Options::isolation, "",
       "threads (default), or processes: a crash must not end the program",
       "isolation: threads, or processes if a crash must not end the program", "threads",
       piece | sent},
      {"--goal", &Options::goal, "",
       "throughput (default), or latency: of one that comes to idle threads",
       "throughput or latency", "throughput", any},
      {"--memory", &Options::memory, "", "any (default), or bounded: waiting items have a limit",
       "memory of waiting items: any or bounded", "any", any},
      {"--idle-cost", &Options::idle_cost, "PERCENT",
       "% of one CPU that idle threads may take (default: any)",
       "% of one CPU that idle threads may take (empty: any)", "", piece | sent},
      {"--producers", &Options::producers, "", "threads that hand over (default 1)",
       "threads that hand over", "1", sent | command},
      {"--durable", &Options::durable, "",
       "files: yes if they must survive a loss of power (default no)",
       "must files survive a loss of power: no or yes", "no", file},
      {"--waves", &Options::waves, "", "number of waves, with pauses between them (default 1)", "",
       "", 0},
      {"--width", &Options::width, "", "threads (default: the largest measured number)", "", "",
       0}};
  return all;
}

bool has_answers(const AdviseOptions& options) {
  const auto& all = advise_questions();
  return std::ranges::any_of(all, [&](const AdviseQuestion& question) {
    return std::visit([&](auto answer) { return (options.*answer).has_value(); }, question.answer);
  });
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
  fmt::print(stderr, "An empty line takes the value in brackets; q quits.\n");
  for (const AdviseQuestion& asked : advise_questions()) {
    const unsigned unit = 1U << which("--unit", options.unit, kUnitNames);
    if ((asked.units & unit) == 0) continue;
    if (!ask_one(asked, interrupt, options)) return false;
  }
  return true;
}

}  // namespace handoff::lab
