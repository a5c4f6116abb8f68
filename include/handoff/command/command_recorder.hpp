// SPDX-License-Identifier: MIT
//
// One sequence of commands of a bucket: what record() gives to its function, and recorder(i) to a
// caller that records by hand.
//
//   Draw& draw = recorder.add<Draw>(key);                 // filled in place, no second call
//   draw.mesh = mesh;
//   Copy& copy = recorder.append<Copy>(draw, bytes);      // right after the draw, without a key
//   std::memcpy(handoff::aux_of(copy).data(), from, bytes);
//
// A recorder is a number, not a thread: equal keys are in the order of their recorders' numbers,
// and in each as it added them.
//
// - Concurrency: of one thread at a time; another one may take it over, ordered by the program. Two
//   at a time with the same number have no order between them. append() is for commands of the same
//   recorder; by hand also for those of one that is closed and ordered before.
// - A reference is valid as long as the recording: until its frame is over, or clear(). It is not
//   moved by whatever is added, sorted or dispatched.
// - Allocates: a segment of memory when the last one is full. Where the system has none,
//   std::bad_alloc, and nothing was added. Blocks: then, for a short lock.
// - Full: try_add() and try_append() return null, add() and append() throw std::length_error.
// - A command that is not filled has what its default constructor gives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <handoff/command/command_aux.hpp>
#include <handoff/command/detail/command_order.hpp>
#include <handoff/command/detail/command_packet.hpp>
#include <handoff/command/detail/command_store.hpp>
#include <handoff/command/detail/command_type.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
template <class Bucket>
struct BucketParts;
}

template <class Key, class... Backends>
class CommandBucket;

template <class Key, class... Backends>
class CommandRecorder {
 public:
  // Its bucket's.
  using key_type = Key;

  // Closes: the commands are part of the recording.
  ~CommandRecorder() {
    if (node_ == nullptr) return;
    store_->close(*node_, cursor_, appended_, keeps_);
    if (by_hand_) store_->closed_by_hand(*node_);
  }
  CommandRecorder(CommandRecorder&& other) noexcept
      : store_(other.store_),
        node_(std::exchange(other.node_, nullptr)),
        cursor_(other.cursor_),
        appended_(other.appended_),
        by_hand_(other.by_hand_),
        keeps_(other.keeps_) {}
  CommandRecorder& operator=(CommandRecorder&&) = delete;

  // A command with this key, to be filled, and `aux_bytes` of auxiliary memory (aux_of()).
  template <class C>
  C& add(Key key, std::size_t aux_bytes = 0) {
    return *add_with<C, kMust>(key, aux_bytes);
  }

  // Null if the bucket is full.
  template <class C>
  [[nodiscard]] C* try_add(Key key, std::size_t aux_bytes = 0) {
    return add_with<C, kMay>(key, aux_bytes);
  }

  // A command without a key, which is dispatched behind `parent` and what was appended to its chain
  // before: after each other, whatever is sorted.
  template <class C, class Parent>
  C& append(Parent& parent, std::size_t aux_bytes = 0) {
    static_assert(detail::PlainCommand<Parent>, "append: it is appended to a command");
    return *append_to<C, kMust>(detail::packet_of(parent), aux_bytes);
  }
  template <class C, class Parent>
  [[nodiscard]] C* try_append(Parent& parent, std::size_t aux_bytes = 0) {
    static_assert(detail::PlainCommand<Parent>, "append: it is appended to a command");
    return append_to<C, kMay>(detail::packet_of(parent), aux_bytes);
  }

 private:
  template <class K, class... B>
  friend class CommandBucket;
  template <class Bucket>
  friend struct detail::BucketParts;
  template <class>
  friend struct detail::Books;

  using Entry = detail::CommandEntry<Key>;
  // What a full bucket does: throws, or says no.
  static constexpr bool kMust = true;
  static constexpr bool kMay = false;
  // What needs more lies alone in its segment.
  static constexpr std::size_t kLarge =
      detail::kSegmentBytes - sizeof(detail::CommandRun) - detail::kAuxAlignment;

  // By hand.
  CommandRecorder(detail::CommandStore& store, detail::CommandNode& node) noexcept
      : CommandRecorder(store, node, store.take_spare(), true) {}
  // Goes on where another one has ended. One that is not by hand counts only if it is finished.
  CommandRecorder(detail::CommandStore& store, detail::CommandNode& node,
                  detail::CommandCursor cursor, bool by_hand) noexcept
      : store_(&store), node_(&node), cursor_(cursor), by_hand_(by_hand), keeps_(by_hand) {
    node.begin(cursor);
  }
  // Its commands count. Where the next one goes on.
  detail::CommandCursor finish() noexcept {
    // equivalent(swap): two members of one node, of this thread alone
    node_->end(cursor_, sizeof(Entry));
    node_->appended = appended_;
    node_ = nullptr;
    return cursor_;
  }

  template <class C>
  static consteval void check_command() {
    static_assert(detail::PlainCommand<C>,
                  "a command is a plain struct: trivially copyable, and made without an argument "
                  "and without an exception");
    static_assert(sizeof(C) <= detail::kSegmentBytes && alignof(C) <= 4096,
                  "a command is too large: put its bytes into its auxiliary memory");
    static_assert((detail::DispatchableTo<C, Backends> && ...),
                  "a command says what it does for each backend of the bucket: command(backend), "
                  "C::dispatch(command, backend), or the backend is called with the command");
  }
  template <class C>
  static const detail::CommandType& type_of() noexcept {
    return detail::CommandTypeIn<C, Backends...>::kType;
  }

  // At most, wherever it begins.
  template <class C>
  static std::size_t bytes_of(std::size_t aux_bytes) {
    constexpr std::size_t plain =
        detail::kPacketBytes<C> + detail::kPacketAlignment<C> - detail::kPacketWord;
    if (aux_bytes == 0) [[likely]]
      return plain;
    if (aux_bytes > detail::kAuxMost) detail::CommandStore::refuse_aux();
    return plain + detail::kPacketPrefix +
           detail::aligned_up(aux_bytes + detail::kAuxAlignment, detail::kPacketWord);
  }
  template <class C>
  static std::byte* aligned(std::byte* at) noexcept {
    if constexpr (detail::kPacketAlignment<C> > detail::kPacketWord) {
      return detail::aligned_up(at, detail::kPacketAlignment<C>);
    } else {
      return at;
    }
  }
  // The command itself; what follows begins behind it.
  template <class C>
  C* place(std::byte* start, std::size_t aux_bytes) noexcept {
    std::byte* const at = start + detail::kCommandOffset<C>;
    C* const command = ::new (at) C;
    if (aux_bytes == 0) [[likely]] {
      cursor_.at = start + detail::kPacketBytes<C>;
    } else {
      cursor_.at =
          detail::aligned_up(detail::aux_begin(at + sizeof(C)) + aux_bytes, detail::kPacketWord);
    }
    return command;
  }

  // equivalent(bound): only memory: the last bytes of a segment
  bool has_room(std::size_t needed) const noexcept { return cursor_.room() >= needed; }
  // The cursor goes by value, and so can stay in registers while there is room.
  template <bool kThrows>
  bool take_room(std::size_t needed) {
    const detail::CommandCursor next = store_->renew(*node_, cursor_, needed);
    if (next.at == nullptr) [[unlikely]] {
      store_->refused();
      if constexpr (kThrows) detail::CommandStore::refuse_full();
      return false;
    }
    cursor_ = next;
    return true;
  }

  template <class C, bool kThrows>
  C* add_with(Key key, std::size_t aux_bytes) {
    check_command<C>();
    const std::size_t needed = bytes_of<C>(aux_bytes) + sizeof(Entry);
    if (!has_room(needed)) [[unlikely]] {
      if (!take_room<kThrows>(needed)) return nullptr;
    }
    std::byte* start = aligned<C>(cursor_.at);
    if (aux_bytes == 0) [[likely]] {
      detail::CommandPacket::make(start, type_of<C>());
    } else {
      start = aligned<C>(cursor_.at + detail::kPacketPrefix);
      detail::CommandPacket::make_marked(start, type_of<C>(),
                                         static_cast<std::uint32_t>(aux_bytes));
    }
    C* const command = place<C>(start, aux_bytes);
    // equivalent(delete): a check that the compiler makes; it does nothing when run
    cursor_.top -= sizeof(Entry);
    ::new (cursor_.top) Entry{key, cursor_.ref_of(start)};
    // equivalent(bound): only memory: what just fits a segment has one of its own
    if (needed > kLarge) [[unlikely]]
      cursor_.at = cursor_.top;  // behind it no reference reaches
    return command;
  }

  template <class C, bool kThrows>
  C* append_to(const detail::CommandPacket& before, std::size_t aux_bytes) {
    check_command<C>();
    const std::size_t needed = bytes_of<C>(aux_bytes) + detail::kPacketPrefix;
    if (!has_room(needed)) [[unlikely]] {
      if (!take_room<kThrows>(needed)) return nullptr;
    }
    std::byte* const start = aligned<C>(cursor_.at + detail::kPacketPrefix);
    // equivalent(delete): a check that the compiler makes; it does nothing when run
    detail::CommandPacket::make_marked(start, type_of<C>(), static_cast<std::uint32_t>(aux_bytes));
    C* const command = place<C>(start, aux_bytes);
    const detail::CommandRef mine = cursor_.ref_of(start);
    if (const detail::CommandRef next = before.next(); next == 0) {
      before.set_next(mine);
    } else {
      store_->link(next, mine);
    }
    ++appended_;
    // equivalent(bound): only memory: what just fits a segment has one of its own
    if (needed > kLarge) [[unlikely]]
      cursor_.at = cursor_.top;
    return command;
  }

  detail::CommandStore* store_;
  detail::CommandNode* node_;
  detail::CommandCursor cursor_;
  std::uint64_t appended_ = 0;
  bool by_hand_;
  bool keeps_;
};

}}  // namespace handoff::HANDOFF_ABI
