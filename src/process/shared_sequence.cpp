// SPDX-License-Identifier: MIT
//
// Messages written and copied, with the two looks that show whether a copy is whole.
#include <handoff/process/detail/shared_sequence.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

std::uint64_t SharedSequence::resume() noexcept {
  // order: relaxed. A predecessor's death, or its end, is known by other means.
  const std::uint64_t tail = shared_->tail.load(sync::order::relaxed);
  // order: relaxed, the same.
  if (place(tail)->load(sync::order::relaxed) != whole(tail)) return tail;
  // It died before it could count this message, which consumers may have read.
  // order: relaxed, consumers find a message by the word of its place.
  shared_->tail.store(tail + 1, sync::order::relaxed);
  return tail + 1;
}

void SharedSequence::write(std::uint64_t position, const std::uint64_t* message) noexcept {
  Word* const word = place(position);
  // order: relaxed, the releases below carry it.
  word->store(whole(position) - 1, sync::order::relaxed);
  for (std::size_t i = 0; i < words_; ++i) {
    // order: release pairs with the acquire in read(): a reader of any of this sees the odd word.
    word[1 + i].store(message[i], sync::order::release);
  }
  // order: release pairs with the first acquire in read(): the message is there.
  word->store(whole(position), sync::order::release);
  // order: release pairs with the acquire in tail(): what it counts is there.
  shared_->tail.store(position + 1, sync::order::release);
  shared_->items.ring();
}

SharedSequence::Found SharedSequence::read(std::uint64_t position,
                                           std::uint64_t* message) const noexcept {
  const Word* const word = place(position);
  // order: acquire pairs with the last release in write(): the message is there.
  const auto ahead = static_cast<std::int64_t>(word->load(sync::order::acquire) - whole(position));
  if (ahead < 0) return Found::not_yet;
  if (ahead > 0) return Found::lapped;
  for (std::size_t i = 0; i < words_; ++i) {
    // order: acquire pairs with the releases in write(), and keeps the look below behind it.
    message[i] = word[1 + i].load(sync::order::acquire);
  }
  // order: relaxed. If anything above was of a later lap, this load cannot miss its odd word.
  const bool same = word->load(sync::order::relaxed) == whole(position);
  return same ? Found::whole : Found::lapped;
}

std::uint64_t SharedSequence::next_after(std::uint64_t position) const noexcept {
  const std::uint64_t oldest = tail() - capacity();
  const bool is_later = static_cast<std::int64_t>(oldest - position) > 1;
  return is_later ? oldest : position + 1;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
