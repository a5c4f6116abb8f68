// SPDX-License-Identifier: MIT
// Tables for people on a terminal.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

// Columns as wide as their widest cell; the first is aligned left, the others right.
class Columns {
 public:
  void add(std::vector<std::string> cells) {
    widths_.resize(std::max(widths_.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths_[i] = std::max(widths_[i], cells[i].size());
    }
    rows_.push_back(std::move(cells));
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const auto& cells : rows_) {
      text += fmt::format("  {:<{}}", cells.front(), widths_.front());
      for (std::size_t i = 1; i < cells.size(); ++i) {
        text += fmt::format("  {:>{}}", cells[i], widths_[i]);
      }
      text.erase(text.find_last_not_of(' ') + 1);
      text += '\n';
    }
    return text;
  }

 private:
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

inline std::string heading(const std::string& text, bool styled) {
  return styled ? fmt::format("\n\033[1m{}\033[0m\n", text) : fmt::format("\n{}\n", text);
}

}  // namespace handoff::lab
