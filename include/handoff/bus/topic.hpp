// SPDX-License-Identifier: MIT
//
// Names of what messages are about, and filters on them. Names are compared, never hashes of names:
// a filter passes what it says and nothing else.
//
//   handoff::Status s = bus.publish(reading, {.topic = "engine/left/temperature"});
//   bus.subscribe<Reading>(handoff::topic_is("engine/left/temperature"), f);
//   bus.subscribe<Reading>(handoff::topic_begins("engine/left/"), g);
//
// For: buses whose policies have topics. Not for: telling types apart, which a bus does by itself.
// A Topic refers to its name, which lives until the message is handled: a literal, or a string
// that outlives the bus. A filter has a copy of its name. Compared character by character, case and
// all; end a prefix with a separator if "engine/left" is not to include "engine/left-spare".
// Concurrency: values. Allocates: a filter, when it is made or copied.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What a message is about: a reference to a name.
class Topic {
 public:
  // None: what no filter passes.
  constexpr Topic() noexcept = default;

  // Implicit, so that .topic = "name" is all there is to write. The empty name is none.
  constexpr Topic(const char* name) noexcept  // NOLINT(google-explicit-constructor)
      : name_(name) {}
  constexpr Topic(std::string_view name) noexcept  // NOLINT(google-explicit-constructor)
      : name_(name) {}
  Topic(const std::string& name) noexcept : name_(name) {}  // NOLINT(google-explicit-constructor)
  Topic(std::string&& name) = delete;  // would be gone before the message is handled
  Topic(std::nullptr_t) = delete;

  // Its name, and whether it has none.
  [[nodiscard]] constexpr std::string_view name() const noexcept { return name_; }
  [[nodiscard]] constexpr bool is_none() const noexcept { return name_.empty(); }

  // By name.
  friend constexpr bool operator==(const Topic& a, const Topic& b) noexcept {
    return a.name_ == b.name_;
  }

 private:
  std::string_view name_;
};

// What topics a subscriber wants: see topic_is() and topic_begins().
class TopicFilter {
 public:
  // Whether the topic passes.
  [[nodiscard]] bool passes(const Topic& topic) const noexcept {
    if (topic.is_none()) return false;
    return whole_ ? topic.name() == name_ : topic.name().starts_with(name_);
  }

 private:
  friend TopicFilter topic_is(std::string_view name);
  friend TopicFilter topic_begins(std::string_view prefix);
  TopicFilter(std::string_view name, bool whole) : name_(name), whole_(whole) {}

  std::string name_;
  bool whole_;
};

// Passes the topic of this name. None for the empty name.
[[nodiscard]] inline TopicFilter topic_is(std::string_view name) { return {name, true}; }

// Passes all topics whose names begin so; all that have a name, for the empty one.
[[nodiscard]] inline TopicFilter topic_begins(std::string_view prefix) { return {prefix, false}; }

}}  // namespace handoff::HANDOFF_ABI
