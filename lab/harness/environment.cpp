// SPDX-License-Identifier: MIT
#include "harness/environment.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <handoff/sync/cpu_budget.hpp>
#include <nlohmann/json.hpp>

#include "build_info.hpp"
#include "harness/counters.hpp"

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

json cpu(hwloc_topology_t topology) {
  const auto count = [&](hwloc_obj_type_t type) {
    return hwloc_get_nbobjs_by_type(topology, type);
  };
  json cpu{{"packages", count(HWLOC_OBJ_PACKAGE)},
           {"numa_nodes", count(HWLOC_OBJ_NUMANODE)},
           {"cores", count(HWLOC_OBJ_CORE)},
           {"hardware_threads", count(HWLOC_OBJ_PU)}};
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const char* model =
      package == nullptr ? nullptr : hwloc_obj_get_info_by_name(package, "CPUModel");
  cpu["model"] = model == nullptr ? json() : json(model);
  json caches = json::array();
  constexpr std::array types{HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE};
  for (std::size_t level = 0; level < types.size(); ++level) {
    const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, types[level], 0);
    if (cache == nullptr) continue;
    caches.push_back({{"level", level + 1},
                      {"bytes", cache->attr->cache.size},
                      {"line_bytes", cache->attr->cache.linesize},
                      {"count", count(types[level])}});
  }
  cpu["caches"] = caches;
  return cpu;
}

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

json load_average() {
  std::array<double, 3> loads{};
  return getloadavg(loads.data(), loads.size()) == 3 ? json(loads) : json();
}

}  // namespace

json environment(const std::vector<std::string>& command_line, std::uint64_t seed,
                 const std::vector<Variable>& variables) {
  utsname system{};
  uname(&system);
  json contenders = json::object();
  for (const Variable& variable : variables) contenders[variable.name] = variable.value;
  json environment{{"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
                   {"budget", budget()},
                   {"memory_bytes", sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)},
                   {"load_average", load_average()},
                   {"counters", counters()},
                   {"kernel", fmt::format("{} {}", system.sysname, system.release)},
                   {"machine", system.machine},
                   {"handoff", {{"version", build_info::version}, {"commit", build_info::commit}}},
                   {"compiler", build_info::compiler},
                   {"flags", build_info::flags},
                   {"command_line", command_line},
                   {"seed", seed},
                   {"variables", variables_set_outside()},
                   {"contender_variables", contenders}};
  const Topology topology = load_topology();
  environment["cpu"] = topology == nullptr ? json() : cpu(topology.get());
  return environment;
}

std::string build_description() {
  return fmt::format("handoff {} ({}), {}, {}", build_info::version, build_info::commit,
                     build_info::compiler, build_info::flags);
}

}  // namespace handoff::lab
