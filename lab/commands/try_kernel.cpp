// SPDX-License-Identifier: MIT
// `handoff try`: the user's own loop under every way, or a project with such a loop.
#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "commands/session.hpp"
#include "report/json.hpp"
#include "report/try_text.hpp"
#include "scenarios/try/scenario.hpp"
#include "scenarios/try/shared_object.hpp"

namespace handoff::lab {

std::chrono::nanoseconds try_limit_of(const TryOptions& options) {
  constexpr double most = 3600;
  if (!(options.limit_s >= 0.1 && options.limit_s <= most)) {
    throw UserError("--limit takes seconds from 0.1 to {}, not {}", most, options.limit_s);
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(options.limit_s));
}

Cell try_cell_of(const Scenario& trial, const TryOptions& options) {
  Scenario::Values values;
  if (options.width) values.emplace_back("width", std::vector{std::to_string(*options.width)});
  if (options.block) values.emplace_back("block", std::vector{std::to_string(*options.block)});
  return trial.cells(values).front();
}

namespace {

using trial::Answer;
using trial::Trial;

// As many launches as a verdict needs. Nobody is waited for longer than the limit,
// which must not be less than half of the budget.
MeasureOptions measuring(const TryOptions& options) {
  MeasureOptions how = options.measure;
  constexpr double usual_s = 16;
  how.quick = true;
  how.launches = how.launches.value_or(static_cast<int>(kLooks.front()));
  how.time_budget_s = std::min(how.time_budget_s.value_or(usual_s), 2 * options.limit_s);
  return how;
}

// The serial way comes first: the others are held against it.
Session::Block try_block_of(const Session& session, const Trial& trial, const TryOptions& options) {
  const std::vector<Contender> all = contenders_of(trial.name(), session.contenders());
  const Cell cell = try_cell_of(trial, options);
  const std::vector<Contender> wanted = chosen(all, options.contenders);
  Session::Block block;
  for (const Contender& contender : all) {
    if (contender.name == trial::kSerial) block.push_back({contender, cell});
  }
  for (const Contender& contender : wanted) {
    if (contender.name != trial::kSerial) block.push_back({contender, cell});
  }
  if (block.empty() || block.front().contender.name != trial::kSerial) {
    throw UserError("the contenders of `try` are missing; build or install the lab as a whole");
  }
  return block;
}

// What would break one of them may break another one that had luck: they share memory.
bool has_threads(const Measurement& measurement) {
  return measurement.contender.name != trial::kSerial &&
         measurement.contender.name != "own.process_team";
}

class Try {
 public:
  Try(const TryOptions& options, Interrupt& interrupt)
      : options_(options),
        kernel_(std::filesystem::absolute(options.kernel)),
        session_(measuring(options), interrupt),
        trial_(kernel_, try_limit_of(options)),
        block_(try_block_of(session_, trial_, options)),
        measurements_(session_.measurements_of(trial_, block_)) {
    for (Measurement& one : measurements_) one.variables = trial_.variables();
    session_.build({block_});
  }

  // Each way once. Whether there is more than the serial one to be measured.
  bool check() {
    Progress progress(static_cast<int>(measurements_.size()) + 1);
    if (!check_serial(progress)) {
      leave_out("the kernel does not run serially");
      return false;
    }
    for (Measurement& one : measurements_) {
      if (&one != &serial()) check_one(one, progress);
    }
    leave_out_what_is_unsafe();
    return std::ranges::count_if(measurements_, [](const Measurement& one) {
             return one.status == RowStatus::ok;
           }) > 1;
  }

  void measure() {
    session_.prepare(trial_, {block_});
    Progress progress(session_.plan().launches);
    try {
      report_ = session_.bench().measure(measurements_, {}, progress);
    } catch (const Interrupted&) {
      session_.end_early();
      throw;
    }
    leave_out_what_is_unsafe();
    const auto has_figures = [](const Measurement& one) { return !one.launches.empty(); };
    if (std::ranges::count_if(measurements_, has_figures) > 1) return;
    leave_out("there is nothing to compare it with");
  }

  Result finish() {
    const bool was_measured =
        std::ranges::any_of(measurements_, [](const auto& one) { return !one.launches.empty(); });
    if (!was_measured) {
      leave_out("there is nothing to compare it with");
    }
    for (Measurement& one : measurements_) say_which_limit(one.reason);
    session_.finish(trial_, measurements_, report_);
    return session_.result();
  }

  [[nodiscard]] Tried tried(const Result& result) const {
    return {options_.kernel.string(),
            answer_.items,
            measurements_width(),
            options_.width ? "threads" : "CPUs",
            result.rows,
            session_.plan().seed};
  }
  [[nodiscard]] bool broken() const { return session_.broken(); }
  [[nodiscard]] std::string busy() { return session_.busy(); }

 private:
  Measurement& serial() { return measurements_.front(); }
  [[nodiscard]] std::uint64_t measurements_width() const {
    return block_.front().cell.number("width");
  }

  // In two processes: what differs between them, such as an address, is no digest.
  bool check_serial(Progress& progress) {
    progress.show("serial, for its answer");
    const double ns = once(serial());
    if (serial().status == RowStatus::unavailable) {
      const std::string reason = serial().reason;
      throw UserError("{}: {}", options_.kernel.string(), reason);
    }
    if (serial().status != RowStatus::ok) return false;
    trial_.set_reference(answer_.digest, std::chrono::nanoseconds(std::llround(ns)));
    progress.step();
    check_one(serial(), progress);
    return serial().status == RowStatus::ok;
  }

  void check_one(Measurement& one, Progress& progress) {
    progress.show(way_named(one.contender.name));
    static_cast<void>(once(one));
    progress.step();
  }

  // ns of the pass; what it answered is `answer_`. Nothing of it is kept as measured.
  double once(Measurement& one) {
    Answer answer{};
    session_.bench().bench().measure_once(one, std::as_writable_bytes(std::span(&answer, 1)));
    if (one.status != RowStatus::ok) return 0;
    answer_ = answer;
    const Reading& reading = one.launches.front().front();
    const double ns = reading.wall_ns / reading.operations;
    erase_launch(one, 0);
    return ns;
  }

  void leave_out_what_is_unsafe() {
    const auto found = std::ranges::find_if(
        measurements_, [](const auto& one) { return has_threads(one) && is_broken(one.status); });
    if (is_broken(serial().status)) {
      leave_out("the kernel does not run serially");
    } else if (found != measurements_.end()) {
      leave_out(fmt::format("a kernel that breaks under {} is not safe under threads, even where "
                            "its result was right",
                            way_named(found->contender.name)),
                has_threads);
    }
  }

  // Those that have not failed themselves.
  void leave_out(const std::string& why, bool (*which)(const Measurement&) = nullptr) {
    for (Measurement& one : measurements_) {
      const bool has_failed = one.status != RowStatus::ok && one.status != RowStatus::noisy;
      if (!has_failed && (which == nullptr || which(one))) drop(one, {RowStatus::unavailable, why});
    }
  }

  static void say_which_limit(std::string& reason) {
    const auto at = reason.find(kWaitsLonger);
    if (at != std::string::npos) {
      reason.replace(at, std::strlen(kWaitsLonger), "more --limit waits longer");
    }
  }

  const TryOptions& options_;
  std::filesystem::path kernel_;
  Session session_;
  Trial trial_;
  Session::Block block_;
  std::vector<Measurement> measurements_;
  std::optional<BlockReport> report_;
  Answer answer_{};
};

int make_project(const TryOptions& options) {
  if (!options.kernel.empty()) throw UserError("--new DIR takes no kernel: it makes one");
  make_try_project(options.create);
  const std::string folder = options.create.string();
  fmt::print("made {}: next, `make -C {}` and `handoff try {}`\n", folder, folder,
             (options.create / "kernel.so").string());
  return exit_code::ok;
}

}  // namespace

int try_kernel(const TryOptions& options) {
  if (!options.create.empty()) return make_project(options);
  if (options.kernel.empty()) {
    throw UserError("try takes a shared object, KERNEL.so, or --new DIR, which makes one");
  }
  static_cast<void>(try_limit_of(options));
  if (options.races) return look_for_races(options);
  const trial::SharedObject object = trial::look_at_shared_object(options.kernel);
  if (!object.race_runtime.empty()) {
    throw UserError(
        "{}: it was built with ThreadSanitizer: `handoff try --tsan` looks for races, "
        "and only one built without it is timed",
        options.kernel.string());
  }
  require_output(options.measure.output, {});
  Interrupt interrupt;
  Try one(options, interrupt);
  if (one.check()) one.measure();
  const std::string busy = one.busy();
  if (!busy.empty()) fmt::print(stderr, "{}\n", busy);
  const Result result = one.finish();
  const TryText answer = try_text(one.tried(result));
  keep_and_show([&] { write_result(options.measure, result); },
                [&] { write_text({}, options.json ? to_json_text(result) : answer.text); });
  if (one.broken()) return exit_code::broken;
  return answer.told ? exit_code::ok : exit_code::too_noisy;
}

}  // namespace handoff::lab
