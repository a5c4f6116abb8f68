// SPDX-License-Identifier: MIT
// Reads the JSON of Chrome's tracing, which Perfetto and many profilers write: an array of events,
// or an object with one called traceEvents. Spans are events of the phase X, or pairs of B and E;
// the outermost ones of a thread are the pieces. Arrows (phases s, t, f) and the arguments `id` and
// `parent` say which piece waits for which. The file is never in memory as a whole.
#include <algorithm>
#include <istream>
#include <optional>
#include <streambuf>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "replay/lanes.hpp"
#include "replay/read_trace.hpp"

namespace handoff::lab::replay {
namespace {

constexpr std::uint64_t us = 1000;

// The file as a stream, which knows the line that is read now. One token of JSON must not fill the
// memory.
class CountedLines final : public std::streambuf {
 public:
  explicit CountedLines(TraceFile& file) : file_(file) {}

  // Lines up to here.
  std::size_t line() {
    line_ += static_cast<std::size_t>(std::count<const char*>(counted_, gptr(), '\n'));
    counted_ = gptr();
    return line_;
  }
  void begin_token() { since_token_ = 0; }
  [[nodiscard]] bool at_end() const { return at_end_; }

 private:
  int_type underflow() override {
    line();
    const std::string_view chunk = file_.chunk();
    char* const begin = const_cast<char*>(chunk.data());  // it is only read
    setg(begin, begin, begin + chunk.size());
    counted_ = begin;
    since_token_ += chunk.size();
    if (since_token_ > 16 * TraceFile::longest_line) {
      file_.fail_at(line_, "a text or a gap of more than 16 MiB: is this a trace?");
    }
    at_end_ = chunk.empty();
    return at_end_ ? traits_type::eof() : traits_type::to_int_type(*gptr());
  }

  TraceFile& file_;
  const char* counted_ = nullptr;
  std::size_t line_ = 1;
  std::size_t since_token_ = 0;
  bool at_end_ = false;
};

struct Event {
  char phase = 0;
  std::optional<std::uint64_t> time_ns;
  std::optional<std::uint64_t> duration_ns;
  std::string process;
  std::string thread;
  std::string category;
  std::string name;
  std::string id;
  std::string span_id;  // these three are arguments
  std::string parent;
  std::uint64_t bytes = 0;
};

class Events final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Events(const TraceFile& file, CountedLines& lines, Trace& trace)
      : file_(file), lines_(lines), trace_(trace), lanes_(file) {}

  bool null() override { return scalar(""); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return scalar(fmt::format_int(value).c_str());
  }
  bool number_unsigned(number_unsigned_t value) override {
    return scalar(fmt::format_int(value).c_str());
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return scalar(text);
  }
  bool string(string_t& text) override { return scalar(text); }
  bool binary(binary_t& /*value*/) override { return scalar(""); }

  bool start_object(std::size_t /*size*/) override {
    lines_.begin_token();
    if (events_depth_ != 0 && depth_ == events_depth_) event_ = {};
    ++depth_;
    return true;
  }
  bool start_array(std::size_t /*size*/) override {
    lines_.begin_token();
    in_events();
    const bool events = depth_ == 0 || (depth_ == 1 && events_depth_ == 0 && is_events_);
    ++depth_;
    if (events) events_depth_ = depth_;
    return true;
  }
  bool key(string_t& name) override {
    lines_.begin_token();
    if (depth_ == 1 && events_depth_ == 0) is_events_ = name == "traceEvents";
    const std::size_t inside = events_depth_ == 0 ? 0 : depth_ - events_depth_;
    if (inside == 1) in_arguments_ = name == "args";
    field_ = inside == 1                    ? event_field(name)
             : inside == 2 && in_arguments_ ? argument(name)
                                            : nullptr;
    field_of_ = inside;
    return true;
  }
  bool end_object() override {
    lines_.begin_token();
    --depth_;
    if (events_depth_ != 0 && depth_ == events_depth_) finish_event();
    field_ = nullptr;
    return true;
  }
  bool end_array() override {
    lines_.begin_token();
    --depth_;
    if (depth_ < events_depth_) events_depth_ = 0;
    field_ = nullptr;
    return true;
  }

  // The array's end may be missing, as where a program was killed that wrote its trace.
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    if (lines_.at_end() && depth_ == 1 && events_depth_ == 1) return false;
    if (lines_.at_end()) file_.fail_at(lines_.line(), "the file ends in the middle of its JSON");
    const std::string_view what = error.what();
    const std::size_t begin = what.find(": ");
    file_.fail_at(lines_.line(), fmt::format("is no JSON: {}",
                                             what.substr(begin == what.npos ? 0 : begin + 2, 120)));
  }

  void finish() { lanes_.finish(trace_); }

 private:
  using Setter = void (Events::*)(std::string_view);

  static Setter event_field(const std::string& name) {
    if (name == "ph") return &Events::set_phase;
    if (name == "ts") return &Events::set_time;
    if (name == "dur") return &Events::set_duration;
    if (name == "pid") return &Events::set<&Event::process>;
    if (name == "tid") return &Events::set<&Event::thread>;
    if (name == "cat") return &Events::set<&Event::category>;
    if (name == "name") return &Events::set<&Event::name>;
    if (name == "id") return &Events::set<&Event::id>;
    return nullptr;
  }
  static Setter argument(const std::string& name) {
    if (name == "id") return &Events::set<&Event::span_id>;
    if (name == "parent") return &Events::set<&Event::parent>;
    if (name == "bytes") return &Events::set_bytes;
    return nullptr;
  }

  void set_phase(std::string_view text) { event_.phase = text.size() == 1 ? text.front() : '\0'; }
  void set_time(std::string_view text) { event_.time_ns = time_ns(text, us, "ts"); }
  void set_duration(std::string_view text) { event_.duration_ns = time_ns(text, us, "dur"); }
  void set_bytes(std::string_view text) { event_.bytes = whole_number(text, "bytes"); }
  template <auto Member>
  void set(std::string_view text) {
    constexpr std::size_t longest_name = 256;
    event_.*Member = text.substr(0, longest_name);
  }

  bool scalar(std::string_view text) {
    lines_.begin_token();
    in_events();
    const Setter setter = std::exchange(field_, nullptr);
    if (setter == nullptr || events_depth_ == 0 || depth_ != events_depth_ + field_of_) return true;
    try {
      (this->*setter)(text);
    } catch (const std::string& wrong) {
      file_.fail_at(lines_.line(), wrong);
    }
    return true;
  }

  void in_events() const {
    if (events_depth_ == 0 || depth_ != events_depth_) return;
    file_.fail_at(lines_.line(), "an event is no object");
  }

  void finish_event() {
    const char phase = event_.phase;
    if (phase == 0 || std::string_view("XBEstf").find(phase) == std::string_view::npos) return;
    const std::size_t line = lines_.line();
    if (!event_.time_ns) file_.fail_at(line, fmt::format("an event of phase {} has no ts", phase));
    const std::uint64_t time = *event_.time_ns;
    const std::uint32_t lane =
        lanes_.lane(fmt::format("pid {}, tid {}", event_.process, event_.thread));
    if (phase == 'X') {
      if (!event_.duration_ns) file_.fail_at(line, "an event of phase X has no dur");
      lanes_.add(lane, time, time + *event_.duration_ns, line);
    } else if (phase == 'B') {
      lanes_.begin(lane, time, line);
    } else if (phase == 'E') {
      lanes_.end(lane, time, line);
    } else {
      add_flow(phase, {lane, time});
    }
    if (phase != 'X' && phase != 'B') return;
    trace_.bytes += event_.bytes;
    if (!lanes_.has_room_for_links()) return;
    if (!event_.span_id.empty()) lanes_.name(event_.span_id, {lane, time});
    if (!event_.parent.empty()) lanes_.waits_for(event_.parent, {lane, time});
  }

  void add_flow(char phase, Lanes::Moment moment) {
    if (!lanes_.has_room_for_links()) return;
    const std::string arrow = fmt::format("{}\n{}\n{}", event_.category, event_.name, event_.id);
    if (phase == 's') {
      lanes_.flow_from(arrow, moment);
    } else {
      lanes_.flow_to(arrow, moment, phase == 't');
    }
  }

  const TraceFile& file_;
  CountedLines& lines_;
  Trace& trace_;
  Lanes lanes_;
  Event event_;
  std::size_t depth_ = 0;  // of what is open
  std::size_t events_depth_ = 0;  // inside the array of events; 0: outside
  bool is_events_ = false;  // what comes next, in the outermost object
  bool in_arguments_ = false;
  Setter field_ = nullptr;  // what comes next
  std::size_t field_of_ = 0;
};

}  // namespace

Trace read_chrome_trace(TraceFile& file) {
  Trace trace;
  trace.form = "Chrome trace";
  CountedLines lines(file);
  std::istream stream(&lines);
  Events events(file, lines, trace);
  nlohmann::json::sax_parse(stream, &events);
  events.finish();
  return trace;
}

}  // namespace handoff::lab::replay
