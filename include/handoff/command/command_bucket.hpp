// SPDX-License-Identifier: MIT
//
// Commands that many threads record, and that are sorted by key and dispatched in that order.
//
//   handoff::Frame frame;                                    // their memory, thrown away as one
//   handoff::CommandBucket<std::uint64_t, Gpu> bucket(frame);
//   using Recorder = handoff::CommandBucket<std::uint64_t, Gpu>::Recorder;
//   bucket.record(pool, meshes, 64, [&](Recorder& recorder, handoff::IndexRange range) {
//     for (auto i : range) recorder.add<Draw>(key_of(i)).mesh = i;
//   });
//   bucket.sort(pool);
//   bucket.dispatch(gpu);                                    // gpu: a Gpu&
//
// A command is a plain struct that says what it does: `void operator()(Gpu& gpu) const`. Its
// backends are those of the bucket, each of which it can be dispatched to, as often as wanted.
//
// For: draw calls, disk requests, updates: many small things, made by many threads, that are better
// done in another order. Not for: work that wants to run in parallel (a pool); things with an owner
// or a destructor (MessageBus, EventQueue).
//
// Contract: deferred tier. There is no close(); a recording ends with clear(), or with its frame.
// - Concurrency: recorder() by any thread; a Recorder is that of one thread at a time. All else by
//   the owner, one thread at a time, and while no recorder is open. A command that is added while
//   the bucket is sorted or dispatched, or after its frame is over, is misuse, told where a
//   recorder takes memory or is opened; in between it is undefined.
// - Order: by key; equal keys by (call of record(), recorder, sequence); what was appended right
//   behind its command. It depends on nothing else: neither on threads nor on stealing. What came
//   before the end of record(), or of a recorder, happens before a dispatch.
// - Blocks: never, but for a short lock where a recorder is opened or takes memory.
// - Allocates: recorders, in the frame; sort() and dispatch(), as much as the largest recording.
//   std::bad_alloc leaves a bucket that can be used: a chunk in which it was thrown is dropped,
//   what was recorded stays.
// - Full: it grows; beyond CommandBucketOptions::memory_most try_add() returns null, and add()
//   throws std::length_error.
// - Exceptions: one of a function that records drops its chunk, whose commands count as cancelled,
//   and leaves record(). One of a command ends the dispatch; the command counts as failed, the rest
//   stays pending. The next dispatch begins anew.
// - Destruction calls no user code. Commands are trivial, and their memory is the frame's.
// - tally(): what the last dispatch made of each command, and in total what became of earlier ones.
// Proof: docs/design/command_bucket.md.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <handoff/command/command_options.hpp>
#include <handoff/command/command_recorder.hpp>
#include <handoff/command/command_statistics.hpp>
#include <handoff/command/detail/bucket_parts.hpp>
#include <handoff/command/detail/command_dispatch.hpp>
#include <handoff/command/detail/command_image.hpp>
#include <handoff/command/detail/command_order.hpp>
#include <handoff/command/detail/command_store.hpp>
#include <handoff/command/detail/command_type.hpp>
#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/memory/frame.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// Calls change(key, backend) before the first command of a dispatch, and before each one whose key
// differs from that of the command before in one of these bits: what is set by it is not set again
// and again.
//
//   bucket.dispatch(gpu, handoff::when_changed(Key::mask<"material">(), bind_material));
template <class F>
struct KeyChange {
  std::uint64_t mask = 0;
  F change;
};
template <class F>
[[nodiscard]] KeyChange<std::decay_t<F>> when_changed(std::uint64_t mask, F&& change) {
  return {mask, std::forward<F>(change)};
}

template <class Key, class... Backends>
class CommandBucket : private detail::CommandBucketBase {
  static_assert(
      std::same_as<Key, std::uint16_t> || std::same_as<Key, std::uint32_t> ||
          std::same_as<Key, std::uint64_t>,
      "a command bucket's key is std::uint16_t, std::uint32_t or std::uint64_t; a SortKey "
      "converts to them");
  static_assert(sizeof...(Backends) > 0,
                "a command bucket names the backends that its commands are for");

 public:
  // What it is sorted by, and what records into it.
  using key_type = Key;
  // As above.
  using Recorder = CommandRecorder<Key, Backends...>;

  // In the memory of a frame, which outlives it. A recording ends when its frame is over, and the
  // first recorder of another frame begins the next one.
  explicit CommandBucket(Frame& frame, const CommandBucketOptions& options = {})
      : CommandBucketBase(&frame, options, sizeof(Entry)) {}
  // In memory of its own. A recording ends with clear().
  explicit CommandBucket(const CommandBucketOptions& options = {})
      : CommandBucketBase(nullptr, options, sizeof(Entry)) {}

  // --- Recording. ---

  // Calls f(recorder, range) for chunks of [0, count), of `chunk` indices each, on whatever runs
  // loops; each chunk has a recorder of its number. Behind what was recorded before. Rethrows the
  // first exception of f; chunks that nobody had begun by then are left out.
  template <class E, class F>
  void record(E& executor, std::size_t count, std::size_t chunk, F&& f) {
    handoff::record_into(executor, count, chunk, f, *this);
  }

  // One to record by hand. It closes at its end.
  [[nodiscard]] Recorder recorder(std::uint64_t number) {
    return Recorder(store_, store_.open(number));
  }

  // A command that comes before all others in each dispatch, to each backend: targets, viewport,
  // matrices. Several in the order of these calls. By the owner.
  template <class C>
  C& state(std::size_t aux_bytes = 0) {
    Recorder recorder(store_, store_.open_state());
    return recorder.template add<C>(Key{0}, aux_bytes);
  }

  // Forgets the recording; what was pending counts as cancelled. Memory of its own is used again.
  void clear() {
    store_.clear();
    // equivalent(delete): a clear counts as a change, so all is gathered anew before anybody looks
    order_.clear();
  }

  // --- Order. ---

  // By key, on the calling thread, or on whatever runs loops. Without it commands are dispatched in
  // the order of their recorders.
  void sort() { sort_by(detail::PartsRun()); }
  template <class E>
  void sort(E& executor) {
    sort_by(detail::PartsRun::on(executor));
  }

  // Calls merge(previous, next) for neighbours that are both a C without a chain. True: `previous`
  // has taken `next` in, which is left out from here on. If it throws, what it has said holds, and
  // the rest stays as it is. A recording is neither added to nor sorted after it.
  template <class C, class F>
  CommandMerge merge(F&& fold) {
    static_assert(std::is_invocable_r_v<bool, F&, C&, const C&>,
                  "merge: the function takes (C& previous, const C& next) and says whether it has "
                  "taken `next` in");
    const detail::CommandStore::Use use(store_);
    arrange(detail::PartsRun());
    folded_in_ = store_.recording();
    const std::size_t before = order_.size();
    detail::fold_neighbours<C>(order_, detail::CommandTypeIn<C, Backends...>::kType, fold, folded_);
    return {before, order_.size()};
  }

  // --- Dispatching. ---

  // Dispatches all commands in their order; returns how many, with those that were appended. To any
  // of the bucket's backends, or to what derives from one.
  template <class B>
  std::size_t dispatch(B& backend) {
    detail::NoKeyChange filter;
    return dispatch_here(backend, filter);
  }
  template <class B, class F>
    requires std::is_invocable_v<F&, Key, B&>
  std::size_t dispatch(B& backend, KeyChange<F> filter) {
    detail::KeyFilter<Key, F> each{.mask = static_cast<Key>(filter.mask), .change = filter.change};
    return dispatch_here(backend, each);
  }

  // The same in pieces, each to a backend of its own, at the same time: what `lists` have got one
  // after the other is what one would have got. Each gets the state first.
  template <class E, class B, std::size_t kSize>
    requires RunsLoops<E>
  std::size_t dispatch(E& executor, std::span<B, kSize> lists) {
    return dispatch_parallel(executor, std::span<B>(lists), detail::NoKeyChange());
  }
  // A filter begins anew in each piece; its function is called by several threads at once.
  template <class E, class B, std::size_t kSize, class F>
    requires(RunsLoops<E> && std::is_invocable_v<F&, Key, B&>)
  std::size_t dispatch(E& executor, std::span<B, kSize> lists, KeyChange<F> filter) {
    const detail::KeyFilter<Key, F> each{.mask = static_cast<Key>(filter.mask),
                                         .change = filter.change};
    return dispatch_parallel(executor, std::span<B>(lists), each);
  }

  // Declares that this bucket is dispatched after that one, which outlives it: then a dispatch
  // without one of the other before it is misuse.
  template <class K, class... B>
  void after(const CommandBucket<K, B...>& other) {
    comes_after(other.base());
  }

  // --- Files. Commands are written as their bytes: without pointers, for the same program. ---

  // All commands in their order, with their keys, as bytes that load() takes, or in a file. The
  // file is whole and in its place, or this throws std::system_error. Where several capture to one
  // path at a time the last one's stays.
  [[nodiscard]] detail::CommandImage captured() {
    const detail::CommandStore::Use use(store_);
    arrange(detail::PartsRun());
    return Parts::image_of(*this);
  }
  void capture(const char* path) { detail::write_image(path, captured()); }

  // Records what was captured, by one recorder, in the same order; returns how many commands. An
  // image that is cut off, damaged, of another version, or of other types than these, is refused
  // before anything is recorded: std::runtime_error with one line that says why. Where the bucket
  // is full, or there is no memory, nothing of it is recorded either.
  template <class... Commands>
  std::size_t load(std::span<const std::byte> image, std::uint64_t number = 0) {
    static_assert(sizeof...(Commands) > 0, "load: name the types of commands that it may have");
    return Parts::template load<Commands...>(*this, image, number);
  }
  template <class... Commands>
  std::size_t load(const char* path, std::uint64_t number = 0) {
    return load<Commands...>(detail::read_image(path), number);
  }

  // --- Figures, by the owner. ---

  // What became of all commands that were ever recorded.
  [[nodiscard]] Tally tally() const noexcept { return store_.tally(); }
  // The figures of this recording.
  [[nodiscard]] CommandStatistics statistics() const noexcept {
    CommandStatistics figures = this->figures();
    if (sorted_ && sorted_in_ == store_.recording()) figures.sort = order_.way();
    return figures;
  }

  // visitor(key, name of the type) for each command in its order, without those that were appended.
  template <class Visitor>
  void inspect(const Visitor& visitor) {
    const detail::CommandStore::Use use(store_);
    arrange(detail::PartsRun());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const detail::CommandPacket packet(order_.address(order_.ref(i)));
      detail::call_and_drop(visitor, order_.key(i), detail::name_of(packet));
    }
  }

 private:
  template <class>
  friend struct detail::Books;
  template <class Bucket>
  friend struct detail::BucketParts;
  template <class K, class... B>
  friend class CommandBucket;

  using Entry = detail::CommandEntry<Key>;
  using Progress = detail::DispatchProgress;
  using Parts = detail::BucketParts<CommandBucket>;

  const CommandBucketBase& base() const noexcept { return *this; }

  // All that was recorded is in the order; by key, if this recording was sorted before. In a Use.
  void arrange(const detail::PartsRun& run) {
    if (arranged_ == store_.changes()) return;
    if (folded_ != 0 && folded_in_ == store_.recording()) {
      misuse("a command bucket was recorded into after its commands were merged");
    }
    arranged_ = 0;  // equivalent(delete): an older state is out of date as well
    folded_ = 0;
    sorted_ = false;  // equivalent(swap): behind a gathering that throws all is gathered anew
    order_.gather(store_, run);
    if (sorted_in_ == store_.recording() && sorted_in_ != 0) {
      order_.sort(store_, run);  // equivalent(swap): behind a sort that throws all is gathered anew
      sorted_ = true;
    }
    arranged_ = store_.changes();
  }

  void sort_by(const detail::PartsRun& run) {
    const detail::CommandStore::Use use(store_);
    arrange(run);
    if (sorted_) return;
    if (folded_ != 0) misuse("a command bucket was sorted after its commands were merged");
    order_.sort(store_, run);
    sorted_ = true;  // equivalent(swap): two members of the bucket, which its owner alone reads
    sorted_in_ = store_.recording();
  }

  template <class B>
  static constexpr std::size_t kIndexOf = detail::backend_index<B, Backends...>();
  template <class B>
  static consteval void check_backend() {
    static_assert(kIndexOf<B> < sizeof...(Backends),
                  "dispatch: this is none of the bucket's backends, nor derived from one");
  }
  // As the dispatch functions take it.
  template <class B>
  static void* erased(B& backend) noexcept {
    using Target = typename detail::NthType<kIndexOf<B>, Backends...>::type;
    return static_cast<Target*>(&backend);
  }

  template <class B, class Filter>
  void dispatch_piece(B& backend, Filter& filter, IndexRange range, Progress& progress) const {
    using Dispatcher = detail::CommandDispatcher<sizeof...(Backends), kIndexOf<B>>;
    void* const to = erased(backend);
    for (const detail::CommandNode* state = store_.states(); state != nullptr;
         state = state->next) {
      detail::dispatch_state<Dispatcher>(*state, order_, to);
    }
    detail::dispatch_items<Dispatcher>(order_.view(), range, to, backend, filter, progress);
  }

  template <class B, class Filter>
  std::size_t dispatch_here(B& backend, Filter& filter) {
    check_backend<B>();
    const detail::CommandStore::Use use(store_);
    // equivalent(delete): a check that the compiler makes; it does nothing when run
    // equivalent(swap): which of two refusals comes first; nothing is dispatched
    check_before();
    arrange(detail::PartsRun());
    Progress progress;
    Settling settling(*this, {&progress, 1});
    dispatch_piece(backend, filter, {0, order_.size()}, progress);
    return settling.succeeded();
  }

  template <class E, class B, class Filter>
  std::size_t dispatch_parallel(E& executor, std::span<B> lists, const Filter& filter) {
    check_backend<B>();
    if (lists.empty()) misuse("a command bucket was dispatched to no backend at all");
    const detail::CommandStore::Use use(store_);
    // equivalent(delete): a check that the compiler makes; it does nothing when run
    check_before();
    const detail::PartsRun run = detail::PartsRun::on(executor);
    arrange(run);
    const std::span<Progress> progress = progress_of(lists.size());
    Settling settling(*this, progress);
    const std::size_t count = order_.size();
    run(lists.size(), [&](std::size_t i) {
      Filter mine = filter;
      dispatch_piece(lists[i], mine,
                     {detail::part_begin(i, lists.size(), count),
                      detail::part_begin(i + 1, lists.size(), count)},
                     progress[i]);
    });
    return settling.succeeded();
  }

  detail::CommandOrder<Key> order_;
};

}}  // namespace handoff::HANDOFF_ABI
