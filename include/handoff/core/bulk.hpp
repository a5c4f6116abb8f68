// SPDX-License-Identifier: MIT
//
// Bulk: one index range, many members. The concept that teams of threads, pools, and whatever else
// runs an index range have in common.
//
//   handoff::Tally tally = bulk.run(rows, [&](handoff::IndexRange r) { ... });  // waits
//
//   handoff::BulkOperation operation(  // does not wait
//       bulk, rows, [&](std::size_t first, std::size_t last) { ... },
//       [&](const handoff::Tally& all) noexcept { done.notify(all); });
//   if (operation.start() != handoff::Status::ok) ...
//
// What a model promises:
// - width(): how many blocks run at the same moment; where a caller of run() is none of the members
//   it comes on top.
// - run(count, body, options) calls body(IndexRange) for blocks that cover [0, count) once, on
//   several threads at once, the caller's among them, and returns the Tally when all are done. A
//   block that throws counts as failed, whole; the others run; then run() rethrows the first.
// - start(count, work, storage, options) returns at once. `ok`: work.block(first, last) is called
//   for blocks that cover [0, count) once, by members, and then work.ended(tally) once, by a member
//   that was in the run. It may come before start() returns. Any other Status is a refusal, and
//   neither is ever called; the same if start() throws.
// - Order: what came before run() or start() happens before each block, each block before the
//   return of run() or before ended().
// - Storage: what the model keeps of a started run, in the caller's memory, so that no run needs an
//   allocation. It stays where it is, and so does `work`, until ended() is called; from then on the
//   model touches neither, so ended() may free both, or start them again.
// - Until: the options of start() need not outlive the call. Blocks that have begun run to their
//   end; the rest counts as cancelled or expired, and the run ends as usual.
// - ended() must not throw, and must not wait for other runs of the same Bulk: it is called by one
//   of those that would run them.
//
// docs/adr/0017-bulk-and-parallel-scheduler.md: how senders and C++26's parallel_scheduler map.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/stop_token.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

// What a started run calls.
class BulkWork {
 public:
  // Indices [first, last). An exception makes them failed; the first is in the Tally.
  virtual void block(std::size_t first, std::size_t last) = 0;

  // All is over: with an error if the Tally has a first_failure, stopped if not all is done, else
  // well.
  virtual void ended(const Tally& tally) noexcept = 0;

 protected:
  ~BulkWork() = default;
};

namespace detail {
struct AnyBlockBody {
  void operator()(IndexRange block) const;
};

// A BlockCall; `work` is where the address of the BulkWork is kept.
inline void call_bulk_work(const void* work, IndexRange block) {
  (*static_cast<BulkWork* const*>(work))->block(block.first, block.last);
}
}  // namespace detail

template <class B>
concept Bulk =
    std::default_initializable<typename B::BulkStorage> &&
    requires(B& bulk, const B& same, std::size_t count, const detail::AnyBlockBody& body,
             BulkWork& work, typename B::BulkStorage& storage, const RunOptions& options) {
      { bulk.run(count, body, options) } -> std::same_as<Tally>;
      { bulk.start(count, work, storage, options) } -> std::same_as<Status>;
      { same.width() } -> std::convertible_to<std::size_t>;
    };

// A run that is started and not waited for, with all that it needs: the functions and the storage.
// For: a loop that goes on while its starter does other things; the inside of senders. Not for: a
// loop that the caller waits for (run(), parallel_for), which lends the caller's thread to it.
// Concurrency: start() by one thread at a time. Allocates: nothing, beyond what the Bulk says.
// It stays in place; it ends, or is started again, only when the completion has been called. The
// completion itself may do both. Another start() while it runs is misuse that nobody notices.
template <class B, class Body, class Completion>
class BulkOperation final : private BulkWork {
  static_assert(Bulk<B>, "BulkOperation: runs on a ThreadTeam, a ThreadPool, or another Bulk");
  static_assert(std::is_invocable_v<Body&, std::size_t, std::size_t>,
                "BulkOperation: the body takes the first index and the last, as two numbers");
  static_assert(std::is_nothrow_invocable_v<Completion&, const Tally&>,
                "BulkOperation: the completion takes a const handoff::Tally& and is noexcept");

 public:
  // body(first, last) is called by several threads at once; completion(tally) once a start.
  BulkOperation(B& bulk, std::size_t count, Body body, Completion completion,
                const RunOptions& options = {})
      : bulk_(bulk),
        count_(count),
        options_(detail::keep_in(stop_, options)),
        body_(std::move(body)),
        completion_(std::move(completion)) {}
  BulkOperation(const BulkOperation&) = delete;
  BulkOperation& operator=(const BulkOperation&) = delete;

  // See Bulk. What start() of the Bulk throws leaves this one too.
  [[nodiscard]] Status start() {
    sync::given(this);
    return bulk_.start(count_, *this, storage_, options_);
  }

 private:
  void block(std::size_t first, std::size_t last) override {
    sync::taken(this);
    detail::call_and_drop(body_, first, last);
    sync::given(sync::end_of(this));
  }
  void ended(const Tally& tally) noexcept override {
    sync::taken(sync::end_of(this));
    detail::call_and_drop(completion_, tally);
  }

  B& bulk_;
  const std::size_t count_;
  sync::StopToken stop_;  // of the options
  const RunOptions options_;
  Body body_;
  Completion completion_;
  alignas(sync::destructive_span) typename B::BulkStorage storage_;
};

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
