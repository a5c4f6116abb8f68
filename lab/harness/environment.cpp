// SPDX-License-Identifier: MIT
#include "harness/environment.hpp"

#include <fmt/chrono.h>
#include <hwloc.h>
#include <sys/utsname.h>
#include <handoff/sync/cpu_budget.hpp>
#include <nlohmann/json.hpp>

#include "build_info.hpp"
#include "harness/counters.hpp"
#include "harness/file_system.hpp"
#include "harness/foreign_json.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

Topology load_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  Topology owner(topology);
  return hwloc_topology_load(topology) == 0 ? std::move(owner) : nullptr;
}

// One of the object's facts; null where it is missing, or where the object is none.
json fact(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? json() : *found;
}

std::string text(const json& fact) {
  return fact.is_string() ? fact.get<std::string>() : std::string();
}

double number(const json& fact) { return fact.is_number() ? fact.get<double>() : 0; }

template <class Whole>
Whole whole(const json& fact) {
  return fact.is_number_integer() ? fact.get<Whole>() : 0;
}

json list(const json& fact) { return fact.is_array() ? fact : json::array(); }

json budget() {
  const sync::CpuBudget budget = sync::cpu_budget();
  return {{"affinity", budget.affinity},
          {"quota_cpus", std::isfinite(budget.quota) ? json(budget.quota) : json()},
          {"width", budget.width()}};
}

// What steers the peers' libraries and was set outside.
json variables_set_outside() {
  json set = json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    for (const std::string_view prefix : {"OMP_", "GOMP_", "OPENBLAS_", "TBB_", "MALLOC_"}) {
      if (!text.starts_with(prefix)) continue;
      const auto equals = text.find('=');
      set[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
  }
  return set;
}

// Tried in earnest; null where it works, else why it does not.
json counters() {
  json reasons = json::object();
  for (const CounterKind& kind : counter_kinds) {
    const int counter = open_counter(kind);
    reasons[kind.name] =
        counter >= 0 ? json() : json(fmt::format("perf_event_open: {}", std::strerror(errno)));
    if (counter >= 0) close(counter);
  }
  return reasons;
}

// Where the scenario of files makes them.
json files_here() {
  const FileSystem here = file_system_of(folder_for_files());
  const auto known = [](const std::string& text) { return text.empty() ? json() : json(text); };
  return {{"file_system", known(here.kind)},
          {"device", known(here.device)},
          {"model", known(here.model)},
          {"rotational", here.rotational ? json(*here.rotational) : json()},
          {"write_cache", known(here.write_cache)},
          {"free_bytes", here.free_bytes}};
}

json current_load() {
  std::array<double, 3> loads{};
  return getloadavg(loads.data(), loads.size()) == 3 ? json(loads) : json();
}

}  // namespace

json to_json(const Speed& speed) {
  return {{"one_cpu_gflops", speed.one}, {"all_cpus_gflops", speed.all}};
}

std::optional<Cpu> this_cpu() {
  const Topology topology = load_topology();
  if (topology == nullptr) return {};
  const auto count = [&](hwloc_obj_type_t type) {
    return hwloc_get_nbobjs_by_type(topology.get(), type);
  };
  Cpu cpu{{},
          count(HWLOC_OBJ_PACKAGE),
          count(HWLOC_OBJ_NUMANODE),
          count(HWLOC_OBJ_CORE),
          count(HWLOC_OBJ_PU),
          {}};
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_PACKAGE, 0);
  const char* model =
      package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, "CPUModel");
  if (model != nullptr) cpu.model = model;
  constexpr std::array types{HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE};
  for (std::size_t level = 0; level < types.size(); ++level) {
    const hwloc_obj_t cache = hwloc_get_obj_by_type(topology.get(), types[level], 0);
    if (cache == nullptr) continue;
    cpu.caches.push_back({static_cast<int>(level) + 1, cache->attr->cache.size,
                          cache->attr->cache.linesize, count(types[level])});
  }
  return cpu;
}

json to_json(const std::vector<Cache>& caches) {
  json all = json::array();
  for (const Cache& cache : caches) {
    all.push_back({{"level", cache.level},
                   {"bytes", cache.bytes},
                   {"line_bytes", cache.line_bytes},
                   {"count", cache.count}});
  }
  return all;
}

json to_json(const Cpu& cpu) {
  return {{"packages", cpu.packages},
          {"numa_nodes", cpu.numa_nodes},
          {"cores", cpu.cores},
          {"hardware_threads", cpu.hardware_threads},
          {"model", cpu.model.empty() ? json() : json(cpu.model)},
          {"caches", to_json(cpu.caches)}};
}

Environment::Environment() : Environment(json::object()) {}

Environment::Environment(json facts) : facts_(std::make_shared<json>(std::move(facts))) {}

Environment Environment::here(const std::vector<std::string>& command_line, std::uint64_t seed,
                              const std::vector<Variable>& variables) {
  utsname system{};
  uname(&system);
  json contenders = json::object();
  for (const Variable& variable : variables) contenders[variable.name] = variable.value;
  const std::optional<Cpu> cpu = this_cpu();
  const std::optional<std::string> hypervisor = this_hypervisor();
  json facts{{"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
             {"cpu", cpu ? to_json(*cpu) : json()},
             {"budget", budget()},
             {"memory_bytes", sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)},
             {"load_average", current_load()},
             {"counters", counters()},
             {"kernel", fmt::format("{} {}", system.sysname, system.release)},
             {"machine", system.machine},
             {"hypervisor", hypervisor ? json(*hypervisor) : json()},
             {"handoff", {{"version", build_info::version}, {"commit", build_info::commit}}},
             {"compiler", build_info::compiler},
             {"flags", build_info::flags},
             {"files", files_here()},
             {"command_line", command_line},
             {"seed", seed},
             {"variables", variables_set_outside()},
             {"contender_variables", contenders}};
  // Names of devices, variables and the command line may have anything in them.
  return Environment(made_plain(facts));
}

void Environment::add_watch(std::optional<double> floor, std::optional<Speed> usual) {
  json facts = *facts_;
  facts["floor"] = floor ? json(*floor) : json();
  facts["probe"] = usual ? to_json(*usual) : json();
  facts_ = std::make_shared<json>(std::move(facts));
}

void Environment::add_peers(const std::map<std::string, std::string>& versions) {
  json facts = *facts_;
  facts["peers"] = versions;
  facts_ = std::make_shared<json>(std::move(facts));
}

std::string Environment::date() const { return text(fact(facts(), "date")); }
std::string Environment::kernel() const { return text(fact(facts(), "kernel")); }
std::string Environment::compiler() const { return text(fact(facts(), "compiler")); }
std::string Environment::version() const { return text(fact(fact(facts(), "handoff"), "version")); }
std::string Environment::commit() const { return text(fact(fact(facts(), "handoff"), "commit")); }
std::string Environment::hypervisor() const { return text(fact(facts(), "hypervisor")); }

std::string Environment::version_of(const std::string& contender) const {
  const std::string package = text(fact(fact(facts(), "peers"), contender.c_str()));
  return package.substr(package.find(' ') + 1);
}

std::vector<Cache> Environment::caches() const {
  std::vector<Cache> caches;
  for (const json& cache : list(fact(fact(facts(), "cpu"), "caches"))) {
    caches.push_back({whole<int>(fact(cache, "level")), whole<std::uint64_t>(fact(cache, "bytes")),
                      whole<std::uint64_t>(fact(cache, "line_bytes")),
                      whole<int>(fact(cache, "count"))});
  }
  return caches;
}

std::vector<double> Environment::load_average() const {
  std::vector<double> loads;
  for (const json& load : list(fact(facts(), "load_average"))) loads.push_back(number(load));
  return loads;
}

int Environment::width() const { return whole<int>(fact(fact(facts(), "budget"), "width")); }

double Environment::floor() const { return std::max(0.0, number(fact(facts(), "floor"))); }

std::string Environment::machine() const {
  const json model = fact(fact(facts(), "cpu"), "model");
  std::string name = model.is_string() ? text(model) : "unknown processor";
  for (const std::string_view noise : {"(R)", "(TM)", " Processor", " CPU", " @"}) {
    if (const auto at = name.find(noise); at != std::string::npos) name.erase(at, noise.size());
  }
  const json width = fact(fact(facts(), "budget"), "width");
  if (width.is_number()) name += fmt::format(", {} CPUs", width.dump());
  return name;
}

// As far as the facts tell.
bool Environment::is_same_machine(const Environment& other) const {
  const auto identity = [](const json& facts) {
    return std::array{fact(facts, "cpu"), fact(fact(facts, "budget"), "width"),
                      fact(facts, "memory_bytes"), fact(facts, "kernel")};
  };
  return identity(facts()) == identity(other.facts());
}

std::string build_description() {
  return fmt::format("handoff {} ({}), {}, {}", build_info::version, build_info::commit,
                     build_info::compiler, build_info::flags);
}

}  // namespace handoff::lab
