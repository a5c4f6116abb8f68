// SPDX-License-Identifier: MIT
// One event in one line, as programs write them. What is read here is a part of JSON: texts without
// escapes, in ASCII, and arguments one level deep. Anything else is left to a general parser.
#include "replay/chrome_events.hpp"

namespace handoff::lab::replay {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads from the front of a text. Each call is false where that is something else.
class LineScanner {
 public:
  explicit LineScanner(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  void skip_blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] bool sees(char c) {
    skip_blanks();
    return at_ != end_ && *at_ == c;
  }
  [[nodiscard]] bool at_end() {
    skip_blanks();
    return at_ == end_;
  }

  bool text(std::string_view& found) {
    if (!take('"')) return false;
    const char* const begin = at_;
    for (; at_ != end_; ++at_) {
      if (*at_ == '"') {
        found = {begin, at_};
        ++at_;
        return true;
      }
      if (*at_ == '\\' || *at_ < ' ') return false;  // a char is signed: beyond ASCII as well
    }
    return false;
  }

  bool number(std::string_view& found) {
    skip_blanks();
    const char* const begin = at_;
    if (at_ != end_ && *at_ == '-') ++at_;
    const char* const digits = at_;
    skip_digits();
    if (at_ == digits || (*digits == '0' && at_ - digits > 1)) return false;
    if (at_ != end_ && *at_ == '.') {
      const char* const fraction = ++at_;
      skip_digits();
      if (at_ == fraction) return false;
    }
    found = {begin, at_};
    return at_ == end_ || (*at_ != 'e' && *at_ != 'E');
  }

  bool scalar(std::string_view& found) { return sees('"') ? text(found) : number(found); }

 private:
  void skip_digits() {
    while (at_ != end_ && is_digit(*at_)) ++at_;
  }

  const char* at_;
  const char* end_;
};

void keep(ChromeEvent& event, Field field, std::string_view value) {
  if (field != Field::none) event.fields[static_cast<std::size_t>(field)] = value;
}

bool read_arguments(LineScanner& line, ChromeEvent& event) {
  if (!line.take('{')) return false;
  if (line.take('}')) return true;
  do {
    std::string_view key;
    std::string_view value;
    if (!line.text(key) || !line.take(':') || !line.scalar(value)) return false;
    keep(event, argument_named(key), value);
    if (event.at(Field::value).empty()) keep(event, Field::value, value);
  } while (line.take(','));
  return line.take('}');
}

}  // namespace

Field field_named(std::string_view key) {
  switch (key.size()) {
    case 2:
      return key == "ph"   ? Field::phase
             : key == "ts" ? Field::time
             : key == "id" ? Field::id
                           : Field::none;
    case 3:
      return key == "tid"   ? Field::thread
             : key == "pid" ? Field::process
             : key == "dur" ? Field::duration
             : key == "cat" ? Field::category
                            : Field::none;
    case 4: return key == "name" ? Field::name : Field::none;
    default: return Field::none;
  }
}

Field argument_named(std::string_view key) {
  switch (key.size()) {
    case 2: return key == "id" ? Field::span_id : Field::none;
    case 4:
      return key == "name"   ? Field::given_name
             : key == "open" ? Field::open
             : key == "cpus" ? Field::cpus
                             : Field::none;
    case 5: return key == "bytes" ? Field::bytes : Field::none;
    case 6: return key == "parent" ? Field::parent : key == "cpu_ns" ? Field::cpu_ns : Field::none;
    case 7:
      return key == "dropped" ? Field::dropped : key == "written" ? Field::written : Field::none;
    case 8:
      return key == "recorded"   ? Field::recorded
             : key == "ready_ns" ? Field::ready_ns
                                 : Field::none;
    default: return Field::none;
  }
}

bool read_line(std::string_view text, ChromeEvent& event, bool& comma) {
  LineScanner line(text);
  if (!line.take('{')) return false;
  if (!line.sees('}')) {
    do {
      std::string_view key;
      std::string_view value;
      if (!line.text(key) || !line.take(':')) return false;
      if (key == "args") {
        if (!read_arguments(line, event)) return false;
      } else {
        if (!line.scalar(value)) return false;
        keep(event, field_named(key), value);
      }
    } while (line.take(','));
  }
  if (!line.take('}')) return false;
  comma = line.take(',');
  return line.at_end();
}

}  // namespace handoff::lab::replay
