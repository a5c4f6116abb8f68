// SPDX-License-Identifier: MIT
#include <handoff/command/detail/command_dispatch.hpp>
#include <handoff/core/internal/type_name.hpp>
#include <handoff/core/misuse.hpp>
#include <memory>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

std::string_view name_of(const CommandPacket& packet) noexcept {
  return name_in(packet.type().name);
}

CommandBucketBase::CommandBucketBase(Frame* frame, const CommandBucketOptions& options,
                                     std::size_t entry_bytes)
    : store_(frame, options.memory_most, entry_bytes) {}

void CommandBucketBase::comes_after(const CommandBucketBase& other) {
  if (&other == this) misuse("a command bucket cannot come after itself");
  if (before_count_ == kBeforeMost) misuse("a command bucket comes after at most 16 others");
  before_[before_count_++] = {&other, other.dispatches() - dispatches()};
}

void CommandBucketBase::check_before() const {
  for (std::size_t i = 0; i < before_count_; ++i) {
    const Before& before = before_[i];
    if (before.bucket->dispatches() - before.dispatches <= dispatches()) {
      misuse("a command bucket was dispatched before one that it comes after");
    }
  }
}

std::span<DispatchProgress> CommandBucketBase::progress_of(std::size_t count) {
  auto* const first = progress_room_.room_for<DispatchProgress>(count);
  std::uninitialized_value_construct_n(first, count);
  return {first, count};
}

CommandStatistics CommandBucketBase::figures() const noexcept {
  CommandStatistics figures;
  if (const Frame::Hold hold = store_.hold()) {
    store_.each_node([&](const CommandNode& node) {
      const std::size_t commands = node.commands();
      // equivalent(swap) all: two figures that do not know each other
      figures.recorders += commands != 0;
      figures.commands += commands;
      figures.appended += node.appended;
    });
  }
  figures.segments = store_.segments();
  figures.memory = store_.memory();
  figures.refused = store_.refusals();
  if (folded_in_ == store_.recording()) figures.folded = folded_;
  if (recording_ == store_.recording()) {
    figures.dispatches = dispatches_of_recording_;
    figures.key_changes = key_changes_;
  }
  return figures;
}

CommandBucketBase::Settling::~Settling() {
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t key_changes = 0;
  for (const DispatchProgress& each : progress_) {
    done += each.done;
    failed += each.failed;
    key_changes += each.key_changes;
  }
  if (bucket_.recording_ != bucket_.store_.recording()) {
    // equivalent(swap): two members of the bucket, which its owner alone reads
    bucket_.recording_ = bucket_.store_.recording();
    bucket_.dispatches_of_recording_ = 0;
  }
  ++bucket_.dispatches_of_recording_;
  bucket_.key_changes_ = key_changes;  // equivalent(swap): two figures that do not know each other
  bucket_.store_.settle(whole_ ? bucket_.store_.recorded() : done, failed);
  // order: release pairs with the acquire in dispatches(); only the owner writes it.
  if (whole_) bucket_.dispatches_.store(bucket_.dispatches() + 1, order::release);
}

std::size_t CommandBucketBase::Settling::succeeded() noexcept {
  whole_ = true;
  std::uint64_t done = 0;
  for (const DispatchProgress& each : progress_) done += each.done;
  return static_cast<std::size_t>(done);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
