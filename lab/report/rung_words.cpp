// SPDX-License-Identifier: MIT
#include "report/rung_words.hpp"

#include <cctype>

#include <fmt/format.h>

#include "report/ladder_words.hpp"
#include "report/view.hpp"

namespace handoff::lab {

std::string verdict_with_peer(const Rung& rung) {
  if (!rung.own) return "not measured";
  const std::string text = verdict_text(rung);
  if (!rung.peer) return text;
  switch (rung.answer ? rung.answer->word : Word::not_known) {
    case Word::faster:
    case Word::slower: return fmt::format("{} than {}", text, signed_name(*rung.peer));
    case Word::about_equal: return fmt::format("{} to {}", text, signed_name(*rung.peer));
    case Word::not_known: break;
  }
  return fmt::format("{}: {}", signed_name(*rung.peer), text);
}

std::string with_range_of(const std::string& text, const Rung& rung) {
  const std::string range = range_text(rung);
  return range.empty() ? text : text + ' ' + range;
}

std::string with_figure(const RungWay& way) {
  return fmt::format("{} {}", signed_name(way), short_duration(way.median));
}

std::string order_of(const RungWay& way) {
  if (way.order == "per producer") return "order per producer";
  return way.order == "none" ? "no order" : "";
}

std::string sign_of(const RungWay& way) {
  constexpr const char* dagger = "\u2020";
  constexpr const char* double_dagger = "\u2021";
  if (order_of(way).empty()) return {};
  return way.order == "none" ? double_dagger : dagger;
}

std::string signed_name(const RungWay& way) { return name_of_way(way.contender) + sign_of(way); }

std::vector<const RungWay*> beside_the_best(const Rung& rung) {
  std::vector<const RungWay*> ways;
  for (const RungWay& way : rung.named) {
    const bool best = (rung.peer && way.contender == rung.peer->contender) ||
                      (rung.own && way.contender == rung.own->contender);
    if (!best) ways.push_back(&way);
  }
  return ways;
}

std::string interval_of(const RungWay& way) {
  return interval_text(way.low, way.high, short_duration);
}

std::string clause_of(const Rung& rung) {
  std::string text = rung.title + ": ";
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  const auto order = [](const RungWay& way) {
    return order_of(way).empty() ? "" : fmt::format(" ({})", order_of(way));
  };
  text += rung.own ? short_duration(rung.own->median) + " here" + order(*rung.own)
                   : "not measured here";
  const auto add = [&](const RungWay& way) {
    text += fmt::format(", {} in {}{}", short_duration(way.median), name_of_way(way.contender),
                        order(way));
  };
  if (rung.peer) add(*rung.peer);
  for (const RungWay* way : beside_the_best(rung)) add(*way);
  if (rung.own) text += ", " + with_range_of(verdict_text(rung), rung);
  return text + ".";
}

std::string ladder_in_words(const Ladder& ladder) {
  std::string text = fmt::format("{}: {}.", ladder.title, sum_of(ladder));
  if (!ladder.busy.empty()) text += " " + ladder.busy;
  if (!ladder.sentence.empty()) text += " " + ladder.sentence;
  for (const Rung& rung : ladder.rungs) text += " " + clause_of(rung);
  return text;
}

const char* tone_of(const Rung& rung) {
  if (!rung.answer) return "";
  switch (rung.answer->word) {
    case Word::faster: return "good";
    case Word::slower: return "bad";
    case Word::about_equal: return "told";
    case Word::not_known: break;
  }
  return "";
}

}  // namespace handoff::lab
