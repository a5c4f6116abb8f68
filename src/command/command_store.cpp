// SPDX-License-Identifier: MIT
#include <handoff/command/detail/command_store.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/internal/relaxed.hpp>
#include <new>
#include <stdexcept>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

namespace {

// The first segments of a thread in a bucket are smaller: many buckets are small.
constexpr std::size_t kSegmentLeast = 4096;
constexpr unsigned kSegmentSteps = 2;  // each four times the one before
constexpr std::size_t kSpareLeast = 64;  // less is left where it is

constinit sync::relaxed<std::uint64_t> recordings;

constexpr char kScratch = 0;  // whose address says whose note it is

}  // namespace

// What a thread has left of its last segment in this bucket.
struct CommandStore::Spare : ThreadNote {
  std::uint64_t recording = 0;
  CommandCursor cursor;
  unsigned segments = 0;  // that it has taken
};

// What a thread sorts in, whatever the bucket.
struct CommandStore::Scratch : ThreadNote {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
};

CommandStore::CommandStore(Frame* frame, std::size_t memory_most, std::size_t entry_bytes)
    : frame_(frame != nullptr ? frame : new Frame(FrameOptions{.in_flight = 1})),
      owns_frame_(frame == nullptr),
      memory_most_(memory_most),
      entry_bytes_(entry_bytes) {}

CommandStore::~CommandStore() {
  if (owns_frame_) delete frame_;
}

// --- The recording as a whole. ---

// Under the mutex: nobody else uses it.
void CommandStore::check_free() const {
  if (used_) {
    misuse("a command bucket was recorded into, or used twice, while it was sorted or dispatched");
  }
}

// Under the mutex: the first recorder of another frame begins another recording.
void CommandStore::begin_recording() {
  check_free();
  const std::uint64_t frame = frame_->number();
  ++changes_;
  if (recorded_in_ == frame) return;
  // order: acquire, as in Use.
  if (open_.load(order::acquire) != 0) {
    misuse("a recorder of a command bucket was still open when its frame was over");
  }
  forget();
  recorded_in_ = frame;
  recording_ = recordings.add(1) + 1;
}

// Under the mutex. What was not dispatched never will be.
void CommandStore::forget() noexcept {
  before_ = tally();
  before_.cancelled += std::exchange(before_.pending, 0);
  recorded_.set(0);  // no recorder is there
  dropped_.set(0);
  done_ = failed_ = 0;
  recording_ = recorded_in_ = 0;
  round_ = 0;
  nodes_ = segments_ = memory_ = 0;
  first_batch_ = last_batch_ = nullptr;
  first_by_hand_ = last_by_hand_ = states_ = last_state_ = nullptr;
  levels_ = {};
}

void CommandStore::clear() {
  const sync::Lock lock(mutex_);
  check_free();
  // order: acquire, as in Use.
  if (open_.load(order::acquire) != 0) {
    misuse("a command bucket was cleared while a recorder of it was open");
  }
  forget();  // equivalent(swap): under the mutex
  ++changes_;
  if (owns_frame_) (void)frame_->next();  // nobody holds it
}

CommandStore::Use::Use(CommandStore& store) : store_(store) {
  const sync::Lock lock(store.mutex_);
  store.check_free();
  // order: acquire pairs with the releases in closed_by_hand() and end_batch(): all that recorders
  // have written is there.
  if (store.open_.load(order::acquire) != 0) {
    misuse("a command bucket was sorted or dispatched while a recorder of it was open");
  }
  if (store.recorded_in_ != 0) {
    hold_ = store.frame_->try_hold(store.recorded_in_);
    if (!hold_) {
      misuse("a command bucket was sorted or dispatched after the frame of its recording was over");
    }
  }
  store.used_ = true;
}

CommandStore::Use::~Use() {
  const sync::Lock lock(store_.mutex_);
  store_.used_ = false;
}

// --- Nodes. ---

// Under the mutex.
CommandNode& CommandStore::add_node(CommandNode*& first, CommandNode*& last, std::uint64_t number) {
  auto* const node = FrameAccess::space(*frame_).arena.make<CommandNode>();
  node->number = number;  // equivalent(swap): under the mutex
  (first == nullptr ? first : last->next) = node;
  last = node;
  ++nodes_;
  // order: relaxed, the mutex orders it before a Use.
  open_.fetch_add(1, order::relaxed);
  return *node;
}

CommandNode& CommandStore::open(std::uint64_t number) {
  const sync::Lock lock(mutex_);
  begin_recording();
  CommandNode& node = add_node(first_by_hand_, last_by_hand_, number);
  node.round = 2 * round_;
  node.opened = static_cast<std::uint32_t>(nodes_);
  return node;
}

CommandNode& CommandStore::open_state() {
  const sync::Lock lock(mutex_);
  begin_recording();
  CommandNode& node = add_node(states_, last_state_, 0);
  node.round = CommandNode::kOfState;
  return node;
}

void CommandStore::drop_states_behind(const CommandNode* last) noexcept {
  const sync::Lock lock(mutex_);
  CommandNode* kept = nullptr;
  CommandNode* dropped = states_;
  for (; kept != last; dropped = kept->next) kept = dropped;
  for (; dropped != nullptr; dropped = dropped->next) --nodes_;
  (kept == nullptr ? states_ : kept->next) = nullptr;  // equivalent(swap): under the mutex
  last_state_ = kept;
}

void CommandStore::closed_by_hand(const CommandNode& node) noexcept {
  if (node.round != CommandNode::kOfState) recorded_.add(node.commands() + node.appended);
  // order: release pairs with the acquire in Use.
  open_.fetch_sub(1, order::release);
}

CommandBatch& CommandStore::begin_batch(std::size_t count) {
  const sync::Lock lock(mutex_);
  begin_recording();
  LinearArena& arena = FrameAccess::space(*frame_).arena;
  auto* const nodes = arena.make_array<CommandNode>(count);
  auto* const batch = arena.make<CommandBatch>();
  batch->nodes = nodes;
  batch->count = count;
  for (std::size_t i = 0; i < count; ++i) {
    nodes[i].round = 2 * round_ + 1;
    nodes[i].number = i;
  }
  (first_batch_ == nullptr ? first_batch_ : last_batch_->next) = batch;
  last_batch_ = batch;
  ++round_;
  nodes_ += count;
  // order: relaxed, the mutex orders it before a Use.
  open_.fetch_add(1, order::relaxed);
  return *batch;
}

void CommandStore::end_batch(const CommandBatch& batch) noexcept {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < batch.count; ++i) {
    count += batch.nodes[i].commands() + batch.nodes[i].appended;
  }
  recorded_.add(count);
  // order: release pairs with the acquire in Use: the loop has ended.
  open_.fetch_sub(1, order::release);
}

// --- Recorders. ---

CommandStore::Spare* CommandStore::find_spare(ThreadSpace& space) const noexcept {
  for (ThreadNote* note = space.notes; note != nullptr; note = note->next) {
    if (note->whose != this) continue;
    auto* const spare = static_cast<Spare*>(note);
    if (spare->recording == recording_) return spare;
  }
  return nullptr;
}

CommandStore::Spare& CommandStore::spare_of(ThreadSpace& space) const {
  if (Spare* const spare = find_spare(space)) return *spare;
  auto* const spare = space.arena.make<Spare>();
  spare->whose = this;
  spare->recording = recording_;
  spare->next = std::exchange(space.notes, spare);
  return *spare;
}

CommandCursor CommandStore::take_spare() noexcept {
  ThreadSpace* const space = FrameAccess::find(*frame_);
  Spare* const spare = space != nullptr ? find_spare(*space) : nullptr;
  return spare != nullptr ? std::exchange(spare->cursor, {}) : CommandCursor();
}

// The larger one of two stays.
void CommandStore::give_spare(CommandCursor cursor) noexcept {
  // equivalent(bound): only memory: whether 64 bytes are used again
  if (cursor.room() < kSpareLeast || frame_->number() != recorded_in_) return;
  ThreadSpace* const space = FrameAccess::find(*frame_);
  Spare* const spare = space != nullptr ? find_spare(*space) : nullptr;
  // equivalent(bound): which of two of the same size stays
  if (spare != nullptr && spare->cursor.room() < cursor.room()) spare->cursor = cursor;
}

std::byte* CommandStore::scratch(std::size_t bytes) const {
  ThreadSpace& space = FrameAccess::space(*frame_);
  Scratch* scratch = nullptr;
  for (ThreadNote* note = space.notes; note != nullptr; note = note->next) {
    if (note->whose == &kScratch) scratch = static_cast<Scratch*>(note);
  }
  if (scratch == nullptr) {
    scratch = space.arena.make<Scratch>();
    scratch->whose = &kScratch;  // equivalent(delete): each sort takes memory of its own
    // equivalent(delete): each sort takes memory of its own
    scratch->next = std::exchange(space.notes, scratch);
  }
  if (scratch->bytes < bytes) {  // equivalent(bound): what was enough is made anew
    const std::size_t more = detail::max(bytes, scratch->bytes + scratch->bytes / 2);
    scratch->memory = static_cast<std::byte*>(space.arena.allocate(more, sync::cache_line));
    scratch->bytes = more;  // equivalent(delete): each sort takes memory of its own
  }
  return scratch->memory;
}

// Under the mutex: a segment that has room for `needed` bytes. Null: the bucket is full.
std::byte* CommandStore::add_segment(Spare& spare, LinearArena& arena, std::size_t needed,
                                     std::size_t& bytes, std::size_t& number) {
  const std::size_t least = aligned_up(sizeof(CommandRun) + needed, kAuxAlignment);
  const std::size_t usual = kSegmentLeast << 2 * detail::min(spare.segments, kSegmentSteps);
  const std::size_t left = memory_most_ - memory_;
  bytes = detail::max(least, detail::min(usual, left & ~(kAuxAlignment - 1)));
  if (least > left || segments_ == kSegmentsMost) return nullptr;
  const std::size_t level = level_of(segments_);
  if (levels_[level] == nullptr) {
    levels_[level] = arena.make_array<std::byte*>(kFirstLevel << level);
  }
  auto* const base = static_cast<std::byte*>(arena.allocate(bytes, sync::cache_line));
  number = segments_++;
  segment_place(number) = base;  // equivalent(swap): under the mutex
  memory_ += bytes;
  ++spare.segments;
  return base;
}

CommandCursor CommandStore::renew(CommandNode& node, CommandCursor cursor, std::size_t needed) {
  if (frame_->number() != recorded_in_) {
    misuse("a command was added after the frame of its recording was over");
  }
  ThreadSpace& space = FrameAccess::space(*frame_);
  Spare& spare = spare_of(space);
  std::size_t bytes = 0;
  std::size_t number = 0;
  std::byte* base = nullptr;
  {
    const sync::Lock lock(mutex_);
    base = add_segment(spare, space.arena, needed, bytes, number);
  }
  if (base == nullptr) return {};
  node.end(cursor, entry_bytes_);
  auto* const run = ::new (base) CommandRun{.top = base + bytes};
  node.last->next = run;
  node.last = run;
  const auto word =
      static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(base) / kPacketWord);
  return {base + sizeof(CommandRun), base + bytes,
          (static_cast<std::uint32_t>(number) << kRefOffsetBits) - word};
}

void CommandStore::close(CommandNode& node, CommandCursor cursor, std::uint64_t appended,
                         bool keep) noexcept {
  // equivalent(swap): two members of one node, of this thread alone
  node.end(cursor, entry_bytes_);
  node.appended = appended;
  if (!keep) {
    dropped_.add(node.commands() + appended);
    node.first = {};  // equivalent(swap): two members of one node, of this thread alone
    // equivalent(delete): nobody asks where the last run is of one that was dropped
    node.last = &node.first;
    node.appended = 0;
  }
  give_spare(cursor);
}

void CommandStore::link(CommandRef second, CommandRef appended) const noexcept {
  CommandRef& hint = packet(second).hint();
  CommandRef end = hint != 0 ? hint : second;
  while (const CommandRef next = packet(end).next()) end = next;
  packet(end).set_next(appended);  // equivalent(swap): two words of a chain, of this thread alone
  hint = appended;
}

void CommandStore::refused() noexcept { refused_.add(1); }

void CommandStore::refuse_full() {
  raise(std::length_error("a command bucket is full: its memory_most, or 16 GiB, is reached"));
}

void CommandStore::refuse_aux() {
  raise(std::length_error("a command has less than 4 GiB of auxiliary memory"));
}

// --- Figures. ---

std::uint64_t CommandStore::recorded() const noexcept { return recorded_.get(); }

Tally CommandStore::tally() const noexcept {
  Tally tally = before_;
  const std::uint64_t dropped = dropped_.get();
  const std::uint64_t recorded = this->recorded();
  tally.accepted += recorded + dropped;
  tally.cancelled += dropped;
  tally.done += done_;
  tally.failed += failed_;
  tally.pending += recorded - done_ - failed_;
  return tally;
}

std::uint64_t CommandStore::refusals() const noexcept { return refused_.get(); }

}}}  // namespace handoff::HANDOFF_ABI::detail
