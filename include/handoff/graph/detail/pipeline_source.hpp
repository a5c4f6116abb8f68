// SPDX-License-Identifier: MIT
//
// What a Pipeline takes its items from, and what its stages make of one: the types, and one way to
// call each. Not for users.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/pool/blocking.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class T>
class Pushed;
template <class T>
class Several;

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_several = false;
template <class T>
inline constexpr bool is_several<Several<T>> = true;
template <class T>
inline constexpr bool is_pushed = false;
template <class T>
inline constexpr bool is_pushed<Pushed<T>> = true;

template <class S>
concept ChannelLike = requires(S& channel, typename S::value_type& item, const Until& until) {
  { channel.try_pop(item) } -> std::same_as<Status>;
  { channel.pop(item, until) } -> std::same_as<Status>;
  channel.close();
};
template <class S>
concept Generator =
    std::is_invocable_v<S&> && is_optional<std::remove_cvref_t<std::invoke_result_t<S&>>>;

// next(until): an item, or nothing if there will be none.
template <class S>
class PipelineSource;

template <class S>
  requires is_pushed<std::remove_cvref_t<S>>
class PipelineSource<S> {
 public:
  using Item = typename std::remove_cvref_t<S>::Item;
  explicit PipelineSource(const S& /*unused*/) noexcept {}
};

template <class S>
  requires ChannelLike<std::remove_cvref_t<S>>
class PipelineSource<S> {
 public:
  static_assert(std::is_lvalue_reference_v<S>, "a pipeline refers to its channel");
  using Item = typename std::remove_cvref_t<S>::value_type;
  explicit PipelineSource(S channel) noexcept : channel_(channel) {}

  std::optional<Item> next(const Until& until) {
    std::optional<Item> item = channel_.try_pop();
    if (!item.has_value()) item = blocking([&] { return channel_.pop(until); });
    return item;
  }

 private:
  S channel_;
};

template <class S>
  requires Generator<std::remove_reference_t<S>>
class PipelineSource<S> {
 public:
  using Item =
      typename std::remove_cvref_t<std::invoke_result_t<std::remove_reference_t<S>&>>::value_type;
  explicit PipelineSource(S&& generator) : generator_(std::forward<S>(generator)) {}

  std::optional<Item> next(const Until& /*unused*/) { return detail::invoke(generator_); }

 private:
  S generator_;
};

template <class S>
  requires(std::ranges::input_range<std::remove_reference_t<S>> &&
           !ChannelLike<std::remove_cvref_t<S>>)
class PipelineSource<S> {
  using Range = std::remove_reference_t<S>;
  // The elements of a container that the pipeline owns are moved out of it.
  static constexpr bool kMoves = !std::is_lvalue_reference_v<S> && !std::ranges::view<Range>;

 public:
  using Item = std::ranges::range_value_t<Range>;
  explicit PipelineSource(S&& range) : range_(std::forward<S>(range)) {}

  std::optional<Item> next(const Until& /*unused*/) {
    if (!at_.has_value()) {
      at_.emplace(std::ranges::begin(range_));
    } else if (*at_ != std::ranges::end(range_)) {
      ++*at_;
    }
    if (*at_ == std::ranges::end(range_)) return std::nullopt;
    if constexpr (kMoves) {
      return std::optional<Item>(std::ranges::iter_move(*at_));
    } else {
      return std::optional<Item>(**at_);
    }
  }

 private:
  S range_;
  std::optional<std::ranges::iterator_t<Range>> at_;  // of the last item
};

// ---- Stages -------------------------------------------------------------------------------------

enum class StageOrder { parallel, serial, in_order };

// What one call gives on: Kept for optional<Kept>, Several<Kept>, Kept.
template <class R>
struct Given {
  using Type = R;
};
template <class T>
struct Given<std::optional<T>> {
  using Type = T;
};
template <class T>
struct Given<Several<T>> {
  using Type = T;
};

// The element of what lies in a token.
template <class T>
struct Carried {
  using Element = T;
  static constexpr bool is_many = false;
};
template <class T>
struct Carried<Several<T>> {
  using Element = T;
  static constexpr bool is_many = true;
};

template <class F, class Element>
decltype(auto) call_stage(F& function, Element& element) {
  if constexpr (std::is_invocable_v<F&, Element&&>) {
    return detail::invoke(function, std::move(element));
  } else {
    static_assert(std::is_invocable_v<F&, Element&>,
                  "Pipeline: a stage takes what the stage before it, or the source, gives");
    return detail::invoke(function, element);
  }
}

// What a stage whose token carries In leaves in it.
template <class F, class In>
struct StageResult {
  using Element = typename Carried<In>::Element;
  using Returned =
      std::remove_cvref_t<decltype(call_stage(std::declval<F&>(), std::declval<Element&>()))>;
  using Part = typename Given<Returned>::Type;
  static constexpr bool is_many = Carried<In>::is_many || is_several<Returned>;
  static constexpr bool is_nothing = std::is_void_v<Returned>;
  using Type = std::conditional_t<is_many && !is_nothing,
                                  Several<std::conditional_t<is_nothing, char, Part>>, Part>;
};

}  // namespace detail

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
