// SPDX-License-Identifier: MIT
//
// The vocabulary of std::execution (P2300), from stdexec or from the standard library.
//
// Future::as_sender() and ThreadPool::get_scheduler() take their vocabulary (set_value, sender_t
// ...) as a parameter, and so work with whichever library is there: stdexec if
// <stdexec/execution.hpp> is found, else <execution> if that has senders. If neither is there,
// neither are HANDOFF_HAS_SENDERS and StandardWords; but BasicFutureSender and BasicPoolScheduler
// take any type with the members of StandardWords.
#pragma once

#include <exception>
#include <utility>

#include <handoff/config.hpp>

#if __has_include(<stdexec/execution.hpp>)
#include <stdexec/execution.hpp>
#define HANDOFF_HAS_SENDERS 1
#elif __has_include(<execution>)
#include <version>
#if defined(__cpp_lib_senders)
#include <execution>
#define HANDOFF_HAS_SENDERS 1
#endif
#endif

#if defined(HANDOFF_HAS_SENDERS)

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
#if __has_include(<stdexec/execution.hpp>)
namespace senders = ::stdexec;
using ::stdexec::get_stop_token;
#else
namespace senders = ::std::execution;
using ::std::get_stop_token;
#endif
}  // namespace detail

// The vocabulary of the library that was found.
struct StandardWords {
  using scheduler_t = detail::senders::scheduler_t;
  using sender_t = detail::senders::sender_t;
  using operation_state_t = detail::senders::operation_state_t;
  using get_forward_progress_guarantee_t = detail::senders::get_forward_progress_guarantee_t;
  template <class Tag>
  using get_completion_scheduler_t = detail::senders::get_completion_scheduler_t<Tag>;
  template <class... Values>
  using completion_signatures =
      detail::senders::completion_signatures<detail::senders::set_value_t(Values...),
                                             detail::senders::set_error_t(std::exception_ptr),
                                             detail::senders::set_stopped_t()>;
  static constexpr auto parallel = detail::senders::forward_progress_guarantee::parallel;

  template <class Receiver>
  static bool stop_requested(const Receiver& receiver) noexcept {
    return detail::get_stop_token(detail::senders::get_env(receiver)).stop_requested();
  }
  template <class Receiver, class... Values>
  static void set_value(Receiver&& receiver, Values&&... values) noexcept {
    detail::senders::set_value(std::forward<Receiver>(receiver), std::forward<Values>(values)...);
  }
  template <class Receiver>
  static void set_error(Receiver&& receiver, std::exception_ptr error) noexcept {
    detail::senders::set_error(std::forward<Receiver>(receiver), std::move(error));
  }
  template <class Receiver>
  static void set_stopped(Receiver&& receiver) noexcept {
    detail::senders::set_stopped(std::forward<Receiver>(receiver));
  }
};

}}  // namespace handoff::HANDOFF_ABI

#endif
