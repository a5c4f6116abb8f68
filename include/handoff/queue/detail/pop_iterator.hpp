// SPDX-License-Identifier: MIT
//
// What range-for over a channel goes by: pops, and ends when the channel is closed and drained. Not
// for users, who write the loop.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Holds the item that was popped last.
template <class Source>
class PopIterator {
 public:
  using value_type = typename Source::value_type;
  using difference_type = std::ptrdiff_t;

  explicit PopIterator(Source& channel) : channel_(&channel), item_(channel.pop()) {}

  value_type& operator*() const noexcept { return *item_; }
  PopIterator& operator++() {
    item_ = channel_->pop();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const PopIterator& it, std::default_sentinel_t) noexcept {
    return !it.item_.has_value();
  }

 private:
  Source* channel_;
  mutable std::optional<value_type> item_;  // the range's own, in whose place it stands
};

}}}  // namespace handoff::HANDOFF_ABI::detail
