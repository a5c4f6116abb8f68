// SPDX-License-Identifier: MIT
// One event in one line, as programs write them. What is read here is a part of JSON: texts without
// escapes, in ASCII, and arguments one level deep. Anything else is left to a general parser.
#pragma once

#include <string_view>

#include "replay/chrome_events.hpp"

namespace handoff::lab::replay {

// The names of fields, in an event and in its arguments; Field::none: it is not kept.
Field field_named(std::string_view key);
Field argument_named(std::string_view key);

// An event, and whether a comma follows it. False if it is not of that kind, and then the fields
// are anything. The event's fields must be empty before.
bool read_line(std::string_view line, ChromeEvent& event, bool& comma);

}  // namespace handoff::lab::replay
