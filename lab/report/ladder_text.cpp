// SPDX-License-Identifier: MIT
#include "report/ladder_text.hpp"
#include "report/ladder_words.hpp"
#include "report/text_room.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

// A narrower terminal breaks the lines itself; on a wider one they have all they need.
constexpr int least_columns = 72;
constexpr int most_columns = 120;
constexpr std::size_t word_room = 9;  // "FASTER" and room behind it

// Lines of at most so many columns, at most so many of them: then dots.
std::string wrapped(const std::string& text, std::size_t columns,
                    std::size_t most_lines = std::numeric_limits<std::size_t>::max()) {
  const auto fits = [&](const std::string& line) { return line.size() <= columns; };
  std::vector<std::string> lines = lab::wrapped(text, fits);
  if (lines.size() > most_lines) {
    lines.resize(most_lines);
    std::string& last = lines.back();
    while (!fits(last + " ...") && last.find(' ') != std::string::npos) {
      last.resize(last.rfind(' '));
    }
    last += " ...";
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::size_t usable(int columns) {
  return static_cast<std::size_t>(std::clamp(columns, least_columns, most_columns));
}

std::string without_blanks_behind(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// How the columns behind the word are shared out.
struct LineRoom {
  explicit LineRoom(int columns) : all(usable(columns) - word_room) {
    titles = all >= 100;
    name = titles ? 36 : 9;
    other = std::min<std::size_t>(all - name - said - 5 - 2 * figure, 20);
  }
  static constexpr std::size_t figure = 9;  // "0.0612 ns"
  static constexpr std::size_t said = 20;   // "12.3x (10.1 .. 14.5)"
  std::size_t all;
  bool titles;
  std::size_t name;
  std::size_t other;
};

// "7.1x (6.5 .. 7.8)": its word stands before the line.
std::string said_of(const Rung& rung) {
  const std::string text = verdict_text(rung);
  if (!rung.answer) return text;
  if (rung.answer->word == Word::about_equal) return range_text(rung);
  const std::string range = range_text(rung);
  const std::string figures = text.substr(0, text.rfind("x ") + 1);
  return range.empty() ? figures : fmt::format("{} {}", figures, range);
}

constexpr std::array groups{Word::faster, Word::slower, Word::about_equal, Word::not_known};

const char* capitals_of(const Rung& rung) {
  if (!rung.answer) return "ALONE";
  switch (rung.answer->word) {
    case Word::faster: return "FASTER";
    case Word::slower: return "SLOWER";
    case Word::about_equal: return "EQUAL";
    case Word::not_known: break;
  }
  return "BETWEEN";
}

double far(const Rung& rung) { return std::abs(std::log(rung.answer->ratio)); }

// In the order of their words, and in each the farthest first.
std::vector<std::string> lines_of(const Ladder& ladder, int columns) {
  std::vector<const Rung*> rungs;
  for (const Word word : groups) {
    const auto first = static_cast<std::ptrdiff_t>(rungs.size());
    for (const Rung& rung : ladder.rungs) {
      if (rung.answer && rung.answer->word == word) rungs.push_back(&rung);
    }
    if (word != Word::faster && word != Word::slower) continue;
    std::stable_sort(rungs.begin() + first, rungs.end(),
                     [](const Rung* a, const Rung* b) { return far(*a) > far(*b); });
  }
  for (const Rung& rung : ladder.rungs) {
    if (!rung.answer) rungs.push_back(&rung);
  }
  std::vector<std::string> lines;
  std::string_view last;
  for (const Rung* rung : rungs) {
    std::string line = rung_line(*rung, columns);
    if (last == capitals_of(*rung)) line.replace(0, last.size(), last.size(), ' ');
    last = capitals_of(*rung);
    lines.push_back(std::move(line));
  }
  return lines;
}

// What a way's name does not say: that it is in two states, and that it keeps a weaker order.
std::string notes_on(const Ladder& ladder, std::size_t columns) {
  std::string text;
  for (const Rung& rung : ladder.rungs) {
    for (const auto* way : {&rung.own, &rung.peer}) {
      if (!*way) continue;
      const std::string name = name_of_way((*way)->contender);
      if (!order_of(**way).empty()) {
        text += wrapped(fmt::format("{}: {} keeps {}", rung.name, name, order_of(**way)), columns);
      }
      constexpr double worth_telling = 1.25;
      const auto& states = (*way)->states;
      if (states && states->high > worth_telling * states->low) {
        text +=
            wrapped(fmt::format("{}: {} takes {} in some launches, {} in others", rung.name, name,
                                short_duration(states->low), short_duration(states->high)),
                    columns);
      }
    }
  }
  return text;
}

std::string minutes(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string sum_line(const Ladder& ladder, const LadderLook& look) {
  const std::size_t rungs = ladder.rungs.size();
  std::string text =
      fmt::format("{}: {} kind{} of hand-over", ladder.title, rungs, rungs == 1 ? "" : "s");
  if (look.seconds > 0) text += " in " + minutes(look.seconds);
  return fmt::format("{}: {}", text, sum_of(ladder));
}

std::string grey_line(const std::vector<GreyLine>& grey, std::size_t columns) {
  std::string text;
  for (const auto& [name, ns] : grey) {
    text += fmt::format("{}{} {}", text.empty() ? "the machine: " : ", ", name, short_duration(ns));
  }
  return text.empty() ? text : wrapped(text, columns, 2);
}

// What a figure means nothing without: whose versions they are, and up to how many CPUs they hold.
std::string scope_line(const Ladder& ladder, std::size_t columns) {
  std::string text = fmt::format("{}", fmt::join(ladder.peers, ", "));
  if (ladder.cpus > 0) {
    text += fmt::format("{}not measured above {} CPU{}", text.empty() ? "" : "; ", ladder.cpus,
                        ladder.cpus == 1 ? "" : "s");
  }
  return text.empty() ? text : wrapped((ladder.peers.empty() ? "" : "peers: ") + text, columns, 3);
}

std::string next_lines(const LadderLook& look) {
  const std::string advise = look.program + " advise";
  const std::string mine = look.program + " try --new mine";
  const std::size_t room = std::max({advise.size(), mine.size(), look.page.size()}) + 2;
  std::string text =
      fmt::format("{:<{}}{:<{}}the way that fits, and a line to paste\n", "Next", word_room, advise,
                  room) +
      fmt::format("{:<{}}{:<{}}your loop in every way, checked\n", "", word_room, mine, room);
  if (!look.page.empty()) {
    text += fmt::format("{:<{}}{:<{}}all figures\n", "", word_room, look.page, room);
  } else if (!look.results.empty()) {
    text += fmt::format("{:<{}}{:<{}}all figures\n", "", word_room, look.results, room);
  }
  return text;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

std::string rung_line(const Rung& rung, int columns) {
  const LineRoom room(columns);
  const std::string own = rung.own ? short_duration(rung.own->median) : "-";
  const std::string other = rung.peer ? short_duration(rung.peer->median) : "-";
  const std::string peer = rung.peer ? name_of_way(rung.peer->contender) : "";
  const std::string& name = room.titles ? rung.title : rung.name;
  return without_blanks_behind(
      fmt::format("{:<{}}{:<{}} {:>{}}  {:>{}} {:<{}} {}", capitals_of(rung), word_room,
                  name.substr(0, room.name), room.name, own, LineRoom::figure, other,
                  LineRoom::figure, peer.substr(0, room.other), room.other, said_of(rung)));
}

std::string waiting_line(const std::string& name, const std::string& title, int columns) {
  return fmt::format("{:<{}}{} ...", "", word_room, LineRoom(columns).titles ? title : name);
}

std::string ladder_text(const Ladder& ladder, const LadderLook& look) {
  const std::size_t columns = usable(look.columns);
  std::string before = wrapped(sum_line(ladder, look), columns);
  const std::string& busy = look.busy.empty() ? ladder.busy : look.busy;
  if (!busy.empty()) before += wrapped(busy, columns, 2);
  if (look.interrupted) before += "Interrupted: the results below are incomplete.\n";
  if (!ladder.sentence.empty()) {
    const std::string sentence = wrapped(ladder.sentence, columns);
    before += look.styled ? fmt::format("\033[1m{}\033[0m", sentence) : sentence;
  }
  const std::string next = next_lines(look);
  std::vector<std::string> lines = lines_of(ladder, look.columns);
  // On a small terminal the first screen is the answer; the rest is on the page.
  constexpr std::size_t prompt = 2;  // the command that was typed, and the next one's
  const std::size_t others = lines_in(before) + lines_in(next) + prompt + 1;
  std::string more;
  if (look.rows > 0 && lines.size() + others > look.rows) {
    const std::size_t shown = std::min<std::size_t>(
        lines.size(), std::max<std::size_t>(1, look.rows - std::min(look.rows, others)));
    if (shown < lines.size()) more = fmt::format("{} more\n", lines.size() - shown);
    lines.resize(shown);
  }
  std::string text = before;
  for (const std::string& line : lines) text += line + '\n';
  text += more;
  if (look.rows == 0) {
    text +=
        notes_on(ladder, columns) + grey_line(ladder.grey, columns) + scope_line(ladder, columns);
    if (!look.missing.empty()) {
      text += wrapped(fmt::format("missing  {}", fmt::join(look.missing, ", ")), columns, 1);
    }
  }
  return text + next;
}

}  // namespace handoff::lab
