// SPDX-License-Identifier: MIT
#include "scenarios/replay/scenario.hpp"

namespace handoff::lab::replay {
namespace {

class ReplayedLoad final : public Problem {
 public:
  explicit ReplayedLoad(std::shared_ptr<const Load> load) : load_(std::move(load)) {}

  const MemoryFile& input() const override { return load_->input(); }
  std::size_t answer_bytes() const override {
    return load_->view().pieces.size() * sizeof(PieceAnswer);
  }
  double metric(const Reading& reading) const override { return reading.ns_per_item() / 1e6; }
  std::chrono::nanoseconds slowest_operation() const override {
    const Bounds& bounds = load_->bounds();
    return std::chrono::nanoseconds(3 * (bounds.critical_path_ns + bounds.work_ns)) +
           std::chrono::seconds(5);
  }
  // They are as many as CPUs, and the thread that hands over is one more.
  bool threads_share_cpus() const override { return true; }

  // Every piece ran once and whole, after its arrival and after those that it waits for.
  std::optional<std::string> fault(bool /*of_a_limit*/,
                                   std::span<const std::byte> bytes) const override {
    const LoadView load = load_->view();
    std::vector<PieceAnswer> answers(load.pieces.size());
    std::memcpy(answers.data(), bytes.data(), answers.size() * sizeof(PieceAnswer));
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (const auto wrong = fault_of(load.pieces[i], answers[i])) {
        return fmt::format("the piece of line {} {}", load_->line(i), *wrong);
      }
      for (const std::uint32_t child : load.children_of(i)) {
        if (answers[child].begin_ns >= answers[i].end_ns) continue;
        return fmt::format("the piece in line {} began before the piece in line {} had ended",
                           load_->line(child), load_->line(i));
      }
    }
    return {};
  }

 private:
  static std::optional<std::string> fault_of(const LoadPiece& piece, const PieceAnswer& answer) {
    if (answer.runs == ~std::uint64_t{0}) return "was left untouched";
    if (answer.runs != 1) return fmt::format("ran {} times", answer.runs);
    if (answer.begin_ns < piece.arrival_ns) return "began before it arrived";
    // Of its work: the clock of a CPU may become faster after the calibration, but not by so much.
    if (answer.end_ns - answer.begin_ns < piece.work_ns / 4) return "did not do its work";
    return {};
  }

  std::shared_ptr<const Load> load_;
};

}  // namespace

ScenarioTable scenario(const std::shared_ptr<const Load>& load) {
  return {
      .name = "replay",
      .summary = "the pieces of a trace, in every way that fits",
      .metrics = {{"makespan", "ms", false, "from the beginning to the end of the last piece"}},
      .parameters =
          {{"pieces", "of the trace", {"1"}, {}, 1, most_pieces},
           Parameter::one_of("arrivals", "as in the trace, or all at once", {"kept", "at-once"}, {},
                             {"kept"}),
           Parameter::one_of("keys", "some: pieces with the same key run one after the other",
                             {"none", "some"}, {}, {"none"}),
           {"width", "threads that execute, without the one that hands over", {"2"}, {}, 1, 64}},
      .problem = [load](const Cell& /*cell*/) { return std::make_shared<ReplayedLoad>(load); }};
}

}  // namespace handoff::lab::replay
