// SPDX-License-Identifier: MIT
//
// The longer parts of a command bucket: recording by chunks, images. Users have record_into().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include <handoff/command/command_aux.hpp>
#include <handoff/command/command_recorder.hpp>
#include <handoff/command/detail/command_image.hpp>
#include <handoff/command/detail/command_order.hpp>
#include <handoff/command/detail/command_packet.hpp>
#include <handoff/command/detail/command_store.hpp>
#include <handoff/command/detail/command_type.hpp>
#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/parallel_for.hpp>

namespace handoff { inline namespace HANDOFF_ABI {
namespace detail {

template <class Bucket>
struct BucketParts {
  using Recorder = typename Bucket::Recorder;
  using Key = typename Bucket::key_type;

  // What one thread has of it for some chunks: each recorder goes on where the one before has
  // ended.
  class Lane {
   public:
    Lane(CommandStore& store, CommandBatch& batch) noexcept : store_(store), batch_(batch) {
      const CommandCursor spare = store_.take_spare();  // by way of a copy: see renew()
      cursor_ = spare;
    }
    ~Lane() { store_.give_spare(cursor_); }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    Recorder begin(std::size_t chunk) noexcept {
      return Recorder(store_, batch_.nodes[chunk], std::exchange(cursor_, {}), false);
    }
    void finish(Recorder& recorder) noexcept { cursor_ = recorder.finish(); }

   private:
    CommandStore& store_;
    CommandBatch& batch_;
    CommandCursor cursor_;  // none while a recorder has it
  };

  // A bucket while record() goes on.
  class Batch {
   public:
    Batch(Bucket& bucket, std::size_t chunks)
        : store_(bucket.store_), batch_(store_.begin_batch(chunks)) {}
    ~Batch() { store_.end_batch(batch_); }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    Lane lane() const noexcept { return Lane(store_, batch_); }

   private:
    CommandStore& store_;
    CommandBatch& batch_;
  };

  // --- Images. ---

  static CommandImage image_of(Bucket& bucket) {
    CommandImageWriter writer(sizeof(Key));
    const auto& order = bucket.order_;
    for (const CommandNode* state = bucket.store_.states(); state != nullptr; state = state->next) {
      for_each_entry<Key>(*state, [&](const CommandEntry<Key>& entry) {
        writer.put(CommandKind::state, 0, CommandPacket(order.address(entry.ref)));
      });
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      CommandKind kind = CommandKind::add;
      for (CommandRef ref = order.ref(i); ref != 0;) {
        const CommandPacket packet(order.address(ref));
        writer.put(kind, order.key(i), packet);
        kind = CommandKind::append;
        ref = packet.next();
      }
    }
    return writer.finish();
  }

  // The states of a load, which are taken back if it throws.
  struct LoadedStates {
    explicit LoadedStates(CommandStore& loaded_to) noexcept
        : store(loaded_to), before(loaded_to.last_state()) {}
    ~LoadedStates() {
      if (!keeps) store.drop_states_behind(before);
    }
    LoadedStates(const LoadedStates&) = delete;
    LoadedStates& operator=(const LoadedStates&) = delete;

    CommandStore& store;
    const CommandNode* const before;
    bool keeps = false;
  };

  // What is recorded from an image, and the command to append to.
  struct Loading {
    Bucket& bucket;
    Recorder& recorder;
    CommandPacket chain;
  };

  template <class C>
  static void load_one(Loading& loading, const ParsedCommand& from) {
    const std::size_t aux = from.aux.size();
    C* command = nullptr;
    switch (from.kind) {
      case CommandKind::add:
        command = &loading.recorder.template add<C>(static_cast<Key>(from.key), aux);
        loading.chain = packet_of(*command);
        break;
      case CommandKind::append:
        command = loading.recorder.template append_to<C, Recorder::kMust>(loading.chain, aux);
        break;
      case CommandKind::state: command = &loading.bucket.template state<C>(aux); break;
    }
    std::memcpy(static_cast<void*>(command), from.bytes.data(), sizeof(C));
    if (aux != 0) std::memcpy(handoff::aux_of(*command).data(), from.aux.data(), aux);
  }

  template <class... Commands>
  static std::size_t load(Bucket& bucket, std::span<const std::byte> image, std::uint64_t number) {
    const std::array<const CommandType*, sizeof...(Commands)> types{
        &Recorder::template type_of<Commands>()...};
    using Load = void (*)(Loading&, const ParsedCommand&);
    constexpr std::array<Load, sizeof...(Commands)> loads{&load_one<Commands>...};
    CommandParser parser(image, sizeof(Key), types);
    Recorder recorder = bucket.recorder(number);
    recorder.keeps_ = false;
    LoadedStates states(bucket.store_);
    Loading loading{bucket, recorder, CommandPacket(nullptr)};
    for (ParsedCommand command; parser.next(command);) loads[command.type](loading, command);
    recorder.keeps_ = states.keeps = true;
    return parser.size();
  }
};

// call(recorder...), with one of each lane for this chunk. What throws drops what all have added.
template <class Call>
void with_recorders(std::size_t /*chunk*/, const Call& call) {
  call();
}
template <class Call, class Lane, class... Rest>
void with_recorders(std::size_t chunk, const Call& call, Lane& first, Rest&... rest) {
  auto recorder = first.begin(chunk);
  detail::with_recorders(chunk, [&](auto&... more) { call(recorder, more...); }, rest...);
  first.finish(recorder);
}

}  // namespace detail

// Records into several buckets at once: f(recorder, ..., range), with a recorder for each bucket,
// in their order. Otherwise as CommandBucket::record().
//
//   handoff::record_into(pool, meshes, 64, f, gbuffer, shadow);
template <class E, class F, class... Buckets>
void record_into(E& executor, std::size_t count, std::size_t chunk, F&& f, Buckets&... buckets) {
  static_assert(RunsLoops<E>,
                "record: runs on a ThreadTeam, a ThreadPool, or another Bulk or Executor");
  constexpr bool is_recording = std::is_invocable_v<F&, typename Buckets::Recorder&..., IndexRange>;
  static_assert(is_recording,
                "record: the function takes a recorder for each bucket, as auto&, and a "
                "handoff::IndexRange");
  if (chunk == 0) misuse("record: a chunk has at least one index");
  if constexpr (is_recording && RunsLoops<E>) {
    const std::size_t chunks = count / chunk + (count % chunk != 0 ? 1 : 0);
    const auto record_some = [&](IndexRange some, auto&&... lanes) {
      for (const std::size_t number : some) {
        const std::size_t first = number * chunk;
        const IndexRange range{first, count - first < chunk ? count : first + chunk};
        detail::with_recorders(
            number, [&](auto&... recorders) { detail::call_and_drop(f, recorders..., range); },
            lanes...);
      }
    };
    const auto record_all = [&](auto&&... batches) {
      handoff::parallel_for(executor, std::size_t{0}, chunks,
                            [&](IndexRange some) { record_some(some, batches.lane()...); });
    };
    record_all(typename detail::BucketParts<Buckets>::Batch(buckets, chunks)...);
  }
}

// Sorts several buckets at the same time on whatever runs loops, each on one thread: as each would
// be by its sort(). For one large bucket give the executor to that.
//
//   handoff::sort_all(pool, gbuffer, shadow, lighting);
template <class E, class... Buckets>
void sort_all(E& executor, Buckets&... buckets) {
  static_assert(RunsLoops<E>,
                "sort_all: runs on a ThreadTeam, a ThreadPool, or another Bulk or Executor");
  if constexpr (RunsLoops<E>) {
    handoff::parallel_for(executor, std::size_t{0}, sizeof...(Buckets), [&](IndexRange some) {
      for (const std::size_t number : some) {
        std::size_t i = 0;
        ((i++ == number ? buckets.sort() : void()), ...);
      }
    });
  }
}

}}  // namespace handoff::HANDOFF_ABI
