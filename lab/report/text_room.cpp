// SPDX-License-Identifier: MIT
#include "report/text_room.hpp"

namespace handoff::lab {
namespace {

// In sizes of the font: what DejaVu Sans takes, rounded up. Bytes that go on with a character of
// several bytes take none.
double room_of(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x80) return (byte & 0xC0) == 0x80 ? 0 : 1;
  constexpr std::string_view slim = " ijlIfrt.,:;'|!()[]-";
  constexpr std::string_view broad = "mwMW%@";
  if (slim.find(c) != std::string_view::npos) return 0.4;
  if (broad.find(c) != std::string_view::npos) return 0.98;
  return c >= 'A' && c <= 'Z' ? 0.74 : 0.635;
}

}  // namespace

double room_of(const std::string& text, double size) {
  double room = 0;
  for (const char c : text) room += room_of(c);
  return room * size;
}

std::string fitted(const std::string& text, double room, double size) {
  if (room_of(text, size) <= room) return text;
  std::string kept = text;
  while (!kept.empty() && room_of(kept, size) + size > room) {
    while (kept.size() > 1 && (static_cast<unsigned char>(kept.back()) & 0xC0) == 0x80) {
      kept.pop_back();
    }
    kept.pop_back();
  }
  return kept + "\xE2\x80\xA6";
}

std::vector<std::string> wrapped(const std::string& text,
                                 const std::function<bool(const std::string&)>& fits) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.empty() && !fits(line + ' ' + word)) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> wrapped(const std::string& text, double room, double size) {
  return wrapped(text, [&](const std::string& line) { return room_of(line, size) <= room; });
}

}  // namespace handoff::lab
