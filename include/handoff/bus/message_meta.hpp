// SPDX-License-Identifier: MIT
//
// What a publisher may say of a message besides, and what a handler may ask about it.
//
//   handoff::Status s =
//       bus.publish(reading, {.admission = handoff::Admission::urgent, .sender = 7});
//   bus.drain([](const Reading& r, const Bus::Meta& meta) { log(meta.sender, meta.sequence); });
//   s = by_priority.publish(alarm, {.priority = handoff::Priority::urgent, .sender = 7});
//
// Both have only what the policies of the bus have: another one's name does not compile.
#pragma once

#include <cstdint>
#include <type_traits>

#include <handoff/bus/admission.hpp>
#include <handoff/bus/bus_policies.hpp>
#include <handoff/bus/topic.hpp>
#include <handoff/config.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/sync/clock.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// Fields that the options of some buses do not have. They take no room, and a program that sets one
// does not compile.
template <class Of>
struct NoField {
  constexpr NoField() noexcept = default;
  template <class Given>
  constexpr NoField(const Given& /*unused*/) {  // NOLINT(google-explicit-constructor)
    static_assert(!std::is_same_v<Of, handoff::Admission>,
                  "no admission: each priority has places of its own in a PriorityMessageBus");
    static_assert(!std::is_same_v<Of, Priority>,
                  "no priority: this bus hands its messages out as they came; a "
                  "PriorityMessageBus hands out the most urgent first");
    static_assert(!std::is_same_v<Of, std::uint64_t>,
                  "no sender: set senders = true in the policies of the bus");
    static_assert(!std::is_same_v<Of, Topic>,
                  "no topic: set topics = true in the policies of the bus");
  }
};
template <bool kHas, class T>
using FieldIf = std::conditional_t<kHas, T, NoField<T>>;

template <class Policies>
inline constexpr bool kByPriority = Policies::order == MessageOrder::by_priority;
template <class Policies>
using AdmissionField = FieldIf<!kByPriority<Policies>, handoff::Admission>;
template <class Policies>
using PriorityField = FieldIf<kByPriority<Policies>, Priority>;
template <class Field>
constexpr Field normal_or_none() noexcept {
  if constexpr (std::is_enum_v<Field>) return Field::normal;
  return Field();
}

}  // namespace detail

// The second argument of publish(). An Admission, or a Priority, will do for it.
template <class Policies>
struct PublishOptions {
  // Whether the message may take one of the last places. Not in a PriorityMessageBus.
  [[no_unique_address]] detail::AdmissionField<Policies> admission =
      detail::normal_or_none<detail::AdmissionField<Policies>>();

  // Which messages come first. In a PriorityMessageBus.
  [[no_unique_address]] detail::PriorityField<Policies> priority =
      detail::normal_or_none<detail::PriorityField<Policies>>();

  // Where the policies have them.
  [[no_unique_address]] detail::FieldIf<Policies::senders, std::uint64_t> sender = {};
  [[no_unique_address]] detail::FieldIf<Policies::topics, Topic> topic = {};
};

namespace detail {

template <bool kHas>
struct SenderPart {};
template <>
struct SenderPart<true> {
  std::uint64_t sender = 0;
};
template <bool kHas>
struct TopicPart {};
template <>
struct TopicPart<true> {
  Topic topic;
};
template <bool kHas>
struct TimePart {};
template <>
struct TimePart<true> {
  sync::clock::time_point time;  // when it was published
};

// What lies beside the message.
template <class Policies>
struct CarriedMeta : SenderPart<Policies::senders>,
                     TopicPart<Policies::topics>,
                     TimePart<Policies::times> {};

}  // namespace detail

// What a handler gets as its second argument. Besides what is below: `sender`, `topic` and `time`,
// where the policies have them.
template <class Policies>
struct MessageMeta : detail::CarriedMeta<Policies> {
  // Which message of this bus it is, and no other one ever. In the order of the messages where
  // there is one for all.
  std::uint64_t id = 0;

  // How many the consumer was handed before.
  std::uint64_t sequence = 0;

  // Whether none lies ready behind it: of its lane, in a bus of lanes. A good moment to flush. What
  // lies behind may be of another type, or a request that has lapsed and is not handed out.
  bool end_of_batch = false;
};

}}  // namespace handoff::HANDOFF_ABI
