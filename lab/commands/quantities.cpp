// SPDX-License-Identifier: MIT
#include "commands/quantities.hpp"
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

double number_alone(const std::string& text) {
  return number_with_unit(text, std::array<std::pair<std::string_view, double>, 1>{{{"", 1}}});
}

double size_of(const std::string& text) {
  constexpr double kilo = 1024;
  constexpr double mega = kilo * kilo;
  constexpr double giga = kilo * mega;
  using Size = std::pair<std::string_view, double>;
  constexpr std::array units{Size{"", 1},       Size{"k", kilo}, Size{"K", kilo},
                             Size{"KiB", kilo}, Size{"kB", 1e3}, Size{"M", mega},
                             Size{"MiB", mega}, Size{"MB", 1e6}, Size{"G", giga},
                             Size{"GiB", giga}, Size{"GB", 1e9}};
  return number_with_unit(text, units);
}

}  // namespace

// The micro sign and the letter mu look the same.
double duration_ns_of(const std::string& option, const std::string& text) {
  constexpr double longest = 1e12;
  constexpr std::array<std::pair<std::string_view, double>, 6> units{
      {{"ns", 1}, {"us", 1e3}, {"\u00b5s", 1e3}, {"\u03bcs", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  const double ns = number_with_unit(text, units);
  if (ns >= 0 && ns <= longest) return ns;
  throw UserError("{} takes a time from 0ns to 1000s, as in 300ns, 20us or 1.5ms, not '{}'", option,
                  text);
}

double bytes_of(const std::string& option, const std::string& text) {
  constexpr double most = 1e12;
  const double bytes = size_of(text);
  if (bytes >= 1 && bytes <= most) return bytes;
  throw UserError("{} takes a size from 1 to 900G, as in 72, 4k or 16M, not '{}'", option, text);
}

double bytes_per_ns_of(const std::string& option, const std::string& text) {
  const std::size_t slash = text.find('/');
  const bool is_rate = slash != std::string::npos && text.substr(slash) == "/s";
  const double bytes = is_rate ? size_of(text.substr(0, slash)) : NAN;
  if (bytes >= 1e3 && bytes <= 1e15) return bytes / 1e9;
  throw UserError("{} takes a rate from 1kB/s on, as in 100MB/s or 12GB/s, not '{}'", option, text);
}

double share_of(const std::string& option, const std::string& text) {
  const double share = number_alone(text);
  if (share >= 0 && share <= 1) return share;
  throw UserError("{} takes 0 to 1, not {}", option, text);
}

double plain_number(const std::string& text) {
  const double number = number_alone(text);
  if (!std::isnan(number)) return number;
  throw UserError("that takes a number, not '{}'", text);
}

std::uint64_t whole_of(const char* option, std::uint64_t number, std::uint64_t most) {
  if (number >= 1 && number <= most) return number;
  throw UserError("{} takes 1 to {}, not {}", option, most, number);
}

}  // namespace handoff::lab
