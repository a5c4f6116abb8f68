// SPDX-License-Identifier: MIT
// What the command line said, for the commands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace handoff::lab {

// How to measure; `run` and `gate` share it.
struct MeasureOptions {
  std::optional<int> launches;
  std::optional<double> time_budget_s;  // for each cell
  bool quick = false;
  std::optional<std::uint64_t> seed;
  std::vector<std::filesystem::path> manifests;  // contenders beside those of the build
  std::filesystem::path output;                  // empty: no result file
  std::vector<std::string> command_line;
};

struct RunOptions {
  MeasureOptions measure;
  std::vector<std::string> scenarios;   // none: all
  std::vector<std::string> settings;    // n=512,1024
  std::vector<std::string> contenders;  // patterns; none: all
  bool json = false;
  std::filesystem::path page;
  std::filesystem::path a;  // these three: real input instead of the scenario's own
  std::filesystem::path b;
  std::filesystem::path result;
};

struct GateOptions {
  MeasureOptions measure;
  std::filesystem::path figures;
  std::filesystem::path results;  // judge these instead of measuring
};

// What a command's exit code says.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int broken = 1;       // a contender gave a wrong answer or broke
inline constexpr int bad_usage = 2;
inline constexpr int falls_short = 3;
inline constexpr int too_noisy = 4;
inline constexpr int signal = 128;     // plus the signal's number
}  // namespace exit_code

}  // namespace handoff::lab
