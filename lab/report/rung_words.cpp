// SPDX-License-Identifier: MIT
#include "report/rung_words.hpp"

#include <cctype>

#include <fmt/format.h>

#include "report/view.hpp"

namespace handoff::lab {

std::string verdict_with_peer(const Rung& rung) {
  if (!rung.own) return "not measured";
  std::string text = verdict_text(rung);
  if (!rung.peer) return text;
  const Change change = rung.judged ? rung.judged->change : Change::too_noisy;
  const char* const word = change == Change::unchanged   ? "to"
                           : change == Change::too_noisy ? "against"
                                                         : "than";
  return fmt::format("{} {} {}", text, word, signed_name(*rung.peer));
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
  if (rung.own) text += ", " + verdict_text(rung);
  if (!rung.disturbed.empty()) text += ", disturbed";
  return text + ".";
}

std::string ladder_in_words(const Ladder& ladder) {
  std::string text = ladder.busy;
  if (!ladder.sentence.empty()) text += (text.empty() ? "" : " ") + ladder.sentence;
  for (const Rung& rung : ladder.rungs) text += (text.empty() ? "" : " ") + clause_of(rung);
  return text;
}

const char* tone_of(const Rung& rung) {
  if (!rung.judged) return "";
  switch (rung.judged->change) {
    case Change::improved: return "good";
    case Change::worse: return "bad";
    case Change::unchanged: return "told";
    case Change::too_noisy: break;
  }
  return "";
}

}  // namespace handoff::lab
