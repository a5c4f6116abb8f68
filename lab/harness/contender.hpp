// SPDX-License-Identifier: MIT
// The contender's side of the lab. A scenario's contenders share one `prepare`, which turns the
// parameters and the input into an operation to time; everything else is done here. It stays small
// on purpose: what a contender links beside its own libraries runs in its process.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>

namespace handoff::lab {

// The cell to measure, as the coordinator sent it.
class Parameters {
 public:
  explicit Parameters(std::map<std::string, std::string> values) : values_(std::move(values)) {}
  // Both throw where a parameter without `otherwise` was not sent.
  [[nodiscard]] std::string text(const std::string& name, const char* otherwise = nullptr) const;
  [[nodiscard]] std::size_t number(const std::string& name) const;
  [[nodiscard]] std::size_t number(const std::string& name, std::size_t otherwise) const;

 private:
  std::map<std::string, std::string> values_;
};

// Thrown by `prepare`: this contender cannot run here, and why. Its row says so and has no time.
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One operation, which fills all of `output` each time it runs. The output is poisoned before each
// burst and published to the coordinator after it.
struct Prepared {
  std::function<void()> operation;
  std::span<std::byte> output;
};

// Written by the scenario. What it captures must live as long as the operation.
Prepared prepare(const Parameters& parameters, std::span<const std::byte> input);

}  // namespace handoff::lab
