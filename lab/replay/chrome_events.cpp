// SPDX-License-Identifier: MIT
#include "replay/chrome_events.hpp"

#include <istream>
#include <streambuf>

#include <nlohmann/json.hpp>

namespace handoff::lab::replay {
namespace {

constexpr std::uint64_t us = 1000;

// A text and then the file as a stream, which knows the line that is read now. One token of JSON
// must not fill the memory.
class CountedLines final : public std::streambuf {
 public:
  CountedLines(TraceFile& file, std::string first, std::size_t line)
      : file_(file), first_(std::move(first)), line_(line) {
    serve(first_);
  }

  // Lines up to here.
  std::size_t line() {
    line_ += static_cast<std::size_t>(std::count<const char*>(counted_, gptr(), '\n'));
    counted_ = gptr();
    return line_;
  }
  void begin_token() { since_token_ = 0; }
  [[nodiscard]] bool at_end() const { return at_end_; }

 private:
  void serve(std::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // it is only read
    setg(begin, begin, begin + text.size());
    counted_ = begin;
  }

  int_type underflow() override {
    line();
    const std::string_view chunk = file_.chunk();
    serve(chunk);
    since_token_ += chunk.size();
    if (since_token_ > 16 * TraceFile::longest_line) {
      file_.fail_at(line_, "a text or a gap of more than 16 MiB: is this a trace?");
    }
    at_end_ = chunk.empty();
    return at_end_ ? traits_type::eof() : traits_type::to_int_type(*gptr());
  }

  TraceFile& file_;
  std::string first_;
  const char* counted_ = nullptr;
  std::size_t line_;
  std::size_t since_token_ = 0;
  bool at_end_ = false;
};

void deliver(ChromeEvent& event, const TraceFile& file, ChromeSink& sink) {
  try {
    const std::string_view time = event.at(Field::time);
    const std::string_view duration = event.at(Field::duration);
    if (!time.empty()) event.time_ns = time_ns(time, us, "ts");
    if (!duration.empty()) event.duration_ns = time_ns(duration, us, "dur");
  } catch (const std::string& wrong) {
    file.fail_at(event.line, wrong);
  }
  sink.event(event);
}

// The general parser.
class Events final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Events(const TraceFile& file, CountedLines& lines, ChromeSink& sink)
      : file_(file), lines_(lines), sink_(sink) {}

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
    if (events_depth_ != 0 && depth_ == events_depth_) {
      for (std::string& text : texts_) text.clear();
    }
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
    is_argument_ = inside == 2 && in_arguments_;
    field_ = inside == 1 ? field_named(name) : is_argument_ ? argument_named(name) : Field::none;
    field_of_ = inside;
    return true;
  }
  bool end_object() override {
    lines_.begin_token();
    --depth_;
    if (events_depth_ != 0 && depth_ == events_depth_) finish_event();
    field_ = Field::none;
    is_argument_ = false;
    return true;
  }
  bool end_array() override {
    lines_.begin_token();
    --depth_;
    if (depth_ < events_depth_) events_depth_ = 0;
    field_ = Field::none;
    is_argument_ = false;
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    if (lines_.at_end() && depth_ > 0) {
      const bool between_events = depth_ == 1 && events_depth_ == 1;
      end_ = between_events ? ChromeEnd::unclosed : ChromeEnd::torn;
      return false;
    }
    const std::string_view what = error.what();
    const std::size_t begin = what.find(": ");
    file_.fail_at(lines_.line(), fmt::format("is no JSON: {}",
                                             what.substr(begin == what.npos ? 0 : begin + 2, 120)));
  }

  [[nodiscard]] ChromeEnd end() const { return end_; }

 private:
  bool scalar(std::string_view text) {
    lines_.begin_token();
    in_events();
    const Field field = std::exchange(field_, Field::none);
    const bool argument = std::exchange(is_argument_, false);
    if (events_depth_ == 0 || depth_ != events_depth_ + field_of_) return true;
    if (field != Field::none) keep(field, text);
    if (argument && texts_[static_cast<std::size_t>(Field::value)].empty()) {
      keep(Field::value, text);
    }
    return true;
  }

  void keep(Field field, std::string_view text) {
    constexpr std::size_t longest = 256;
    texts_[static_cast<std::size_t>(field)] = text.substr(0, longest);
  }

  void in_events() const {
    if (events_depth_ == 0 || depth_ != events_depth_) return;
    file_.fail_at(lines_.line(), "an event is no object");
  }

  void finish_event() {
    ChromeEvent event;
    std::copy(texts_.begin(), texts_.end(), event.fields.begin());
    event.line = lines_.line();
    deliver(event, file_, sink_);
  }

  const TraceFile& file_;
  CountedLines& lines_;
  ChromeSink& sink_;
  std::array<std::string, field_count> texts_;
  ChromeEnd end_ = ChromeEnd::closed;
  std::size_t depth_ = 0;  // of what is open
  std::size_t events_depth_ = 0;  // inside the array of events; 0: outside
  bool is_events_ = false;  // what comes next, in the outermost object
  bool in_arguments_ = false;
  Field field_ = Field::none;  // what comes next
  bool is_argument_ = false;
  std::size_t field_of_ = 0;
};

// All that comes, of which `first` is the beginning, by the general parser.
ChromeEnding read_any(TraceFile& file, std::string first, std::size_t line, ChromeSink& sink) {
  CountedLines lines(file, std::move(first), line);
  std::istream stream(&lines);
  Events events(file, lines, sink);
  nlohmann::json::sax_parse(stream, &events);
  return {events.end(), lines.line()};
}

std::string_view trimmed(std::string_view text) { return replay::trimmed(text, " \t\r"); }

// The file by lines, as long as they are short.
class ShortLines {
 public:
  explicit ShortLines(TraceFile& file) : file_(file) {}

  // False at the end, and at a line that is no short one. Valid until the next call.
  bool next(std::string_view& line) {
    constexpr std::size_t longest = 1 << 16;
    joined_.clear();
    for (;;) {
      const std::size_t end = rest_.find('\n');
      if (end != std::string_view::npos) {
        line = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        if (!joined_.empty()) line = joined_ += line;
        ++line_;
        return true;
      }
      joined_ += rest_;
      rest_ = {};
      if (joined_.size() > longest) return false;
      rest_ = file_.chunk();
      if (rest_.empty()) break;
    }
    if (joined_.empty()) return false;
    line = joined_;
    ++line_;
    is_last_ = true;
    return true;
  }

  // What next() has read and not returned, in front of what the file still has.
  [[nodiscard]] std::string rest() const { return is_last_ ? "" : joined_ + std::string(rest_); }
  // The same after a line that it has returned, and with it.
  [[nodiscard]] std::string rest_with(std::string_view line) const {
    return std::string(line) + (is_last_ ? "" : '\n' + std::string(rest_));
  }
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  TraceFile& file_;
  std::string_view rest_;  // of the chunk
  std::string joined_;     // a line that reaches over chunks
  std::size_t line_ = 0;
  bool is_last_ = false;
};

// What was read, as short as it can be: from there a general parser can go on.
struct ReadSoFar {
  std::string opener;
  bool any = false;
  bool comma = false;

  [[nodiscard]] std::string text() const { return opener + (!any ? "" : comma ? "{}," : "{}"); }
};

// Whole, but written in another way than read_line() reads.
bool read_one(std::string_view line, TraceFile& file, std::size_t number, ChromeSink& sink,
              bool& comma) {
  comma = line.ends_with(',');
  if (comma) line = trimmed(line.substr(0, line.size() - 1));
  if (!line.starts_with('{') || !nlohmann::json::accept(line)) return false;
  CountedLines lines(file, fmt::format("[{}]", line), number);
  std::istream stream(&lines);
  Events events(file, lines, sink);
  nlohmann::json::sax_parse(stream, &events, nlohmann::json::input_format_t::json, false);
  return true;
}

}  // namespace

ChromeEnding read_chrome_events(TraceFile& file, ChromeSink& sink) {
  ShortLines lines(file);
  std::string_view line;
  if (!lines.next(line)) return read_any(file, lines.rest(), 1, sink);
  ReadSoFar so_far{std::string(trimmed(line))};
  if (so_far.opener != "[" && so_far.opener != "{\"traceEvents\":[") {
    return read_any(file, lines.rest_with(line), 1, sink);
  }
  while (lines.next(line)) {
    const std::string_view text = trimmed(line);
    if (text.empty()) continue;
    const bool may_follow = so_far.comma || !so_far.any;
    ChromeEvent event;
    event.line = lines.line();
    bool comma = false;
    if (may_follow && read_line(text, event, comma)) {
      deliver(event, file, sink);
    } else if (!may_follow || !read_one(text, file, lines.line(), sink, comma)) {
      return read_any(file, so_far.text() + lines.rest_with(line), lines.line(), sink);
    }
    so_far.any = true;
    so_far.comma = comma;
  }
  return read_any(file, so_far.text() + lines.rest(), lines.line() + 1, sink);
}

}  // namespace handoff::lab::replay
