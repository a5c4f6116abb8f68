// SPDX-License-Identifier: MIT
//
// Numbers, texts and the keys, in the order in which the reader expects them.
#include "trace_lines.hpp"

#include <array>
#include <charconv>

#include "../sync/internal/joined.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

namespace {

// How long the UTF-8 character is that a text begins with; 0: it begins with none.
std::size_t character_length(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) noexcept -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&byte](std::size_t i) noexcept { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  if (first < 0xE0) return follows(1) ? 2 : 0;
  if (first < 0xF0) {
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;  // half of a surrogate pair
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (first > 0xF4 || (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) {
    return 0;
  }
  return follows(1) && follows(2) && follows(3) ? 4 : 0;
}

}  // namespace

[[gnu::cold]] std::string in_json(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const char first = text.front();
    if (first == '"' || first == '\\') {
      result.append(1, '\\').append(1, first);
    } else if (length == 1 && static_cast<unsigned char>(first) < ' ') {
      const auto code = static_cast<unsigned char>(first);
      result.append("\\u00").append(1, digits[code >> 4U]).append(1, digits[code & 15U]);
    } else {
      result.append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

[[gnu::cold]] TraceLines::TraceLines(std::int32_t process)
    : process_(sync::joined({R"(,"pid":)", std::to_string(process), R"(,"tid":)"})) {}

void TraceLines::begin_line(std::size_t names) {
  constexpr std::size_t others = 512;
  const std::size_t needed = used_ + names + others;
  if (needed > text_.size()) [[unlikely]]
    text_.resize(2 * needed);
}

void TraceLines::put(std::uint64_t number) noexcept {
  char* const at = text_.data() + used_;
  used_ = static_cast<std::size_t>(std::to_chars(at, text_.data() + text_.size(), number).ptr -
                                   text_.data());
}

// Microseconds with three decimals.
void TraceLines::put(Time time) noexcept {
  constexpr std::uint64_t unit = 1000;
  const auto nanoseconds = static_cast<std::uint64_t>(time.ns > 0 ? time.ns : 0);
  put(nanoseconds / unit);
  const std::uint64_t rest = nanoseconds % unit;
  const std::array<char, 4> decimals{'.', static_cast<char>('0' + rest / 100),
                                     static_cast<char>('0' + rest / 10 % 10),
                                     static_cast<char>('0' + rest % 10)};
  put(std::string_view(decimals.data(), decimals.size()));
}

void TraceLines::put(Moment moment) noexcept {
  put(process_);
  put(number_of(moment.thread));
  put(R"(,"ts":)");
  put(Time{moment.when});
  ++count_;
}

void TraceLines::begin(std::string_view program) {
  const std::string name = in_json(program);
  line(name.size(), "[\n", R"({"ph":"M","name":"process_name")", process_, R"(0,"args":{"name":")",
       name, "\"}},\n");
}

void TraceLines::thread(std::int32_t thread, std::string_view name) {
  line(name.size(), R"({"ph":"M","name":"thread_name")", process_, number_of(thread),
       R"(,"args":{"name":")", name, "\"}},\n");
}

void TraceLines::cpus(unsigned count) {
  line(0, R"({"ph":"M","name":"handoff_cpus")", process_, R"(0,"args":{"cpus":)",
       std::uint64_t{count}, "}},\n");
}

void TraceLines::times(std::int32_t thread, const ThreadTimes& times) {
  line(0, R"({"ph":"M","name":"handoff_times")", process_, number_of(thread),
       R"(,"args":{"cpu_ns":)", times.cpu, R"(,"ready_ns":)", times.ready, "}},\n");
}

void TraceLines::slice(std::string_view category, std::string_view name, std::int32_t thread,
                       std::int64_t from, std::int64_t until) {
  line(category.size() + name.size(), R"({"ph":"X","cat":")", category, R"(","name":")", name,
       R"(")", Moment{thread, from}, R"(,"dur":)", Time{until - from}, "},\n");
}

void TraceLines::moment(std::string_view category, std::int32_t thread, std::int64_t when) {
  line(2 * category.size(), R"({"ph":"i","s":"t","cat":")", category, R"(","name":")", category,
       R"(")", Moment{thread, when}, "},\n");
}

void TraceLines::depth(std::string_view queue, std::int32_t thread, std::int64_t when,
                       std::size_t depth) {
  line(queue.size(), R"({"ph":"C","cat":"depth","name":")", queue, R"(")", Moment{thread, when},
       R"(,"args":{"depth":)", std::uint64_t{depth}, "}},\n");
}

void TraceLines::hand_over(const HandOver& hand) {
  if (hand.from.is_outside) {
    slice("hand", "hand over", hand.from.thread, hand.from.when, hand.from.when + 1);
  }
  ++hand_overs_;
  line(0, R"({"ph":"s","cat":"hand","name":"hand over","id":)", hand_overs_,
       Moment{hand.from.thread, hand.from.when}, "},\n",
       R"({"ph":"f","bp":"e","cat":"hand","name":"hand over","id":)", hand_overs_,
       Moment{hand.to.thread, hand.to.when}, "},\n");
}

void TraceLines::end(const Tally& tally) {
  line(0, R"({"ph":"M","name":"handoff_tally")", process_, R"(0,"args":{"recorded":)",
       tally.recorded, R"(,"dropped":)", tally.dropped, R"(,"written":)", tally.written,
       R"(,"open":)", tally.open, "}}\n]\n");
}

}}}  // namespace handoff::HANDOFF_ABI::trace
