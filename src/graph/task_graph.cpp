// SPDX-License-Identifier: MIT
//
// Runs of a graph, as its user asks for them.
#include <exception>
#include <handoff/core/internal/unheard.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/graph/task_graph.hpp>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
namespace {

// A run of a graph that the caller waits for.
class WaitedGraphRun {
 public:
  WaitedGraphRun(GraphCore& core, const GraphHost& host) : core_(core), run_(core.take(host)) {
    core_.retain();
  }
  ~WaitedGraphRun() {
    core_.give_back(run_);
    core_.release();
  }
  WaitedGraphRun(const WaitedGraphRun&) = delete;
  WaitedGraphRun& operator=(const WaitedGraphRun&) = delete;

  GraphOptions& options() noexcept { return run_.options(); }
  void check_limits(const OuterNode& outer) const { run_.check_limits(outer); }

  // Adds to `total`. True: all nodes that it accepted are done.
  bool run(const GraphHost& host, const OuterNode& outer, Tally& total) {
    run_.destroy_values();
    (void)run_.begin(host, outer, true);
    run_.wait();
    const Tally tally = run_.settle();
    total.accepted += tally.accepted;
    total.done += tally.done;
    total.failed += tally.failed;
    total.cancelled += tally.cancelled;
    total.expired += tally.expired;
    if (tally.first_failure) total.first_failure = tally.first_failure;
    return tally.done == tally.accepted;
  }
  bool rethrows() const noexcept { return !run_.options().on_error; }

 private:
  GraphCore& core_;
  GraphExecution& run_;
};

Tally checked(Tally tally, bool rethrows) {
  if (tally.first_failure && rethrows) std::rethrow_exception(std::move(tally.first_failure));
  return tally;
}

Tally run_part(const OuterNode& outer, GraphCore& core) {
  const GraphHost& host = outer.run->host();
  WaitedGraphRun run(core, host);
  run.check_limits(outer);
  run.options() = {};
  Tally total;
  (void)run.run(host, outer, total);
  return checked(std::move(total), true);
}

}  // namespace

void GraphPart::operator()(NodeContext& here) const { (void)here.run_core(*core_); }

}  // namespace detail

Tally NodeContext::run(TaskGraph& part) { return run_core(part.core()); }
Tally NodeContext::run_core(detail::GraphCore& core) {
  return detail::run_part({&run_, id_}, core);
}

Tally TaskGraph::run_while(const detail::GraphHost& host, GraphOptions options, std::uint64_t times,
                           bool (*is_over)(void* asked), void* asked) {
  detail::WaitedGraphRun run(core(), host);
  run.check_limits({});
  run.options() = std::move(options);
  Tally total;
  while (times-- != 0 && run.run(host, {}, total)) {
    if (is_over != nullptr && is_over(asked)) break;
  }
  return detail::checked(std::move(total), run.rethrows());
}

GraphRun TaskGraph::start_on(const detail::GraphHost& host, GraphOptions options) {
  GraphRun run(core(), core().take(host));
  run.run_->options() = std::move(options);
  if (!run.run_->begin(host, {}, false)) run.run_->work_here();
  return run;
}

GraphRun::GraphRun(detail::GraphCore& core, detail::GraphExecution& run) noexcept
    : core_(&core), run_(&run) {
  core_->retain();
}

void GraphRun::swap(GraphRun& other) noexcept {
  std::swap(core_, other.core_);
  std::swap(run_, other.run_);
  std::swap(is_settled_, other.is_settled_);
  std::swap(is_rethrown_, other.is_rethrown_);
  std::swap(tally_, other.tally_);
}

void GraphRun::end() noexcept {
  if (run_ == nullptr) return;
  settle();
  if (tally_.first_failure && !is_rethrown_ && !run_->options().on_error) {
    detail::unheard(tally_.first_failure, {.type = "TaskGraph",
                                           .some = "a node",
                                           .the = "the node",
                                           .own = run_->failed_node(),
                                           .remedy = "call GraphRun::wait()"});
  }
  core_->give_back(*run_);
  core_->release();
}

void GraphRun::settle() noexcept {
  if (std::exchange(is_settled_, true)) return;
  run_->wait();
  tally_ = run_->settle();
}

Tally GraphRun::wait_until_done() {
  if (run_ == nullptr) misuse("GraphRun: of nothing; take what TaskGraph::start() returned");
  settle();
  if (!tally_.first_failure || run_->options().on_error || is_rethrown_) return tally_;
  is_rethrown_ = true;
  std::rethrow_exception(tally_.first_failure);
}

void* GraphRun::value_of(detail::NodeId id) {
  if (run_ == nullptr || !is_settled_ || !run_->has_value(id)) {
    misuse("GraphRun: no value; wait() first, and ask for one that a node made and nobody reads");
  }
  return run_->value_of(id);
}

}}  // namespace handoff::HANDOFF_ABI
