// SPDX-License-Identifier: MIT
//
// The forms of a handler: f(message), f(message, meta) or f(message, sequence, end_of_batch). What
// it returns is ignored. Not for users.
//
// The Meta is made only for a handler that asks: its end_of_batch is a look at the next place, on
// which a producer may be writing.
#pragma once

#include <cstdint>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class F, class T, class Meta>
inline constexpr bool kHandlesWithMeta = std::is_invocable_v<F&, T&, const Meta&>;
template <class F, class T>
inline constexpr bool kHandlesInBatches = std::is_invocable_v<F&, T&, std::uint64_t, bool>;
template <class F, class T, class Meta>
inline constexpr bool kHandles =
    kHandlesWithMeta<F, T, Meta> || kHandlesInBatches<F, T> || std::is_invocable_v<F&, T&>;

// `meta()` gives the Meta; it is not called where the handler does not ask.
template <class Meta, class F, class T, class MakeMeta>
[[gnu::always_inline]] inline void call_handler(F& handler, T& message, MakeMeta&& meta) {
  if constexpr (kHandlesWithMeta<F, T, Meta>) {
    const Meta& made = meta();
    detail::call_and_drop(handler, message, made);
  } else if constexpr (kHandlesInBatches<F, T>) {
    const Meta& made = meta();
    detail::call_and_drop(handler, message, std::uint64_t{made.sequence}, bool{made.end_of_batch});
  } else {
    detail::call_and_drop(handler, message);
  }
}

// The Meta of a message that several handlers share: made once, when the first one asks.
template <class Meta>
class SharedMeta {
 public:
  // `make` outlives it.
  template <class Make>
  explicit SharedMeta(const Make& make) noexcept
      : make_([](const void* how) -> Meta { return (*static_cast<const Make*>(how))(); }),
        how_(&make) {}
  SharedMeta(const SharedMeta&) = delete;
  SharedMeta& operator=(const SharedMeta&) = delete;

  const Meta& operator()() const {
    if (!is_made_) {
      meta_ = make_(how_);  // equivalent(swap): of this call alone
      is_made_ = true;  // equivalent(delete): only speed: made again of the same place
    }
    return meta_;
  }

 private:
  Meta (*make_)(const void* how);
  const void* how_;
  mutable Meta meta_;
  mutable bool is_made_ = false;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
