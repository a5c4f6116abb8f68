// SPDX-License-Identifier: MIT
#include "harness/machine.hpp"

#include <sys/resource.h>

#include "harness/cpus.hpp"

namespace handoff::lab {
namespace {

namespace fs = std::filesystem;

// "cpu3 user nice system idle iowait irq softirq steal ...", in ticks; see proc(5).
void read_cpu_times(const std::string& root, Look& look) {
  static const std::vector<int> cpus = allowed_cpus();
  const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  std::ifstream file(root + "/proc/stat");
  for (std::string line; std::getline(file, line);) {
    int cpu = -1;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, steal = 0;
    if (!line.starts_with("cpu") || line.starts_with("cpu ")) continue;
    std::istringstream fields(line.substr(3));
    fields >> cpu >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> steal;
    if (!fields || !contains(cpus, cpu)) continue;
    ++look.cpus;
    look.idle_s += (idle + waiting) * tick_s;
    look.stolen_s += steal * tick_s;
    look.interrupts_s += (irq + softirq) * tick_s;
  }
}

double number_in(const fs::path& path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? number : 0;
}

// Of a file with lines "name number".
double number_named(const fs::path& path, const std::string& wanted) {
  std::ifstream file(path);
  double number = 0;
  for (std::string name; file >> name >> number;) {
    if (name == wanted) return number;
  }
  return 0;
}

// By the quota of this process's group, in either version of cgroups.
double throttled_by_quota(const std::string& root) {
  double times = 0;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto controllers = line.find(':');
    const auto path = line.find(':', controllers + 1);
    if (controllers == std::string::npos || path == std::string::npos) continue;
    const std::string which = line.substr(controllers + 1, path - controllers - 1);
    const bool v1 = ("," + which + ",").find(",cpu,") != std::string::npos;
    if (!v1 && !which.empty()) continue;
    const std::string folder = root + "/sys/fs/cgroup" + (v1 ? "/cpu" : "") + line.substr(path + 1);
    times += number_named(folder + "/cpu.stat", "nr_throttled");
  }
  return times;
}

double throttled_for_heat(const std::string& root) {
  double times = 0;
  std::error_code none;  // a guest has no such counters
  for (const auto& entry : fs::directory_iterator(root + "/sys/devices/system/cpu", none)) {
    times += number_in(entry.path() / "thermal_throttle" / "core_throttle_count");
  }
  return times;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double own_cpu_time() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    sum += seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  return sum;
}

// What the counters' resolution may make of nothing: a tick for each CPU at both ends.
double uncertain_s(const Look& look) {
  return 2.0 * look.cpus / static_cast<double>(sysconf(_SC_CLK_TCK));
}

ProcessTable kernel_threads(const std::string& root) {
  ProcessTable all = process_table(root);
  std::erase_if(all, [](const auto& entry) { return !entry.second.is_kernel; });
  return all;
}

// How long the kernel's threads were on a CPU between the two looks. What one did that has ended
// since is not known: it stays others' time. Nothing: they are hidden, or count as others anyway.
std::optional<double> kernel_s(const Look& before, const Look& after) {
  if (!before.kernel || before.kernel->empty()) return {};
  if (!after.kernel || after.kernel->empty()) return {};
  double sum = 0;
  for (const auto& [id, thread] : *after.kernel) sum += seconds_since(*before.kernel, id, thread);
  return std::max(0.0, sum);
}

// Empty: nobody took time.
std::string taken(const Disturbance& seen, double most_cpus, bool kernel_is_hidden) {
  if (seen.foreign_cpus > most_cpus) {
    return fmt::format("other processes{} took {:.2f} CPUs",
                       kernel_is_hidden ? " or the kernel's threads, which are hidden here," : "",
                       seen.foreign_cpus);
  }
  if (seen.stolen_cpus > most_cpus) {
    return fmt::format("the host took {:.2f} CPUs", seen.stolen_cpus);
  }
  if (seen.throttled > 0) return fmt::format("throttled {:.0f} times", seen.throttled);
  return {};
}

// Empty: it was as fast as usual.
std::string slow(const Disturbance& seen, const Speed& usual) {
  constexpr double least_speed = 0.85;  // of the usual one
  if (seen.speed.one < least_speed * usual.one) {
    return fmt::format("one CPU was at {:.0f} % of its usual speed",
                       100 * seen.speed.one / usual.one);
  }
  if (seen.speed.all < least_speed * usual.all) {
    return fmt::format("all CPUs together were at {:.0f} % of their usual speed",
                       100 * seen.speed.all / usual.all);
  }
  return {};
}

}  // namespace

Look look(KernelThreads kernel, const std::string& root) {
  Look look;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  look.time_s = std::chrono::duration<double>(now).count();
  look.own_s = own_cpu_time();
  read_cpu_times(root, look);
  look.throttled = throttled_by_quota(root) + throttled_for_heat(root);
  if (kernel == KernelThreads::work_for_us) look.kernel = kernel_threads(root);
  return look;
}

double most_cpus_for_others(int cpus) { return std::min(0.05 * cpus, 0.5); }

Disturbance disturbance(const Look& before, const Look& after, const Speed& speed,
                        const Speed& usual) {
  Disturbance seen;
  seen.speed = speed;
  const double wall_s = after.time_s - before.time_s;
  if (!(wall_s > 0)) return seen;
  if (after.cpus > 0 && after.cpus == before.cpus) {
    const double stolen = std::max(0.0, after.stolen_s - before.stolen_s);
    const double busy = after.cpus * wall_s - (after.idle_s - before.idle_s) - stolen;
    const std::optional<double> kernel = kernel_s(before, after);
    const double ours = after.own_s - before.own_s + kernel.value_or(0);
    seen.foreign_cpus = std::max(0.0, busy - ours) / wall_s;
    if (kernel) seen.kernel_cpus = *kernel / wall_s;
    seen.stolen_cpus = stolen / wall_s;
  }
  seen.throttled = std::max(0.0, after.throttled - before.throttled);
  const double most_cpus = most_cpus_for_others(after.cpus) + uncertain_s(after) / wall_s;
  seen.reason = taken(seen, most_cpus, after.kernel && !seen.kernel_cpus);
  if (!seen.reason.empty()) {
    const double interrupts = (after.interrupts_s - before.interrupts_s) / wall_s;
    seen.only_foreign = seen.foreign_cpus > most_cpus && !(seen.stolen_cpus > most_cpus) &&
                        !(interrupts > most_cpus) && !(seen.throttled > 0);
    return seen;
  }
  seen.reason = slow(seen, usual);
  seen.only_slow = !seen.reason.empty();
  return seen;
}

}  // namespace handoff::lab
