// SPDX-License-Identifier: MIT
//
// A choice as text.
#include <charconv>
#include <handoff/choice/loop_choice.hpp>
#include <string_view>
#include <system_error>

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

// "1.2 us": two digits at least.
std::string choice_time(double ns) {
  struct Unit {
    double ns;
    std::string_view name;
  };
  constexpr Unit units[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}, {1, " ns"}};
  for (const Unit& unit : units) {
    if (ns < unit.ns && unit.ns > 1) continue;
    char text[32];
    const double value = ns / unit.ns;
    const std::to_chars_result end = std::to_chars(text, text + sizeof text, value,
                                                   std::chars_format::fixed, value < 10 ? 1 : 0);
    std::string all(text, end.ec == std::errc() ? end.ptr : text);
    all += unit.name;
    return all;
  }
  return "?";
}

void append_way(std::string& text, LoopWay way, const LoopChoice::Way& of) {
  if (!of.available || of.ns <= 0) return;
  text += "; ";
  text += to_string(way);
  text += of.measured ? " " : " about ";
  text += choice_time(of.ns);
}

std::string_view why(ChoiceReason reason) {
  switch (reason) {
    case ChoiceReason::not_run: return "no loop was measured yet";
    case ChoiceReason::only_way: return "the only way here";
    case ChoiceReason::cheapest: return "the cheapest";
    case ChoiceReason::checking: return "which is being checked";
    case ChoiceReason::drifted: return "as the load changed";
  }
  return "for no reason";
}

}  // namespace

const char* to_string(LoopWay way) noexcept {
  switch (way) {
    case LoopWay::serial: return "serial";
    case LoopWay::team: return "team";
    case LoopWay::pool: return "pool";
  }
  return "no LoopWay";
}

const char* to_string(ChoiceReason reason) noexcept {
  switch (reason) {
    case ChoiceReason::not_run: return "not_run";
    case ChoiceReason::only_way: return "only_way";
    case ChoiceReason::cheapest: return "cheapest";
    case ChoiceReason::checking: return "checking";
    case ChoiceReason::drifted: return "drifted";
  }
  return "no ChoiceReason";
}

std::string to_string(const LoopChoice& choice) {
  std::string text = to_string(choice.way);
  text += ", ";
  text += why(choice.reason);
  if (choice.count != 0) {
    text += ", for ";
    text += std::to_string(choice.count);
    text += " indices";
  }
  append_way(text, LoopWay::serial, choice.serial);
  append_way(text, LoopWay::team, choice.team);
  append_way(text, LoopWay::pool, choice.pool);
  if (choice.count != 0) {
    text += "; checked ";
    text += std::to_string(choice.calls_since_checked);
    text += " loops ago";
  }
  return text;
}

}}  // namespace handoff::HANDOFF_ABI
