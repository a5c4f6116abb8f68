// SPDX-License-Identifier: MIT
#include "replay/trace_file.hpp"
#include "harness/plain_text.hpp"
#include "harness/user_error.hpp"
#include "replay/trace.hpp"

namespace handoff::lab::replay {

TraceFile::TraceFile(const std::filesystem::path& path, Tick tick)
    : path_(path), tick_(std::move(tick)), file_(std::fopen(path.c_str(), "rbe")) {
  if (file_ == nullptr || std::filesystem::is_directory(path)) {
    const char* const why = file_ == nullptr ? std::strerror(errno) : "it is a folder";
    throw UserError("{} cannot be read: {}", path.string(), why);
  }
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  require_plain();
}

void TraceFile::require_plain() {
  constexpr std::array<std::pair<std::string_view, const char*>, 3> known{
      {{"\x1f\x8b", "gunzip"}, {"\x28\xb5\x2f\xfd", "unzstd"}, {"\xfd\x37zXZ", "unxz"}}};
  const std::string_view begin = peek();
  for (const auto& [magic, tool] : known) {
    if (!begin.starts_with(magic)) continue;
    throw UserError("{0} is compressed: {1} -c {0} > trace, and give that file", path_.string(),
                    tool);
  }
}

void TraceFile::fail_at(std::size_t line, const std::string& what) const {
  throw UserError("{}, line {}: {}", path_.string(), std::max<std::size_t>(line, 1), what);
}

void TraceFile::fill() {
  if (tick_) tick_(read_);
  const std::size_t n = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());
  if (n == 0 && std::ferror(file_.get()) != 0) {
    throw UserError("{} cannot be read: {}", path_.string(), std::strerror(errno));
  }
  read_ += n;
  rest_ = {buffer_.data(), n};
}

std::string_view TraceFile::peek() {
  if (rest_.empty()) fill();
  return rest_;
}

std::string_view TraceFile::chunk() {
  const std::string_view all = peek();
  rest_ = {};
  return all;
}

bool TraceFile::next_line(std::string_view& line) {
  joined_.clear();
  ++line_;
  for (;;) {
    const std::string_view part = peek();
    const std::size_t end = part.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view found = part.substr(0, whole ? end : part.size());
    if (joined_.size() + found.size() > longest_line) {
      fail(fmt::format("it is longer than {} bytes: is this a trace?", longest_line));
    }
    if (part.empty() && joined_.empty()) return false;
    rest_ = whole ? part.substr(end + 1) : std::string_view();
    const bool last = whole || part.empty();
    line_is_whole_ = whole;
    if (last && joined_.empty()) {
      line = found;
    } else {
      joined_ += found;
      line = joined_;
    }
    if (!last) continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::string shown(std::string_view text) {
  constexpr std::size_t most = 60;
  return in_ascii(text.substr(0, most)) + (text.size() > most ? "..." : "");
}

std::uint64_t time_ns(std::string_view text, std::uint64_t unit_ns, const char* what) {
  const auto wrong = [&](const char* why) {
    return fmt::format("{} '{}' {}", what, shown(text), why);
  };
  if (text.starts_with('-')) throw wrong("is negative");
  std::uint64_t whole = 0;
  const char* const end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, whole);
  if (error == std::errc::result_out_of_range) throw wrong("is too large");
  if (error != std::errc{}) throw wrong("is no number");
  if (rest == end) {  // exact, however large
    if (whole > most_ns / unit_ns) throw wrong("is too large");
    return whole * unit_ns;
  }
  long double fraction = 0;
  if (*rest == '.') {
    constexpr std::ptrdiff_t exact_digits = 9;
    const char* const first = ++rest;
    std::uint64_t digits = 0;
    std::uint64_t scale = 1;
    for (; rest != end && *rest >= '0' && *rest <= '9'; ++rest) {
      if (rest - first >= exact_digits) continue;  // finer than a nanosecond
      digits = 10 * digits + static_cast<std::uint64_t>(*rest - '0');
      scale *= 10;
    }
    if (rest == end && whole < most_ns / unit_ns) {
      return whole * unit_ns + (digits * unit_ns + scale / 2) / scale;
    }
    fraction = static_cast<long double>(digits) / static_cast<long double>(scale);
  }
  long double value = static_cast<long double>(whole) + fraction;
  if (rest != end && (*rest == 'e' || *rest == 'E')) {
    int exponent = 0;
    if (++rest != end && *rest == '+') ++rest;
    const auto power = std::from_chars(rest, end, exponent);
    if (power.ec != std::errc{}) throw wrong("is no number");
    rest = power.ptr;
    value *= std::pow(10.0L, static_cast<long double>(exponent));
  }
  if (rest != end) throw wrong("is no number");
  const long double ns = value * static_cast<long double>(unit_ns);
  if (!(ns <= static_cast<long double>(most_ns))) throw wrong("is too large");
  return static_cast<std::uint64_t>(std::llround(ns));
}

std::uint64_t whole_number(std::string_view text, const char* what) {
  if (const auto number = whole_number_in(text)) return *number;
  throw fmt::format("{} '{}' is no whole number from 0 on", what, shown(text));
}

}  // namespace handoff::lab::replay
