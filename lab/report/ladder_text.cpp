// SPDX-License-Identifier: MIT
#include "report/ladder_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "report/ladder_words.hpp"
#include "report/rung_words.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

// A narrower terminal breaks the lines itself; on a wider one a bar says no more.
constexpr int least_columns = 68;
constexpr int most_columns = 120;

// Lines of at most so many columns, at most so many of them: then dots.
std::string wrapped(const std::string& text, std::size_t columns,
                    std::size_t most_lines = std::numeric_limits<std::size_t>::max()) {
  std::string all;
  std::string line;
  std::size_t lines = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    const bool last = lines == most_lines && at < text.size();  // needs room for the dots
    const bool fits = line.size() + 1 + word.size() + (last ? 4 : 0) <= columns;
    if (!line.empty() && !fits) {
      if (lines == most_lines) return all + line + " ...\n";
      all += line + '\n';
      line.clear();
      ++lines;
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return all + line + '\n';
}

std::string padded(const std::string& text, std::size_t width) {
  return fmt::format("{:<{}}", text.substr(0, width), width);
}

struct Marks {
  const char* many;  // what one of many costs
  const char* one;   // how long one takes
  const char* other;
};

constexpr Marks blocks{"\u2588", "\u2592", "\u2502"};
constexpr Marks ascii{"#", "=", "|"};

// From a power of ten to one, so that every figure lies between them.
struct LogScale {
  double low = 1;
  double high = 1;

  // Where a figure lies: 0 to 1.
  [[nodiscard]] double place(double ns) const {
    return std::clamp(std::log(ns / low) / std::log(high / low), 0.0, 1.0);
  }
};

LogScale scale_of(const std::vector<Rung>& rungs) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const Rung& rung : rungs) {
    for (const auto* way : {&rung.own, &rung.peer}) {
      if (!*way || !((*way)->median > 0)) continue;
      least = std::min(least, (*way)->median);
      most = std::max(most, (*way)->median);
    }
  }
  if (!(most > 0)) return {1, 10};
  const double low = std::floor(std::log10(least));
  const double high = std::max(low + 1, std::ceil(std::log10(most)));
  return {std::pow(10, low), std::pow(10, high)};
}

class Picture {
 public:
  Picture(const Ladder& ladder, const LadderLook& look)
      : ladder_(ladder),
        look_(look),
        columns_(static_cast<std::size_t>(std::clamp(look.columns, least_columns, most_columns))),
        marks_(look.unicode ? blocks : ascii),
        scale_(scale_of(ladder.rungs)) {
    constexpr std::size_t widest_other = 17;
    constexpr std::size_t least_bar = 8;
    for (const Rung& rung : ladder.rungs) {
      label_ = std::max(label_, label_of(rung).size());
      if (rung.peer) other_ = std::max(other_, name_of_way(rung.peer->contender).size());
    }
    other_ = std::min(other_, widest_other);
    const std::size_t others = label_ + 1 + 1 + figure + 2 + figure + 1 + 1 + verdict;
    // On a narrow terminal the bars keep their least and names are cut.
    const std::size_t left = columns_ - std::min(columns_, others + least_bar);
    other_ = std::min(other_, left);
    bar_ = least_bar + left - other_;
  }

  [[nodiscard]] std::string rungs() const {
    if (ladder_.rungs.empty()) return {};
    std::string text =
        fmt::format("{:{}}{:>{}}  {}\n", "", label_ + 1 + bar_ + 1, "here", figure, "best other");
    for (const Rung& rung : ladder_.rungs) text += line(rung);
    return text;
  }

  // What the marks say, and the words.
  [[nodiscard]] std::string legend() const {
    if (ladder_.rungs.empty()) return {};
    std::string text = fmt::format(
        "{} throughput  {} latency  {} best other  (log scale, {} to {})\n", marks_.many,
        marks_.one, marks_.other,
        scale_.low < 1 ? fmt::format("{:g} ns", scale_.low) : plain_duration(scale_.low),
        plain_duration(scale_.high));
    if (ladder_.open() > 0) {
      text += wrapped("open: this run cannot tell; `handoff run SCENARIO` takes longer", columns_);
    }
    for (const Rung& rung : ladder_.rungs) {
      const std::string orders = orders_on(rung);
      if (!orders.empty()) text += wrapped(label_of(rung) + ": " + orders, columns_);
    }
    const auto disturbed = std::find_if(ladder_.rungs.begin(), ladder_.rungs.end(),
                                        [](const Rung& rung) { return !rung.disturbed.empty(); });
    if (disturbed != ladder_.rungs.end()) {
      text += wrapped("* do not trust these figures: " + disturbed->disturbed, columns_, 1);
    }
    return text;
  }

 private:
  static constexpr std::size_t figure = 9;    // 0.0612 ns
  static constexpr std::size_t verdict = 13;  // 14.8x faster*

  // The title where there is room for it and for a bar that one can read.
  [[nodiscard]] const std::string& label_of(const Rung& rung) const {
    constexpr std::size_t roomy = 110;
    return columns_ >= roomy ? rung.title : rung.name;
  }

  [[nodiscard]] std::string line(const Rung& rung) const {
    const std::string own = rung.own ? short_duration(rung.own->median) : "-";
    const std::string other = rung.peer ? short_duration(rung.peer->median) : "-";
    std::string text = fmt::format(
        "{:<{}} {} {:>{}}  {:>{}} {} {}{}", label_of(rung), label_, bar(rung), own, figure, other,
        figure, padded(rung.peer ? name_of_way(rung.peer->contender) : "", other_),
        verdict_text(rung), rung.disturbed.empty() ? "" : "*");
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n';
  }

  // Of those that keep less than one for all.
  static std::string orders_on(const Rung& rung) {
    const std::string own = rung.own ? order_of(*rung.own) : "";
    const std::string peer = rung.peer ? order_of(*rung.peer) : "";
    const auto keeps = [](const std::optional<RungWay>& way, const std::string& order) {
      return order.empty() ? "" : fmt::format("{} keeps {}", name_of_way(way->contender), order);
    };
    if (own.empty() || peer.empty()) return keeps(rung.own, own) + keeps(rung.peer, peer);
    if (own != peer) return keeps(rung.own, own) + ", " + keeps(rung.peer, peer);
    return fmt::format("{} and {} keep {}", name_of_way(rung.own->contender),
                       name_of_way(rung.peer->contender), own);
  }

  // As long as this library takes, with a mark where the best other one ends.
  [[nodiscard]] std::string bar(const Rung& rung) const {
    std::vector<std::string> cells(bar_, " ");
    if (rung.own) fill(cells, scale_.place(rung.own->median), rung.latency);
    if (rung.peer) {
      const double place = scale_.place(rung.peer->median) * static_cast<double>(bar_);
      cells[std::min(bar_ - 1, static_cast<std::size_t>(place))] = marks_.other;
    }
    std::string text;
    for (const std::string& cell : cells) text += cell;
    return text;
  }

  void fill(std::vector<std::string>& cells, double place, bool latency) const {
    constexpr std::size_t parts = 8;  // of a block
    static constexpr std::array<const char*, parts> begun{" ",      "\u258F", "\u258E", "\u258D",
                                                          "\u258C", "\u258B", "\u258A", "\u2589"};
    const auto eighths = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::lround(place * static_cast<double>(bar_ * parts))));
    const bool finely = look_.unicode && !latency;
    const std::size_t whole = finely ? eighths / parts : (eighths + parts / 2) / parts;
    for (std::size_t i = 0; i < std::max<std::size_t>(whole, finely ? 0 : 1); ++i) {
      cells[i] = latency ? marks_.one : marks_.many;
    }
    if (finely && eighths % parts > 0) cells[whole] = begun.at(eighths % parts);
  }

  const Ladder& ladder_;
  const LadderLook& look_;
  std::size_t columns_;
  const Marks& marks_;
  LogScale scale_;
  std::size_t label_ = 0;
  std::size_t other_ = 0;
  std::size_t bar_ = 0;
};

std::string busy_line(const Ladder& ladder, const LadderLook& look, std::size_t columns) {
  const std::string& busy = look.busy.empty() ? ladder.busy : look.busy;
  return busy.empty() ? busy : wrapped(busy, columns, 2);
}

std::string grey_line(const std::vector<GreyLine>& grey, std::size_t columns) {
  std::string text;
  for (const auto& [name, ns] : grey) {
    text += fmt::format("{}{} {}", text.empty() ? "the machine: " : ", ", name, short_duration(ns));
  }
  return text.empty() ? text : wrapped(text, columns, 2);
}

std::string files_line(const LadderLook& look) {
  if (look.page.empty()) return look.results.empty() ? "" : "results  " + look.results + '\n';
  if (look.results.empty()) return "page     " + look.page + '\n';
  return fmt::format("page     {}  (results: {})\n", look.page, look.results);
}

}  // namespace

std::string ladder_text(const Ladder& ladder, const LadderLook& look) {
  const auto columns =
      static_cast<std::size_t>(std::clamp(look.columns, least_columns, most_columns));
  const Picture picture(ladder, look);
  std::string text = busy_line(ladder, look, columns);
  if (look.interrupted) text += "Interrupted: what follows is not all that was asked for.\n";
  if (!ladder.sentence.empty()) {
    const std::string sentence = wrapped(ladder.sentence, columns);
    text += look.styled ? fmt::format("\033[1m{}\033[0m", sentence) : sentence;
  }
  text += '\n' + picture.rungs() + picture.legend() + grey_line(ladder.grey, columns);
  text += files_line(look);
  if (!look.missing.empty()) {
    text += wrapped(fmt::format("missing  {}", fmt::join(look.missing, ", ")), columns, 1);
  }
  return text;
}

}  // namespace handoff::lab
