// SPDX-License-Identifier: MIT
// `handoff doctor`: is this machine fit to be measured on, and what is missing.
#include "commands/commands.hpp"

#include <nlohmann/json.hpp>

#include "commands/output.hpp"
#include "commands/self_test.hpp"
#include "harness/atomic_file.hpp"
#include "harness/diagnosis.hpp"
#include "harness/two_cores.hpp"
#include "scenarios/registry.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

Finding find_processor(const std::optional<Cpu>& cpu) {
  if (!cpu) return {"processor", "not known", {}, {}};
  std::string text = fmt::format("{}; {} cores, {} hardware threads, {} NUMA nodes",
                                 cpu->model.empty() ? "unnamed" : cpu->model, cpu->cores,
                                 cpu->hardware_threads, cpu->numa_nodes);
  return {"processor", text, to_json(*cpu), {}};
}

Finding find_caches(const std::optional<Cpu>& cpu) {
  if (!cpu || cpu->caches.empty()) return {"caches", "not known", {}, {}};
  std::vector<std::string> caches;
  for (const Cache& cache : cpu->caches) {
    const std::uint64_t kib = cache.bytes / 1024;
    const std::string size =
        kib < 1024 ? fmt::format("{} KiB", kib) : fmt::format("{} MiB", kib / 1024);
    caches.push_back(fmt::format("{}x L{} {}", cache.count, cache.level, size));
  }
  return {"caches", fmt::format("{}", fmt::join(caches, ", ")), to_json(cpu->caches), {}};
}

// Which other programs want the CPUs: nothing of ours runs meanwhile.
Finding find_foreign() {
  const Look before = look();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const Disturbance seen = disturbance(before, look(), {}, {});
  Finding finding{"others", {}, {}, {}};
  finding.text = fmt::format("other processes take {:.2f} CPUs, the host steals {:.2f}",
                             seen.foreign_cpus, seen.stolen_cpus);
  finding.value = {{"foreign_cpus", seen.foreign_cpus}, {"stolen_cpus", seen.stolen_cpus}};
  if (!seen.reason.empty()) finding.advice = seen.reason + ": figures would be too noisy";
  return finding;
}

Finding find_second_cpu() {
  const auto cores = measure_two_cores();
  if (!cores) return {"second CPU", "there is none for this process", {}, {}};
  const bool real = cores->scaling() > 1.8;
  const std::string text = fmt::format(
      "CPUs {} and {} do {:.2f}x as much as one ({:.1f} GFLOP/s): {}; a cache line's round trip "
      "{:.0f} ns",
      cores->first, cores->second, cores->scaling(), cores->one_gflops,
      real ? "a real core" : "less than two cores", cores->round_trip_ns);
  return {"second CPU",
          text,
          {{"scaling", cores->scaling()},
           {"one_gflops", cores->one_gflops},
           {"both_gflops", cores->both_gflops},
           {"round_trip_ns", cores->round_trip_ns}},
          real ? "" : "the gain from two threads here says nothing about machines with more cores"};
}

Finding find_contenders(const std::vector<Contender>& contenders) {
  const Scenarios scenarios = all_scenarios();
  std::map<std::string, std::set<std::string>> missing;  // by package
  int there = 0;
  int not_built = 0;  // of those that no package was missing for
  int all = 0;
  for (const Contender& contender : contenders) {
    const bool can_be_asked_for = std::ranges::any_of(
        scenarios, [&](const auto& scenario) { return scenario->name() == contender.scenario; });
    if (!can_be_asked_for) continue;
    ++all;
    if (contender.built()) {
      ++there;
    } else if (contender.package.empty()) {
      ++not_built;
    } else {
      missing[contender.package].insert(contender.scenario + " " + contender.name);
    }
  }
  Finding finding{"contenders", fmt::format("{} of {} are there", there, all), {}, {}};
  if (not_built > 0) finding.text += fmt::format(", {} were not built", not_built);
  finding.value = {{"there", there}, {"not_built", not_built}, {"missing", missing}};
  std::vector<std::string> lines;
  for (const auto& [package, names] : missing) {
    const char* const how = package.starts_with("github.com/") ? "see" : "apt-get install";
    lines.push_back(fmt::format("{}: {} {}", fmt::join(names, ", "), how, package));
  }
  finding.advice = fmt::format("{}", fmt::join(lines, "\n"));
  return finding;
}

std::vector<Finding> find_all(const DoctorOptions& options) {
  const DiagnosisSource source;
  const std::optional<Cpu> cpu = this_cpu();
  return {find_processor(cpu),   find_caches(cpu),
          find_cpus(source),     find_siblings(source),
          find_governor(source), find_pages(source),
          find_io_uring(source), find_counters(source),
          find_load(source),     find_foreign(),
          find_second_cpu(),     find_contenders(read_contenders(options.manifests))};
}

std::string text_of(const Finding& finding) {
  std::string text = fmt::format("{:<12}{}\n", finding.name, finding.text);
  std::istringstream advice(finding.advice);
  for (std::string line; std::getline(advice, line);) {
    if (!line.empty()) text += fmt::format("{:<12}! {}\n", "", line);
  }
  return text;
}

// Data goes to stdout as text or JSON, and as JSON to the file that was asked for.
void deliver(const DoctorOptions& options, const json& data, const std::string& text) {
  const std::string dumped = data.dump(2) + "\n";
  const auto write = [&] {
    if (!options.output.empty()) write_atomically(options.output, dumped);
  };
  keep_and_show(write, [&] { write_text({}, options.json ? dumped : text); });
}

int run_self_test(const DoctorOptions& options) {
  const std::uint64_t seed = options.seed.value_or(std::random_device{}());
  const auto comparisons = self_test(options, seed);
  const SelfTestSummary summary = summary_of(comparisons);
  json data{{"self_test", to_json(summary, comparisons)},
            {"environment", Environment::here(options.command_line, seed, {}).facts()}};
  deliver(options, data, summary.text());
  return summary.exit_code;
}

}  // namespace

int doctor(const DoctorOptions& options) {
  if (!options.output.empty()) require_writable(options.output);
  if (options.self_test) return run_self_test(options);
  const std::vector<Finding> findings = find_all(options);
  json data = json::object();
  for (const Finding& finding : findings) {
    std::string key = finding.name;
    std::ranges::replace(key, ' ', '_');
    data[key] = {{"value", finding.value}, {"text", finding.text}, {"advice", finding.advice}};
  }
  std::string text;
  for (const Finding& finding : findings) text += text_of(finding);
  deliver(options, data, text);
  return exit_code::ok;
}

}  // namespace handoff::lab
