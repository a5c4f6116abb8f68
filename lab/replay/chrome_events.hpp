// SPDX-License-Identifier: MIT
// Reads the events of Chrome's tracing, the JSON which Perfetto and many profilers write: an array
// of events, or an object with one called traceEvents. The file is never in memory as a whole.
// Where each line is one event, as this library's tracer writes them, 10^7 of them take a few
// seconds; any other layout is read by a general parser, and much more slowly.
#pragma once

#include "replay/trace_file.hpp"

namespace handoff::lab::replay {

// What is kept of an event. The second half are arguments (of "args").
enum class Field : std::uint8_t {
  phase,
  time,
  duration,
  process,
  thread,
  category,
  name,
  id,
  span_id,  // args.id
  parent,
  bytes,
  given_name,  // args.name
  recorded,    // these four are a tracer's own tally
  dropped,
  written,
  open,
  cpus,      // these three are what it knows of the machine and of a thread
  cpu_ns,
  ready_ns,
  value,  // the first argument, whatever it is called
  none
};
inline constexpr auto field_count = static_cast<std::size_t>(Field::none);

// Texts and numbers as they stand in the file; empty where there is none. They are valid while the
// sink has the event.
struct ChromeEvent {
  std::array<std::string_view, field_count> fields{};
  std::optional<std::uint64_t> time_ns;
  std::optional<std::uint64_t> duration_ns;
  std::size_t line = 0;  // where it ends

  [[nodiscard]] std::string_view at(Field field) const {
    return fields[static_cast<std::size_t>(field)];
  }
  // X, B, E and so on; 0: it has none.
  [[nodiscard]] char phase() const {
    const std::string_view text = at(Field::phase);
    return text.size() == 1 ? text.front() : '\0';
  }
};

class ChromeSink {
 public:
  virtual ~ChromeSink() = default;
  virtual void event(const ChromeEvent& event) = 0;
};

// How the file ended. A program that is killed leaves an array without its end, and maybe a part of
// an event, which the sink does not get.
enum class ChromeEnd : std::uint8_t { closed, unclosed, torn };

struct ChromeEnding {
  ChromeEnd end;
  std::size_t line;  // the last one
};

// Throws UserError with the line that is wrong.
ChromeEnding read_chrome_events(TraceFile& file, ChromeSink& sink);

// One event in one line, as programs write them. What is read here is a part of JSON: texts without
// escapes, in ASCII, and arguments one level deep. Anything else is left to a general parser.
// The names of fields, in an event and in its arguments; Field::none: it is not kept.
Field field_named(std::string_view key);
Field argument_named(std::string_view key);

// An event, and whether a comma follows it. False if it is not of that kind, and then the fields
// are anything. The event's fields must be empty before.
bool read_line(std::string_view line, ChromeEvent& event, bool& comma);

}  // namespace handoff::lab::replay
