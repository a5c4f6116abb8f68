// SPDX-License-Identifier: MIT
//
// What the order of a bus makes of it: its options, its rings, and the classes of its messages. Not
// for users.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/bus/admission.hpp>
#include <handoff/bus/bus_policies.hpp>
#include <handoff/bus/detail/message_ring.hpp>
#include <handoff/bus/message_bus_options.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/class_turns.hpp>
#include <handoff/core/priority.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

inline constexpr std::size_t kPriorities = 4;
constexpr std::size_t index_of(Priority priority) noexcept {
  return static_cast<std::size_t>(priority);
}

// Where a message has no class whose turn it could be.
struct NoTurns {
  template <class Options>
  explicit NoTurns(const Options& /*options*/) noexcept {}
};

template <MessageOrder>
struct BusOrder {
  using Turns = NoTurns;
  using Options = MessageBusOptions;
  using Class = handoff::Admission;
  static constexpr std::size_t kClasses = kAdmissions;
  static std::size_t rings(const Options& /*options*/) noexcept { return 1; }
};

// A ring that is shared, and lanes.
template <>
struct BusOrder<MessageOrder::per_producer> {
  using Turns = NoTurns;
  using Options = LanedMessageBusOptions;
  using Class = handoff::Admission;
  static constexpr std::size_t kClasses = kAdmissions;
  static std::size_t rings(const Options& options) noexcept { return options.lanes + 1; }
};

// A ring for each class.
template <>
struct BusOrder<MessageOrder::by_priority> {
  struct Turns {
    explicit Turns(const PriorityMessageBusOptions& options) noexcept
        : limit(options.starvation_limit) {}
    template <class Take>
    auto next(Take&& take) noexcept {
      return of.next(limit, take);
    }
    const std::uint32_t limit;
    ClassTurns<kPriorities> of;
  };
  using Options = PriorityMessageBusOptions;
  using Class = Priority;
  static constexpr std::size_t kClasses = kPriorities;
  static std::size_t rings(const Options& /*options*/) noexcept { return kClasses; }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
