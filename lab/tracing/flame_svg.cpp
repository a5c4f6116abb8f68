// SPDX-License-Identifier: MIT
// A flame graph as a picture that stands alone: SVG without a script. What lies in a box hangs
// below it. Each box says its name, time, share and count when it is pointed at.
#include "harness/plain_text.hpp"
#include "page_template.hpp"
#include "report/line_chart.hpp"
#include "report/text_room.hpp"
#include "tracing/flames.hpp"
#include "tracing/words.hpp"

namespace handoff::lab::tracing {
namespace {

constexpr double width = 1200;
constexpr double margin = 12;
constexpr double row_height = 20;
constexpr double text_size = 12;
constexpr double narrowest = 0.4;  // of what is drawn
constexpr std::size_t most_rows = 80;

// What a colour stands for: the word of the style, and that of the legend.
using Word = std::pair<const char*, const char*>;
constexpr std::array<Word, 7> categories{{{"task", "task"},
                                          {"loop", "loop"},
                                          {"event", "event"},
                                          {"message", "message"},
                                          {"command", "command"},
                                          {"file", "file"},
                                          {"process", "process"}}};
constexpr std::array<Word, 6> causes{{{"idle", "idle: without work"},
                                      {"full", "full: waits for room"},
                                      {"wait", "wait: for a future, a loop"},
                                      {"io", "io: waits for a file"},
                                      {"lock", "lock: for another thread's lock"},
                                      {"join", "join: waits for a thread's end"}}};

const char* class_of(std::string_view word) {
  for (const auto& [known, said] : categories) {
    if (word == known) return known;
  }
  for (const auto& [known, said] : causes) {
    if (word == known) return known;
  }
  return "foreign";
}

// The class of a box. In a picture of sleep only the causes have colours.
std::string tone_of(const FlameBox& box, bool of_sleep) {
  if (box.kind == "all" || box.kind == "thread") return box.kind;
  if (box.kind == "sleep" || box.kind == "spin") return class_of(box.name);
  return of_sleep ? "around" : class_of(box.kind);
}

class FlameDrawing {
 public:
  FlameDrawing(const FlameGraph& graph, const std::string& source)
      : graph_(graph), source_(source), of_sleep_(graph.what == "asleep") {}

  std::string svg() {
    heading();
    legend();
    const double top = y_;
    place_all(top);
    y_ = top + static_cast<double>(rows_) * row_height + 6;
    footer();
    const double height = y_ + margin - 4;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">\n"
        "<title>{3}: {4}</title>\n<style>\n{5}{6}</style>\n"
        "<rect class=\"paper\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n{7}</svg>\n",
        width, height, html_escaped(in_words()), graph_.title, html_escaped(source_), palette_style,
        flame_style, body_);
  }

 private:
  [[nodiscard]] std::uint64_t all_ns() const { return graph_.boxes.front().ns; }
  [[nodiscard]] double share_of(const FlameBox& box) const {
    return all_ns() == 0 ? 0 : static_cast<double>(box.ns) / static_cast<double>(all_ns());
  }

  void line(const char* kind, double size, const std::string& text) {
    for (const std::string& part : wrapped(text, width - 2 * margin, size)) {
      y_ += 1.4 * size;
      body_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{:.1f}\" font-size=\"{}\">{}</text>\n",
                           kind, margin, y_ - 0.3 * size, size, html_escaped(part));
    }
  }

  [[nodiscard]] std::string in_words() const {
    std::string words = fmt::format("{}, {} in all", graph_.title, time_text(all_ns()));
    constexpr std::size_t few = 5;
    std::size_t said = 0;
    for (const FlameBox& box : graph_.boxes) {
      if (box.depth != 1 || said++ >= few) continue;
      words += fmt::format("; {} {:.0f} %", shown_name(box), 100 * share_of(box));
    }
    return words;
  }

  void heading() {
    line("strong", 17, fmt::format("{}: {}", graph_.title, source_));
    line("quiet", 13,
         of_sleep_ ? fmt::format("All threads together were asleep for {}. A box is a thread; "
                                 "below it are the slices in which it slept, and then the causes.",
                                 time_text(all_ns()))
                   : fmt::format("All threads together were in slices and awake for {}. A box is a "
                                 "name; the boxes below it ran inside it.",
                                 time_text(all_ns())));
    line("quiet", 13,
         "Its width is its share of the time. The longest is first; order is not time.");
    y_ += 4;
  }

  // Of what is there.
  void legend() {
    std::set<std::string> tones;
    for (const FlameBox& box : graph_.boxes) tones.insert(tone_of(box, of_sleep_));
    std::vector<Word> words;
    if (of_sleep_) words.assign(causes.begin(), causes.end());
    if (!of_sleep_) words.assign(categories.begin(), categories.end());
    words.emplace_back("foreign", "other");
    double x = margin;
    y_ += 14;
    for (const auto& [tone, said] : words) {
      if (!tones.contains(tone)) continue;
      body_ += fmt::format(
          "<g class=\"box {0}\"><rect x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"14\" height=\"12\"/>"
          "<path d=\"M{1:.1f} {2:.1f}h3v12h-3z\"/></g><text x=\"{3:.1f}\" "
          "y=\"{4:.1f}\">{5}</text>\n",
          tone, x, y_ - 10, x + 19, y_, said);
      x += 19 + room_of(said, text_size) + 16;
    }
    y_ += 10;
  }

  // Each box stands below the one around it, right of those before it there.
  void place_all(double top) {
    std::vector<double> free{margin};  // by depth: where the next one begins
    const double scale =
        (width - 2 * margin) / static_cast<double>(std::max<std::uint64_t>(all_ns(), 1));
    for (const FlameBox& box : graph_.boxes) {
      free.resize(box.depth + 1);
      const double x = free.back();
      const double room = box.depth == 0 ? width - 2 * margin : scale * static_cast<double>(box.ns);
      free.back() += room;
      free.push_back(x);
      if (room < narrowest || box.depth >= most_rows) {
        ++left_out_;
        continue;
      }
      rows_ = std::max(rows_, box.depth + 1);
      draw(box, x, top + static_cast<double>(box.depth) * row_height, room);
    }
  }

  static std::string shown_name(const FlameBox& box) {
    return box.name.empty() ? "(no name)" : in_ascii(box.name);
  }

  [[nodiscard]] std::string tip_of(const FlameBox& box) const {
    const bool slice = box.kind != "all" && box.kind != "thread" && box.kind != "sleep";
    std::string tip = shown_name(box);
    if (slice)
      tip += fmt::format(" ({})", box.kind.empty() ? "no category" : replay::shown(box.kind));
    tip += fmt::format(": {} {}, {:.3g} % of all", time_text(box.ns), graph_.what,
                       100 * share_of(box));
    if (slice && !of_sleep_ && box.own_ns != box.ns) {
      tip += fmt::format(", {} of its own", time_text(box.own_ns));
    }
    if (box.count > 0)
      tip += fmt::format(", {} time{}", grouped(box.count), box.count == 1 ? "" : "s");
    return tip;
  }

  void draw(const FlameBox& box, double x, double y, double room) {
    constexpr double edge = 5;
    body_ += fmt::format(
        "<g class=\"box {}\"><title>{}</title><rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
        "height=\"{}\"/>",
        tone_of(box, of_sleep_), html_escaped(tip_of(box)), x, y, room, row_height);
    const bool plain = box.kind == "all" || box.kind == "thread";
    if (!plain && room > 8) {
      body_ +=
          fmt::format("<path d=\"M{:.2f} {:.1f}h2v{}h-2z\"/>", x + 0.5, y + 0.5, row_height - 1);
    }
    const std::string text = text_in(box, room - 2 * edge);
    if (!text.empty()) {
      body_ += fmt::format("<text x=\"{:.2f}\" y=\"{:.1f}\">{}</text>", x + edge,
                           y + row_height - 6, html_escaped(text));
    }
    body_ += "</g>\n";
  }

  // With its share where that fits; nothing where not even three letters do.
  [[nodiscard]] std::string text_in(const FlameBox& box, double room) const {
    const std::string name = shown_name(box);
    const std::string whole = box.kind == "all"
                                  ? fmt::format("{}: {}", name, time_text(box.ns))
                                  : fmt::format("{}  {:.3g} %", name, 100 * share_of(box));
    if (room_of(whole, text_size) <= room) return whole;
    if (room < room_of("mmm", text_size)) return "";
    return fitted(name, room, text_size);
  }

  void footer() {
    if (left_out_ > 0) {
      line("quiet", text_size,
           fmt::format("{} boxes are not drawn: they are narrower than a hair, or deeper than {} "
                       "rows. Their time is in the boxes around them.",
                       grouped(left_out_), most_rows));
    }
    if (graph_.merged > 0) {
      line("quiet", text_size,
           fmt::format("There are too many stacks: {} slices are counted in the box around them.",
                       grouped(graph_.merged)));
    }
  }

  const FlameGraph& graph_;
  const std::string& source_;
  bool of_sleep_;
  double y_ = margin;
  std::size_t rows_ = 1;
  std::uint64_t left_out_ = 0;
  std::string body_;
};

}  // namespace

std::string flame_svg(const FlameGraph& graph, const std::string& source) {
  return FlameDrawing(graph, source).svg();
}

}  // namespace handoff::lab::tracing
