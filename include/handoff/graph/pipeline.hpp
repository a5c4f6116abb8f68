// SPDX-License-Identifier: MIT
//
// A pipeline: each item goes through all stages, several items at a time, in order where asked.
//
//   handoff::Pipeline pack(pool, {.tokens = 16}, blocks,        // from a channel, a range, ...
//                          handoff::parallel_stage(compress),   // Block -> Packed
//                          handoff::ordered_stage(write));      // Packed -> void
//   handoff::Tally tally = pack.run();
//   handoff::Pipeline live(pool, {}, handoff::Pushed<Frame>(), handoff::parallel_stage(decode),
//                          pictures);                           // into a channel
//   handoff::Status said = live.push(std::move(frame));         // any thread; then live.close()
//
// For: streams. Not for: loops (parallel_for), tasks in a graph (TaskGraph), one stage (a pool).
//
// - Stages: serial_stage() runs one item at a time, ordered_stage() also in the order in which
//   items came, parallel_stage() many. A stage gets what the one before returned, by move.
//   std::optional: an empty one drops the item. Several<T>: the later stages get each of its parts,
//   in order, on one thread at a time. A channel as the last argument is an ordered stage that
//   pushes, and is closed at the end.
// - Source: a Channel, until it is closed; a range; a function that returns an optional, until that
//   is empty; Pushed<T>. Each is asked by one thread at a time. Lvalues are referred to.
// - Concurrency: the thread that made it starts it, waits, closes and destroys it; the rest is
//   thread-safe. In its own stages wait() and close() are misuse. What it refers to outlives it.
// - Order: what came before run() or push() happens before the stages; each stage of an item
//   happens before the next one; calls of a serial stage happen one after another.
// - Threads: an item goes on with the thread that has it. Where it is not its turn, it waits in its
//   place, and the thread takes another one. More threads are called while the source has more. A
//   caller in run(), wait() or push() without a limit works too, so it ends on any executor.
// - Blocks: run(), wait(), close(), push() without room. A stage or a source that blocks holds its
//   thread: use blocking(), as channels do. On an InlineExecutor try_push() runs the stages too.
// - Allocates: when it is made; an item nothing. Full: `tokens` items are in flight. push() then
//   does what on_full says, but in an own stage it returns `full`.
// - Closed: close(Closing::finish) ends a pushed one's source, and waits for the end of any other;
//   finish_until: items that have not begun their next stage by then expire; abandon: they are
//   cancelled. `until` does the same. Returns the exact Tally: an item that reached the end, or was
//   dropped by a stage, is done. The destructor closes with finish.
// - Exceptions: one ends the source. What has not ended is closed as at_failure says: abandon drops
//   what is in flight, finish carries it through. run() and wait() throw PipelineFailed, which has
//   the item, the stage, and the exception. The source's is that of an item that failed.
// Source: oneTBB's parallel_pipeline. Proof: docs/design/pipeline.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/executor.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/graph/detail/pipeline_core.hpp>
#include <handoff/graph/detail/pipeline_line.hpp>
#include <handoff/graph/pipeline_failed.hpp>
#include <handoff/graph/pipeline_options.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/mutex.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

// A source whose items are pushed.
template <class T>
class Pushed {
 public:
  // What push() takes.
  using Item = T;
};

// What a stage returns to make several items of one, none of them too.
template <class T>
class Several {
 public:
  Several() noexcept = default;
  explicit Several(std::vector<T> parts) noexcept : parts_(std::move(parts)) {}

  // One more.
  void push_back(T part) { parts_.push_back(std::move(part)); }

  // Those that are there, in order.
  [[nodiscard]] std::vector<T>& parts() noexcept { return parts_; }

 private:
  std::vector<T> parts_;
};

// Many items at a time. `name`: for texts; it outlives the pipeline.
template <class F>
auto parallel_stage(F&& function, const char* name = "") {
  return detail::Stage<detail::StageOrder::parallel, std::decay_t<F>>{std::forward<F>(function),
                                                                      name};
}
// One item at a time, in any order.
template <class F>
auto serial_stage(F&& function, const char* name = "") {
  return detail::Stage<detail::StageOrder::serial, std::decay_t<F>>{std::forward<F>(function),
                                                                    name};
}
// One item at a time, in the order in which they came from the source.
template <class F>
auto ordered_stage(F&& function, const char* name = "") {
  return detail::Stage<detail::StageOrder::in_order, std::decay_t<F>>{std::forward<F>(function),
                                                                      name};
}

// `Source` and `Stages` are what the constructor is given; references are kept as such.
template <class E, class Source, class... Stages>
class Pipeline {
  static_assert(Executor<E>, "Pipeline: what it runs on is an Executor (core/executor.hpp)");
  static constexpr bool kPushed = detail::is_pushed<std::remove_cvref_t<Source>>;
  using Line = detail::PipelineLine<E, Source, Stages...>;

 public:
  // Runs on `executor`. One that is pushed is started. Throws std::bad_alloc.
  Pipeline(E& executor, const PipelineOptions& options, Source&& source, Stages&&... stages)
      : line_(executor, options, std::forward<Source>(source), std::forward<Stages>(stages)...) {
    if constexpr (kPushed) line_.start(false);
  }
  ~Pipeline() { (void)close(); }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Once: until the source is at its end and all items are. See the head comment.
  Tally run()
    requires(!kPushed)
  {
    begin(false);
    (void)wait();
    return tally();
  }

  // Once: the same without waiting, on the threads of the executor.
  void start()
    requires(!kPushed)
  {
    begin(true);
  }

  // Until no item is in flight, and the source is at its end: ok, timed_out or stopped; these two
  // also if the option `until` has cut the source off, behind run() too. Without a limit the caller
  // works too. Throws PipelineFailed, for a failure since the last call. Misuse before run() or
  // start(). Pushed: also while no item is in flight, before any push() too.
  Status wait(const Until& until = {}) {
    const sync::Waited waited(static_cast<detail::PipelineCore*>(&line_));
    return line_.wait(until);
  }

  // Gives on_full its turn. ok, full, closed, timed_out or stopped.
  template <class From>
    requires kPushed
  Status push(From&& item, const Until& until = {}) {
    for (;;) {
      Status said = line_.try_push(std::forward<From>(item));
      if (said == Status::full) {
        said = line_.make_room(until);
        if (said == Status::ok) continue;
      }
      return said;
    }
  }
  // ok, full or closed.
  template <class From>
    requires kPushed
  Status try_push(From&& item) {
    return line_.try_push(std::forward<From>(item));
  }

  // See the head comment.
  Tally close(const Closing& closing = Closing::finish) {
    const sync::Waited waited(static_cast<detail::PipelineCore*>(&line_));
    return line_.close(closing);
  }

  // What became of the items so far. Exact when none is in flight.
  [[nodiscard]] Tally tally() const { return line_.tally(); }

 private:
  void begin(bool calls) {
    if (std::exchange(has_begun_, true)) misuse("Pipeline: started twice; make another one");
    line_.start(calls);
  }

  Line line_;
  bool has_begun_ = false;
};

// Ends with the types that it is made of.
template <class E, class Source, class... Stages>
Pipeline(E&, const PipelineOptions&, Source&&, Stages&&...) -> Pipeline<E, Source, Stages...>;

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
