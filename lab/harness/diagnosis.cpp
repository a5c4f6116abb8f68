// SPDX-License-Identifier: MIT
#include "harness/diagnosis.hpp"

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <handoff/sync/cpu_budget.hpp>

#include "harness/counters.hpp"
#include "harness/file_system.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// The entry `file` of every CPU's folder that has it.
std::vector<std::string> of_every_cpu(const DiagnosisSource& source, const std::string& file) {
  std::vector<std::string> values;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(source.root + "/sys/devices/system/cpu", none)) {
    if (auto value = first_line(entry.path() / file)) values.push_back(*value);
  }
  return values;
}

// always [madvise] never -> madvise
std::optional<std::string> bracketed(const std::optional<std::string>& line) {
  if (!line) return {};
  const auto open = line->find('[');
  const auto close = line->find(']', open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return line->substr(open + 1, close - open - 1);
}

// "MemAvailable:   123 kB" -> 123 * 1024; a count without a unit as it is.
std::optional<std::uint64_t> memory_figure(const DiagnosisSource& source, const std::string& name) {
  std::ifstream file(source.root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name + ":")) continue;
    unsigned long long value = 0;
    char unit[3] = "";
    if (std::sscanf(line.c_str() + name.size() + 1, "%llu %2s", &value, unit) < 1) return {};
    return std::string_view(unit) == "kB" ? value * 1024 : value;
  }
  return {};
}

std::string reason(int error) { return std::strerror(error); }

}  // namespace

Finding find_cpus(const DiagnosisSource& source) {
  const auto budget = sync::cpu_budget({.root = source.root.c_str(), .affinity = source.affinity});
  const bool limited = std::isfinite(budget.quota);
  Finding finding{"cpus", fmt::format("{} may be used", budget.affinity), {}, {}};
  finding.value = {{"affinity", budget.affinity},
                   {"quota_cpus", limited ? json(budget.quota) : json()},
                   {"width", budget.width()}};
  finding.text += limited
                      ? fmt::format(", limited to the time of {:.2f} (cgroup quota)", budget.quota)
                      : ", no quota";
  if (limited && budget.quota < budget.affinity) {
    finding.advice = "the kernel stops all threads when the quota is used up: measure without it";
  }
  if (budget.affinity < 2) finding.advice = "with one CPU nothing is handed over in parallel";
  return finding;
}

Finding find_governor(const DiagnosisSource& source) {
  const auto each = of_every_cpu(source, "cpufreq/scaling_governor");
  const std::set<std::string> governors(each.begin(), each.end());
  if (governors.empty()) {
    return {"governor",
            "none: this machine cannot choose the frequency, as most virtual machines",
            {},
            {}};
  }
  Finding finding{"governor", fmt::format("{}", fmt::join(governors, ", ")), governors, {}};
  if (governors != std::set<std::string>{"performance"}) {
    finding.advice = "cpupower frequency-set -g performance makes figures steadier";
  }
  return finding;
}

Finding find_siblings(const DiagnosisSource& source) {
  const auto each = of_every_cpu(source, "topology/thread_siblings_list");
  const std::set<std::string> cores(each.begin(), each.end());
  if (cores.empty()) return {"siblings", "not known", {}, {}};
  const bool share = cores.size() < each.size();
  return {"siblings",
          share ? fmt::format("hardware threads share cores: {}", fmt::join(cores, "  "))
                : "every CPU claims to be a core of its own (see second CPU)",
          {{"cpus", each.size()}, {"cores", cores.size()}},
          share ? "two busy threads on one core take turns: pin, or switch SMT off" : ""};
}

Finding find_pages(const DiagnosisSource& source) {
  const std::string folder = source.root + "/sys/kernel/mm/transparent_hugepage/";
  const auto huge = bracketed(first_line(folder + "enabled"));
  const auto reserved = memory_figure(source, "HugePages_Total");
  const auto bytes = memory_figure(source, "Hugepagesize");
  const auto available = memory_figure(source, "MemAvailable");
  const long size = sysconf(_SC_PAGESIZE);
  Finding finding{"pages", fmt::format("{} KiB", size / 1024), {}, {}};
  finding.value = {{"bytes", size},
                   {"transparent_huge", huge ? json(*huge) : json()},
                   {"huge_bytes", bytes ? json(*bytes) : json()},
                   {"huge_reserved", reserved ? json(*reserved) : json()},
                   {"available_bytes", available ? json(*available) : json()}};
  finding.text += fmt::format("; transparent huge pages: {}", huge.value_or("not known"));
  if (bytes) finding.text += fmt::format(", of {} KiB", *bytes / 1024);
  if (reserved) finding.text += fmt::format(", {} reserved", *reserved);
  if (available) {
    finding.text += fmt::format("; {:.1f} GiB available", std::ldexp(double(*available), -30));
  }
  if (huge == "never") finding.advice = "large buffers stay on small pages: files are slower";
  return finding;
}

Finding find_load(const DiagnosisSource& source) {
  double one_minute = 0;
  const auto line = first_line(source.root + "/proc/loadavg");
  if (!line || std::sscanf(line->c_str(), "%lf", &one_minute) != 1) {
    return {"load", "not known", {}, {}};
  }
  Finding finding{"load", fmt::format("{:.2f} in the last minute", one_minute), one_minute, {}};
  if (one_minute > 0.3) finding.advice = "another program runs: measure when it has ended";
  return finding;
}

Finding find_io_uring(const DiagnosisSource& source) {
  io_uring_params parameters{};
  const auto ring = static_cast<int>(syscall(SYS_io_uring_setup, 2U, &parameters));
  if (ring >= 0) {
    close(ring);
    return {"io_uring", "works (a ring was made)", true, {}};
  }
  Finding finding{"io_uring", "refused: " + reason(errno), false,
                  "files use plain calls and threads instead"};
  if (const auto disabled = first_line(source.root + "/proc/sys/kernel/io_uring_disabled")) {
    finding.text += fmt::format(" (kernel.io_uring_disabled is {})", *disabled);
  }
  return finding;
}

Finding find_counters(const DiagnosisSource& source) {
  const int counter = open_counter(counter_kinds.front());
  if (counter >= 0) {
    close(counter);
    return {"counters", fmt::format("work ({} were opened)", counter_kinds.front().name), true, {}};
  }
  const int error = errno;
  Finding finding{"counters", "refused: " + reason(error), false, {}};
  if (error == ENOENT || error == EOPNOTSUPP) {
    finding.text += " (the processor, or this guest, has none)";
  }
  const auto level = first_line(source.root + "/proc/sys/kernel/perf_event_paranoid");
  if ((error == EACCES || error == EPERM) && level) {
    finding.text += fmt::format(" (kernel.perf_event_paranoid is {})", *level);
    finding.advice = "sysctl kernel.perf_event_paranoid=1, as root, shows cycles and cache misses";
  }
  return finding;
}

}  // namespace handoff::lab
