// SPDX-License-Identifier: MIT
//
// A task that waits for the results of others, without a thread and without a graph.
//
//   auto words = pool.submit(count_words, page);
//   auto links = pool.submit(count_links, page);
//   auto sum = pool.submit(handoff::after(std::move(words), std::move(links)), std::plus<>());
//
// It gets the results in their order, void ones left out, and has a Future itself. If one of them
// has no result it does not run, and its get() throws what that of the first of those would have
// thrown. For what runs often, a TaskGraph.
// Contract: as when_all() and Future::then(). Allocates: twice, beside the task.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <handoff/config.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/when_all.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// A part as a tuple of arguments: none for a void.
inline std::tuple<> argument_of(std::monostate&& /*nothing*/) noexcept { return {}; }
template <class R>
std::tuple<R&&> argument_of(R&& part) noexcept {
  return std::tuple<R&&>(std::forward<R>(part));
}

}  // namespace detail

// What submit() takes before the function.
template <class... Rs>
class [[nodiscard]] After {
 public:
  using WaitedFor = std::tuple<Future<Rs>...>;

  // Takes the Futures, which are not empty.
  explicit After(Future<Rs>&&... futures) : futures_(std::move(futures)...) {}

  // As a task of any executor, which outlives the call.
  template <class E, class F>
  auto submit_to(E& executor, F&& function) && {
    auto all = std::apply([](auto&... each) { return when_all(std::move(each)...); }, futures_);
    auto call = [own = std::decay_t<F>(std::forward<F>(function))](
                    std::tuple<detail::PartResult<Rs>...>&& parts) mutable {
      const auto apply = [&own](auto&&... each) {
        return std::apply(
            [&own](auto&&... arguments) {
              return detail::invoke(own, std::forward<decltype(arguments)>(arguments)...);
            },
            std::tuple_cat(detail::argument_of(std::forward<decltype(each)>(each))...));
      };
      return std::apply(apply, std::move(parts));
    };
    return std::move(all).then(executor, std::move(call));
  }

 private:
  std::tuple<Future<Rs>...> futures_;
};

// The Futures, which are taken over. An empty one is misuse.
template <class... Rs>
After<Rs...> after(Future<Rs>... futures) {
  static_assert(sizeof...(Rs) != 0, "after: what is the task to wait for?");
  return After<Rs...>(std::move(futures)...);
}

}}  // namespace handoff::HANDOFF_ABI
