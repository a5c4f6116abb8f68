// SPDX-License-Identifier: MIT
// Where and with what a result was measured: without it a figure means nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/machine.hpp"
#include "harness/scenario.hpp"

namespace handoff::lab {

struct Cache {
  int level = 0;
  std::uint64_t bytes = 0;
  std::uint64_t line_bytes = 0;
  int count = 0;
};

struct Cpu {
  std::string model;  // empty: it has no name
  int packages = 0;
  int numa_nodes = 0;
  int cores = 0;
  int hardware_threads = 0;
  std::vector<Cache> caches;
};

// Of this machine; nothing where it cannot be known.
std::optional<Cpu> this_cpu();
nlohmann::json to_json(const Cpu& cpu);
nlohmann::json to_json(const std::vector<Cache>& caches);
nlohmann::json to_json(const Speed& speed);

// All facts of a result file's environment. Of one that was read every fact may be missing, and
// there may be more than are known here: the page shows them all.
class Environment {
 public:
  Environment();                              // without facts
  explicit Environment(nlohmann::json facts);  // an object

  // Of this machine and this build, now. `variables` are those that contenders were started with.
  static Environment here(const std::vector<std::string>& command_line, std::uint64_t seed,
                          const std::vector<Variable>& variables);

  // The floor between equals and the machine's usual speed; nothing: nobody watched.
  void add_watch(std::optional<double> floor, std::optional<Speed> usual);

  // The packages that the contenders need, each with its version, by contender.
  void add_peers(const std::map<std::string, std::string>& versions);

  // These are empty where the fact is missing.
  [[nodiscard]] std::string date() const;  // 2026-11-01T12:00:00Z
  [[nodiscard]] std::string kernel() const;
  [[nodiscard]] std::string compiler() const;
  [[nodiscard]] std::string version() const;
  [[nodiscard]] std::string commit() const;
  [[nodiscard]] std::string hypervisor() const;  // KVM; "none": it is no virtual machine
  [[nodiscard]] std::string version_of(const std::string& contender) const;  // of its package
  [[nodiscard]] std::vector<Cache> caches() const;
  [[nodiscard]] std::vector<double> load_average() const;
  [[nodiscard]] int width() const;  // CPUs that may be used; 0: missing
  [[nodiscard]] double floor() const;  // what equals differed by: 0.01 means 1 %; 0: missing

  [[nodiscard]] std::string machine() const;  // AMD EPYC 9B45, 2 CPUs
  [[nodiscard]] bool is_same_machine(const Environment& other) const;

  [[nodiscard]] const nlohmann::json& facts() const { return *facts_; }

 private:
  std::shared_ptr<const nlohmann::json> facts_;
};

// For --version: version, commit, compiler and flags.
std::string build_description();

// Whether this machine is a virtual one: threads of such a one may stand still while the host runs
// others, and waking one costs more.
// KVM, Hyper-V and so on, or "another" one; "none" where the processor knows of none; nothing where
// it cannot be asked.
[[nodiscard]] std::optional<std::string> this_hypervisor();

}  // namespace handoff::lab
