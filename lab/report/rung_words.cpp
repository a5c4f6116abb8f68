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
  return fmt::format("{} {} {}", text, word, name_of_way(rung.peer->contender));
}

std::string with_figure(const RungWay& way) {
  return fmt::format("{} {}", name_of_way(way.contender), short_duration(way.median));
}

std::string order_of_peer(const Rung& rung) {
  if (rung.peers_order.empty()) return {};
  return rung.peers_order == "none" ? "no order" : "order per producer";
}

std::string interval_of(const RungWay& way) {
  return interval_text(way.low, way.high, short_duration);
}

std::string clause_of(const Rung& rung) {
  std::string text = rung.title + ": ";
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  text += rung.own ? short_duration(rung.own->median) + " here" : "not measured here";
  const auto add = [&](const RungWay& way) {
    text += fmt::format(", {} in {}", short_duration(way.median), name_of_way(way.contender));
  };
  if (rung.peer) add(*rung.peer);
  if (!order_of_peer(rung).empty()) text += fmt::format(" ({})", order_of_peer(rung));
  for (const RungWay& way : rung.named) {
    if (!rung.peer || way.contender != rung.peer->contender) add(way);
  }
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
