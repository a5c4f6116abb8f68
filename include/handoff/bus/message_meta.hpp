// SPDX-License-Identifier: MIT
//
// What a publisher may say of a message besides, and what a handler may ask about it.
//
//   handoff::Status s =
//       bus.publish(reading, {.admission = handoff::Admission::urgent, .sender = 7});
//   bus.drain([](const Reading& r, const Bus::Meta& meta) { log(meta.sender, meta.sequence); });
//
// Both have only what the policies of the bus have: another one's name does not compile.
#pragma once

#include <cstdint>
#include <type_traits>

#include <handoff/bus/admission.hpp>
#include <handoff/bus/topic.hpp>
#include <handoff/config.hpp>
#include <handoff/sync/clock.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// The second argument of publish(). An Admission will do for it. `sender` and `topic` are there
// where the policies have them.
template <bool kSenders, bool kTopics>
struct PublishOptions {
  // The class of the message.
  Admission admission = Admission::normal;
};
// As above.
template <>
struct PublishOptions<true, false> {
  Admission admission = Admission::normal;
  std::uint64_t sender = 0;
};
// As above.
template <>
struct PublishOptions<false, true> {
  Admission admission = Admission::normal;
  Topic topic = {};
};
// As above.
template <>
struct PublishOptions<true, true> {
  Admission admission = Admission::normal;
  std::uint64_t sender = 0;
  Topic topic = {};
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
