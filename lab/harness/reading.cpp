// SPDX-License-Identifier: MIT
#include "harness/reading.hpp"
#include "harness/plain_text.hpp"
#include "harness/protocol.hpp"

namespace handoff::lab {
namespace {

bool read_number(std::istringstream& text, double& number) {
  return static_cast<bool>(text >> number) && can_be_measured(number);
}

std::optional<std::vector<double>> read_list(const std::string& text) {
  std::istringstream numbers(text);
  std::vector<double> list;
  char separator = ',';
  do {
    if (separator != ',' || !read_number(numbers, list.emplace_back())) return {};
  } while (numbers >> separator);
  return list;
}

std::optional<std::vector<std::pair<double, double>>> read_curve(const std::string& text) {
  std::istringstream numbers(text);
  std::vector<std::pair<double, double>> curve;
  char separator = ',';
  do {
    char colon = 0;
    auto& [x, y] = curve.emplace_back();
    if (separator != ',' || !read_number(numbers, x) || !(numbers >> colon) || colon != ':' ||
        !read_number(numbers, y)) {
      return {};
    }
  } while (numbers >> separator);
  return curve;
}

// One word of those that may follow: NAME=VALUE.
bool read_word(const std::string& word, Reading& reading) {
  const auto equals = word.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = word.substr(0, equals);
  const std::string value = word.substr(equals + 1);
  if (!is_plain(name)) return false;
  if (name.starts_with(protocol::curve)) {
    const auto curve = read_curve(value);
    if (curve) reading.curves[name.substr(protocol::curve.size())] = *curve;
    return curve.has_value();
  }
  if (name == protocol::latency) {
    const auto latencies = read_curve(value);
    if (latencies) reading.latencies = *latencies;
    return latencies.has_value();
  }
  const auto list = read_list(value);
  if (!list) return false;
  if (name == protocol::executed) {
    reading.executed = *list;
    return true;
  }
  if (list->size() != 1) return false;
  for (const auto& [prefix, values] : {std::pair{protocol::figure, &reading.figures},
                                       {protocol::usage, &reading.usage},
                                       {protocol::count, &reading.counts}}) {
    if (!name.starts_with(prefix)) continue;
    (*values)[name.substr(prefix.size())] = list->front();
    return true;
  }
  return false;
}

}  // namespace

bool can_be_measured(double figure) noexcept {
  const double size = std::abs(figure);
  return size == 0 || (size >= 1e-30 && size <= 1e30);
}

double Reading::figure(const std::string& name) const {
  const auto found = figures.find(name);
  return found == figures.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

std::optional<double> Reading::share_elsewhere() const {
  const double all = std::accumulate(executed.begin(), executed.end(), 0.0);
  if (!(all > 0)) return {};
  return 1 - executed.front() / all;
}

std::optional<Reading> read_reading(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  Reading reading;
  words >> word >> reading.wall_ns >> reading.cpu_ns >> reading.operations >> reading.items;
  const bool complete = words && word == protocol::done && reading.wall_ns > 0 &&
                        reading.operations >= 1 && reading.items > 0 &&
                        can_be_measured(reading.wall_ns) && can_be_measured(reading.cpu_ns) &&
                        can_be_measured(reading.operations) && can_be_measured(reading.items);
  if (!complete) return {};
  while (words >> word) {
    if (!read_word(word, reading)) return {};
  }
  return reading;
}

}  // namespace handoff::lab
