// SPDX-License-Identifier: MIT
//
// The recording of a bucket: which recorders there were, where their commands lie, and which calls
// are allowed just now. Not for users.
//
// A recorder writes into a segment of memory from both ends: packets from the front, their entries
// (key and reference) from the back, until they meet. What is left of its segment when it closes is
// the spare of its thread, in which that thread's next recorder goes on. So there is no counter
// that recorders share, and no hole between commands of one thread. Each recorder has a node, with
// the runs of its entries. Nodes are ordered by round and number: rounds count the calls of
// record(), and what is recorded by hand between two of them has one of its own. Concurrency:
// open(), renew(), close(), take_spare(), link() by any thread; the rest by the owner. Memory: all
// of it is the frame's, so a recording ends with its frame, or with clear(). Proof:
// docs/design/command_bucket.md.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <handoff/command/detail/command_packet.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/memory/frame.hpp>
#include <handoff/memory/internal/thread_spaces.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/relaxed.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Entries of one recorder in one segment: the first one ends at `top`, the next one lies below it.
struct alignas(kPacketWord) CommandRun {  // packets follow it
  std::byte* top = nullptr;
  std::size_t count = 0;
  CommandRun* next = nullptr;
};

// Where a recorder stands: the room for packets and entries is what lies between.
struct CommandCursor {
  std::byte* at = nullptr;  // the end of the packets; null: full, where renew() returns it
  std::byte* top = nullptr;  // the beginning of the entries
  std::uint32_t bias = 0;  // what makes a reference of an address

  std::size_t room() const noexcept { return static_cast<std::size_t>(top - at); }
  CommandRef ref_of(const std::byte* start) const noexcept {
    return static_cast<CommandRef>(reinterpret_cast<std::uintptr_t>(start) / kPacketWord) + bias;
  }
};

// One recorder's part; of its thread alone until it closes (CB-1).
struct alignas(sync::cache_line) CommandNode {
  static constexpr std::uint32_t kOfState = ~std::uint32_t{0};  // a round that no other has

  CommandNode* next = nullptr;  // of those that are opened by hand, and of the states
  std::uint32_t round = 0;
  std::uint32_t opened = 0;  // how many there were before it, of those by hand
  std::uint64_t number = 0;
  CommandRun first;
  CommandRun* last = nullptr;  // null: not opened
  std::uint64_t appended = 0;

  // Its recorder begins there, and has ended there.
  void begin(const CommandCursor& cursor) noexcept {
    first.top = cursor.top;
    last = &first;
  }
  void end(const CommandCursor& cursor, std::size_t entry_bytes) const noexcept {
    last->count = static_cast<std::size_t>(last->top - cursor.top) / entry_bytes;
  }
  // With a key.
  std::size_t commands() const noexcept {
    std::size_t count = 0;
    for (const CommandRun* run = &first; run != nullptr; run = run->next) count += run->count;
    return count;
  }
};

// The nodes of one call of record().
struct CommandBatch {
  CommandBatch* next = nullptr;
  CommandNode* nodes = nullptr;
  std::size_t count = 0;
};

class CommandStore {
 public:
  // In the frame's memory; null: in memory of its own. `entry_bytes`: of an entry.
  CommandStore(Frame* frame, std::size_t memory_most, std::size_t entry_bytes);
  ~CommandStore();

  // --- Recorders. ---

  // A node of its own, by hand. Misuse while the bucket is sorted or dispatched.
  CommandNode& open(std::uint64_t number);
  // For a command that is dispatched before all others.
  CommandNode& open_state();
  // What is left of this thread's last segment, to be given back.
  CommandCursor take_spare() noexcept;
  void give_spare(CommandCursor cursor) noexcept;
  // Room for `needed` bytes more. at is null: the bucket is full. Throws std::bad_alloc; then
  // nothing has changed. The cursor comes by value, so that the recorder's can stay in registers.
  CommandCursor renew(CommandNode& node, CommandCursor cursor, std::size_t needed);
  // The end of a node that was begun: its commands count, or are dropped.
  void close(CommandNode& node, CommandCursor cursor, std::uint64_t appended, bool keep) noexcept;
  // One by hand, after close().
  void closed_by_hand(const CommandNode& node) noexcept;
  // Puts `appended` at the end of the chain in which `second` is one behind its first.
  void link(CommandRef second, CommandRef appended) const noexcept;
  CommandPacket packet(CommandRef ref) const noexcept { return CommandPacket(address(ref)); }

  // Nodes for a call of record(); it ends when no recorder of it is left.
  CommandBatch& begin_batch(std::size_t count);
  void end_batch(const CommandBatch& batch) noexcept;

  void refused() noexcept;
  [[noreturn]] static void refuse_full();
  [[noreturn]] static void refuse_aux();

  // --- The owner. ---

  // The recording stays as it is, and its memory too. Misuse while a recorder is open, while
  // another use goes on, or when its frame is over.
  class Use;

  // Forgets the recording.
  void clear();
  // Keeps the memory of the recording; none if there is no recording, or its frame is over.
  Frame::Hold hold() const noexcept { return frame_->try_hold(recorded_in_); }

  // Room for a sort that calls nobody, aligned to a cache line: this thread's in the frame, for all
  // of its buckets. Throws std::bad_alloc.
  std::byte* scratch(std::size_t bytes) const;

  // Counts up with each recording and each recorder: what was made of an older one is out of date.
  std::uint64_t changes() const noexcept { return changes_; }
  // A number of the recording's own; 0: there is none.
  std::uint64_t recording() const noexcept { return recording_; }
  std::size_t nodes() const noexcept { return nodes_; }
  // All nodes of commands: those of record() in their order, then those by hand as they were
  // opened.
  template <class Visitor>
  void each_node(const Visitor& visitor) const;
  const CommandNode* states() const noexcept { return states_; }
  // Takes back what was opened by open_state() behind that one; null: all. By the owner.
  const CommandNode* last_state() const noexcept { return last_state_; }
  void drop_states_behind(const CommandNode* last) noexcept;
  // Where each segment begins, by its number.
  std::size_t segments() const noexcept { return segments_; }
  std::byte* segment(std::size_t number) const noexcept { return segment_place(number); }

  // What became of the present recording; its total is what was recorded.
  void settle(std::uint64_t done, std::uint64_t failed) noexcept {
    done_ = done;
    failed_ = failed;
  }
  Tally tally() const noexcept;
  // Commands of recorders that have closed; also when their frame is over.
  std::uint64_t recorded() const noexcept;
  std::size_t memory() const noexcept { return memory_; }
  std::uint64_t refusals() const noexcept;

 private:
  template <class>
  friend struct Books;
  struct Spare;
  struct Scratch;

  static constexpr std::size_t kFirstLevel = 64;  // segments; each level has twice as many
  static constexpr std::size_t kLevels = kRefSegmentBits - 5;

  static constexpr std::size_t level_of(std::size_t number) noexcept {
    return static_cast<std::size_t>(std::bit_width(number / kFirstLevel + 1)) - 1;
  }
  static constexpr std::size_t first_of(std::size_t level) noexcept {
    return ((std::size_t{1} << level) - 1) * kFirstLevel;
  }
  std::byte*& segment_place(std::size_t number) const noexcept {
    const std::size_t level = level_of(number);
    return levels_[level][number - first_of(level)];
  }
  std::byte* address(CommandRef ref) const noexcept {
    return segment_place(ref >> kRefOffsetBits) + (ref & kRefOffset) * kPacketWord;
  }

  void begin_recording();
  void forget() noexcept;
  void check_free() const;
  CommandNode& add_node(CommandNode*& first, CommandNode*& last, std::uint64_t number);
  Spare* find_spare(ThreadSpace& space) const noexcept;
  Spare& spare_of(ThreadSpace& space) const;
  std::byte* add_segment(Spare& spare, LinearArena& arena, std::size_t needed, std::size_t& bytes,
                         std::size_t& number);

  Frame* const frame_;
  const bool owns_frame_;
  const std::size_t memory_most_;
  const std::size_t entry_bytes_;

  // Under the mutex; what recorders read besides is written while none is there.
  sync::Mutex mutex_;
  bool used_ = false;  // by a Use
  std::uint64_t recording_ = 0;  // a number of its own in the process; 0: none
  std::uint64_t recorded_in_ = 0;  // the frame
  std::uint32_t round_ = 0;
  std::uint64_t changes_ = 0;
  std::size_t nodes_ = 0;
  CommandBatch* first_batch_ = nullptr;
  CommandBatch* last_batch_ = nullptr;
  CommandNode* first_by_hand_ = nullptr;
  CommandNode* last_by_hand_ = nullptr;
  CommandNode* states_ = nullptr;
  CommandNode* last_state_ = nullptr;
  std::size_t segments_ = 0;
  std::size_t memory_ = 0;
  std::array<std::byte**, kLevels> levels_{};

  // Counts of the present recording, and of those before.
  std::uint64_t done_ = 0;
  std::uint64_t failed_ = 0;
  Tally before_;

  alignas(sync::destructive_span) sync::atomic<std::uint64_t> open_{0};  // recorders and batches
  // order: open_ shows both to a reader, which has seen their recorders close.
  sync::relaxed<std::uint64_t> recorded_;  // commands of recorders that have closed
  sync::relaxed<std::uint64_t> dropped_;  // commands of recorders that failed
  sync::relaxed<std::uint64_t> refused_;
};

// While the owner sorts or dispatches.
class CommandStore::Use {
 public:
  explicit Use(CommandStore& store);
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  CommandStore& store_;
  Frame::Hold hold_;
};

template <class Visitor>
void CommandStore::each_node(const Visitor& visitor) const {
  for (const CommandBatch* batch = first_batch_; batch != nullptr; batch = batch->next) {
    for (std::size_t i = 0; i < batch->count; ++i) visitor(batch->nodes[i]);
  }
  for (const CommandNode* node = first_by_hand_; node != nullptr; node = node->next) {
    visitor(*node);
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
