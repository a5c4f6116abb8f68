// SPDX-License-Identifier: MIT
#include "report/ladder_svg.hpp"
#include "page_template.hpp"
#include "report/ladder_words.hpp"
#include "report/line_chart.hpp"
#include "report/text_room.hpp"
#include "report/view.hpp"

namespace handoff::lab {
namespace {

// In units of the picture's own coordinates.
struct LadderLayout {
  double width;
  double plot_left;
  double plot_right;
  double row_height;  // at most
  double rows;        // that all of them may take
  double track;       // below the top of a row
  double size;   // of text
  bool wide;
};

// The first screen of a phone, or of a desk, is the sentence and these rows, the last one included:
// many of them are closer together.
constexpr LadderLayout narrow_layout{360, 10, 350, 33.8, 553, 17.5, 12, false};
constexpr LadderLayout wide_layout{920, 268, 560, 33.4, 524, 17, 13, true};
constexpr double wide_right = 578;  // where the text right of the plot begins
constexpr double bold = 1.12;  // times the room of a text that is not

class LogAxis {
 public:
  LogAxis(const std::vector<double>& values, const LadderLayout& layout)
      : from_(layout.plot_left), to_(layout.plot_right) {
    const auto [least, most] = std::ranges::minmax_element(values);
    low_ = values.empty() ? 0 : std::log10(*least) - room;
    high_ = values.empty() ? 3 : std::log10(*most) + room;
  }

  [[nodiscard]] double at(double ns) const {
    return from_ + (std::log10(ns) - low_) / (high_ - low_) * (to_ - from_);
  }
  [[nodiscard]] std::vector<double> decades() const {
    std::vector<double> found;
    for (double e = std::ceil(low_); e <= high_; ++e) found.push_back(std::pow(10, e));
    return found;
  }

 private:
  static constexpr double room = 0.15;  // beyond the outermost marks, in decades
  double from_;
  double to_;
  double low_;
  double high_;
};

enum class Who { own, peer, today, named, own_named, limit };

// The class of its mark, and what it is called.
struct WhoWords {
  const char* kind;
  const char* role;
};
constexpr WhoWords words_of(Who who) {
  constexpr std::array<WhoWords, 6> words{{{"own", "this library"},
                                           {"peer", "the best other way"},
                                           {"today", "what people write"},
                                           {"named", "another way"},
                                           {"named own", "another way of this library"},
                                           {"limit", "the minimal version"}}};
  return words[static_cast<std::size_t>(who)];
}

std::string dot(bool latency, double x, double y, double radius) {
  if (latency) {
    const double r = 1.3 * radius;
    return fmt::format("M{:.1f} {:.1f}l{:.1f} {:.1f}-{:.1f} {:.1f}-{:.1f}-{:.1f}z", x, y - r, r, r,
                       r, r, r, r);
  }
  return fmt::format("M{0:.1f} {1:.1f}a{2} {2} 0 1 0 {3:.1f} 0a{2} {2} 0 1 0-{3:.1f} 0", x - radius,
                     y, radius, 2 * radius);
}

// A way differs by its shape too: filled is this library, a ring another one, a ring with a dot
// what people write, a bar the limit. What takes its time from start to end is a diamond.
std::string mark(Who who, bool latency, double x, double y) {
  const auto path = [&](const char* kind, const std::string& d) {
    return fmt::format("<path class=\"{} {}\" d=\"{}\"/>", kind, words_of(who).kind, d);
  };
  switch (who) {
    case Who::own: return path("mark", dot(latency, x, y, 4.4));
    case Who::peer: return path("ring", dot(latency, x, y, 5.4));
    case Who::today:
      return path("ring", dot(latency, x, y, 4.6)) + path("mark", dot(latency, x, y, 1.8));
    case Who::named:
    case Who::own_named: return path("ring", dot(latency, x, y, 3.4));
    case Who::limit: break;
  }
  return path("ring", fmt::format("M{:.1f} {:.1f}v14", x, y - 7));
}

bool can_be_drawn(const RungWay& way) { return std::isfinite(way.median) && way.median > 0; }

struct Drawn {
  Who who;
  const RungWay* way;
};

// In the order of drawing: what matters most lies on top.
std::vector<Drawn> ways_of(const Rung& rung) {
  std::vector<Drawn> ways;
  const auto add = [&](Who who, const RungWay& way) {
    if (can_be_drawn(way)) ways.push_back({who, &way});
  };
  if (rung.limit) add(Who::limit, *rung.limit);
  for (const RungWay* way : beside_the_best(rung)) {
    add(way->is_own() ? Who::own_named : Who::named, *way);
  }
  if (rung.today) add(Who::today, *rung.today);
  if (rung.peer) add(Who::peer, *rung.peer);
  if (rung.own) add(Who::own, *rung.own);
  return ways;
}

std::vector<double> all_times(const Ladder& ladder) {
  std::vector<double> times;
  for (const Rung& rung : ladder.rungs) {
    for (const Drawn& drawn : ways_of(rung)) times.push_back(drawn.way->median);
  }
  for (const GreyLine& line : ladder.grey) {
    if (std::isfinite(line.ns) && line.ns > 0) times.push_back(line.ns);
  }
  return times;
}

// From the top down.
class LadderDrawing {
 public:
  LadderDrawing(const Ladder& ladder, const LadderContext& context, const LadderLayout& layout,
                double top)
      : ladder_(ladder),
        context_(context),
        layout_(layout),
        axis_(all_times(ladder), layout),
        row_height_(std::min(layout.row_height,
                             layout.rows / std::fmax(1, static_cast<double>(ladder.rungs.size())))),
        y_(top) {}

  // The lines of a heading; each is drawn below the one before.
  void lines(const char* kind, const std::string& text, double size) {
    for (const std::string& line : wrapped(text, layout_.width - 2 * edge, size)) {
      y_ += 1.3 * size;
      svg_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{:.1f}\" font-size=\"{}\">{}</text>\n",
                          kind, edge, y_ - 0.3 * size, size, html_escaped(line));
    }
  }
  void space(double height) { y_ += height; }

  void draw() {
    legend();
    grey_lines();
    const double first = y_;
    const double last = first + static_cast<double>(ladder_.rungs.size()) * row_height_;
    bands(first);
    scale(first, last);
    for (const Rung& rung : ladder_.rungs) {
      rung_at(rung, y_);
      y_ += row_height_;
    }
    space(20);
    for (const std::string& line : context_lines())
      lines("context", line, layout_.size - 0.5 * wide());
  }

  [[nodiscard]] const std::string& svg() const { return svg_; }
  [[nodiscard]] double height() const { return y_ + 4; }

 private:
  static constexpr double edge = 4;

  // How much lower a row is than the layout has it.
  [[nodiscard]] double missing() const { return layout_.row_height - row_height_; }

  [[nodiscard]] double wide() const { return layout_.wide ? 1 : 0; }

  void put(double x, double y, const std::string& kind, const std::string& text) {
    svg_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", kind, x, y,
                        html_escaped(text));
  }

  void legend() {
    struct Entry {
      std::string mark;
      std::string text;
    };
    const auto outline = [](bool latency) {
      return fmt::format("<path class=\"ring dot\" d=\"{}\"/>", dot(latency, 7, 0, 4));
    };
    std::vector<Entry> entries{{mark(Who::own, false, 7, 0), "this library"},
                               {mark(Who::peer, false, 7, 0), "best other"},
                               {mark(Who::today, false, 7, 0), "what people write"},
                               {mark(Who::limit, false, 7, 0), "minimal version"},
                               {outline(false), "throughput"},
                               {outline(true), "latency"}};
    if (has_whiskers()) {
      entries.push_back({"<path class=\"whisker\" d=\"M2 0H12M2-3V3M12-3V3\"/>", "99 %"});
    }
    for (const auto& [sign, order] : orders()) {
      entries.push_back(
          {fmt::format("<text class=\"middle\" x=\"7\" y=\"4\">{}</text>", sign), order});
    }
    constexpr double room = 16;  // of a mark
    double x = edge;
    double y = y_ + 11;
    for (const Entry& entry : entries) {
      const double needed = room + room_of(entry.text, layout_.size);
      if (x > edge && x + needed > layout_.width - edge) {
        x = edge;
        y += 17;
      }
      svg_ += fmt::format(
          "<g transform=\"translate({:.1f} {:.1f})\">{}<text x=\"{}\" y=\"4\">{}"
          "</text></g>\n",
          x, y, entry.mark, room, entry.text);
      x += needed + 8 + 8 * wide();
    }
    y_ = y + 12;
  }

  // By their signs: of the queues that are named.
  [[nodiscard]] std::map<std::string, std::string> orders() const {
    std::map<std::string, std::string> found;
    for (const Rung& rung : ladder_.rungs) {
      for (const auto& [who, way] : ways_of(rung)) {
        if (who != Who::limit && !sign_of(*way).empty()) found[sign_of(*way)] = order_of(*way);
      }
    }
    return found;
  }

  // Their names stand above the rungs, one below the other, so that no line crosses a name: all to
  // the right of their lines, or all to the left.
  void grey_lines() {
    std::vector<GreyLine> grey;
    for (const GreyLine& line : ladder_.grey) {
      if (std::isfinite(line.ns) && line.ns > 0) grey.push_back(line);
    }
    const auto text = [](const GreyLine& line) {
      return fmt::format("{} {}", line.name, short_duration(line.ns));
    };
    const bool right = std::ranges::all_of(grey, [&](const GreyLine& line) {
      return axis_.at(line.ns) + 4 + room_of(text(line), layout_.size) <= layout_.width;
    });
    std::ranges::sort(grey, [&](const GreyLine& a, const GreyLine& b) {
      return right ? a.ns < b.ns : a.ns > b.ns;
    });
    const double row = layout_.size + 2;
    const double bottom = y_ + row * static_cast<double>(grey.size()) + 4 +
                          static_cast<double>(ladder_.rungs.size()) * row_height_;
    for (const GreyLine& line : grey) {
      const double x = axis_.at(line.ns);
      y_ += row;
      lines_ += fmt::format("M{:.1f} {:.1f}V{:.1f}", x, y_ - row + 3, bottom);
      put(x + (right ? 4 : -4), y_ - 2, right ? "" : "end", text(line));
    }
    space(4);
    svg_ += '\n';
  }

  void bands(double first) {
    for (std::size_t i = 0; i < ladder_.rungs.size(); i += 2) {
      svg_ += fmt::format(
          "<rect class=\"band\" x=\"0\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" "
          "rx=\"4\"/>\n",
          first + static_cast<double>(i) * row_height_, layout_.width, row_height_);
    }
  }

  void scale(double first, double last) {
    constexpr double apart = 6;  // numbers, at least
    double end = -apart;
    std::string path;
    for (const double decade : axis_.decades()) {
      const double x = axis_.at(decade);
      path += fmt::format("M{:.1f} {:.1f}V{:.1f}", x, first, last + 4);
      const std::string text = round_duration(decade);
      const double half = room_of(text, layout_.size) / 2;
      if (x - half < end + apart || x + half > layout_.width) continue;
      end = x + half;
      put(x, last + 16, "middle", text);
    }
    svg_ += fmt::format("\n<path class=\"decade\" d=\"{}\"/>\n", path);
    svg_ += fmt::format("<path class=\"grey\" d=\"{}\"/>\n", lines_);
  }

  void rung_at(const Rung& rung, double y) {
    svg_ += fmt::format("<g class=\"rung{}\">",
                        (&rung - ladder_.rungs.data()) % 2 == 0 ? " banded" : "");
    track(rung, y + layout_.track - missing());
    if (layout_.wide) {
      wide_text(rung, y);
    } else {
      narrow_text(rung, y);
    }
    svg_ += "</g>\n";
  }

  void track(const Rung& rung, double y) {
    const std::vector<Drawn> ways = ways_of(rung);
    svg_ += "<g class=\"track\">";
    if (rung.own && rung.peer && can_be_drawn(*rung.own) && can_be_drawn(*rung.peer)) {
      const char* const tone = tone_of(rung);
      svg_ += fmt::format("<path class=\"span {}\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>",
                          *tone == '\0' ? "open" : tone, axis_.at(rung.own->median), y,
                          axis_.at(rung.peer->median));
    }
    for (const auto& [who, way] : ways) {
      svg_ += fmt::format("<g><title>{}</title>{}{}</g>", html_escaped(tip(rung, who, *way)),
                          mark(who, rung.latency, axis_.at(way->median), y), whisker(*way, y));
    }
    svg_ += "</g>";
    label(ways, y);
  }

  static std::string tip(const Rung& rung, Who who, const RungWay& way) {
    std::string text = fmt::format("{}, {}: {}", rung.title, words_of(who).role, with_figure(way));
    if (!order_of(way).empty()) text += ", " + order_of(way);
    if (std::isfinite(way.low)) text += fmt::format(" ({})", interval_of(way));
    return text;
  }

  // Not where it would be hidden by the mark.
  [[nodiscard]] std::string whisker(const RungWay& way, double y) const {
    if (!std::isfinite(way.low) || !std::isfinite(way.high) || way.low <= 0) return "";
    const double low = std::max(axis_.at(way.low), layout_.plot_left - 6);
    const double high = std::min(axis_.at(way.high), layout_.plot_right + 6);
    if (high - low < 12) return "";
    return fmt::format(
        "<path class=\"whisker\" d=\"M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} {3:.1f}v6"
        "M{1:.1f} {3:.1f}v6\"/>",
        low, high, y, y - 3);
  }

  [[nodiscard]] bool has_whiskers() const {
    return std::ranges::any_of(ladder_.rungs, [&](const Rung& rung) {
      const std::vector<Drawn> ways = ways_of(rung);
      return std::ranges::any_of(
          ways, [&](const Drawn& drawn) { return !whisker(*drawn.way, 0).empty(); });
    });
  }

  // What people write, or else another way of this library: beside its mark; where other marks
  // leave no room there, beside all of them.
  void label(const std::vector<Drawn>& ways, double y) {
    const auto one_of = [&](Who who) { return std::ranges::find(ways, who, &Drawn::who); };
    auto labelled = one_of(Who::today);
    if (labelled == ways.end()) labelled = one_of(Who::own_named);
    if (labelled == ways.end() || layout_.wide) return;
    constexpr double gap = 10;
    const double here = axis_.at(labelled->way->median);
    double first = layout_.width;
    double last = 0;
    double before = -gap;  // the marks next to it, or the ends of the picture
    double after = layout_.width + gap;
    for (const Drawn& drawn : ways) {
      const double x = axis_.at(drawn.way->median);
      first = std::min(first, x);
      last = std::max(last, x);
      if (drawn.who != labelled->who && x <= here) before = std::max(before, x);
      if (drawn.who != labelled->who && x >= here) after = std::min(after, x);
    }
    const std::string text = with_figure(*labelled->way);
    const std::string kind = labelled->who == Who::today ? "today" : "other";
    const double room = room_of(text, layout_.size);
    if (here + gap + room <= after - gap) {
      put(here + gap, y + 3.5, kind, text);
    } else if (here - gap - room >= before + gap) {
      put(here - gap, y + 3.5, kind + " end", text);
    } else if (last + gap + room <= layout_.width) {
      put(last + gap, y + 3.5, kind, text);
    } else if (first - gap - room >= 0) {
      put(first - gap, y + 3.5, kind + " end", text);
    }
  }

  static std::string own_figure(const Rung& rung) {
    return rung.own ? short_duration(rung.own->median) : "-";
  }

  // The other libraries' ways of which people ask and that are not drawn large.
  static std::string others(const Rung& rung) {
    std::string text;
    for (const RungWay* way : beside_the_best(rung)) {
      if (!way->is_own()) text += (text.empty() ? "" : "; ") + with_figure(*way);
    }
    return text;
  }

  void narrow_text(const Rung& rung, double y) {
    const double above = y + 10 - missing() / 2;
    const double below = y + 31.2 - missing();
    const double right = layout_.width - edge;
    put(edge, above, "strong", rung.title);
    put(right, above, "own end", own_figure(rung) + (rung.own ? sign_of(*rung.own) : ""));
    std::string beside = others(rung);
    if (beside.empty() && rung.own) beside = name_of_way(rung.own->contender);
    const char* const tone = tone_of(rung);
    const double wider = *tone == '\0' ? 1 : bold;
    std::string said = verdict_with_peer(rung);
    const double room = (right - edge) / wider;
    if (rung.own && rung.peer) {
      const std::string longer = fmt::format("{}, {}", said, short_duration(rung.peer->median));
      said = fits(longer, room) ? longer : fits(said, room) ? said : verdict_text(rung);
    }
    put(edge, below, tone, said);
    const double left = right - edge - wider * room_of(said, layout_.size) - 10;
    if (left >= room_of(beside, layout_.size)) put(right, below, "end", beside);
  }

  void wide_text(const Rung& rung, double y) {
    const double above = y + 14 - missing() / 2;
    const double below = y + 28.5 - missing();
    put(8, above, "strong", rung.title);
    svg_ +=
        fmt::format("<text x=\"8\" y=\"{:.1f}\"><tspan class=\"own\">{}</tspan> {}</text>", below,
                    own_figure(rung), rung.own ? html_escaped(signed_name(*rung.own)) : "");
    const double room = layout_.width - edge - wide_right;
    std::string said = verdict_with_peer(rung);
    const std::string with_range = with_range_of(said, rung);
    const bool is_named = fits(said, room / bold);
    if (!is_named) said = verdict_text(rung);
    if (fits(with_range, room / bold)) said = with_range;
    put(wide_right, above, tone_of(rung), said);
    put(wide_right, below, "", figures(rung, is_named, room));
  }

  bool fits(const std::string& text, double room) const {
    return room_of(text, layout_.size) <= room;
  }

  // The peer's, whose name may stand above, and as many of the other ways' as there is room for.
  std::string figures(const Rung& rung, bool is_named, double room) const {
    std::vector<std::string> all;
    if (rung.peer) {
      all.push_back(is_named ? short_duration(rung.peer->median) : with_figure(*rung.peer));
    }
    for (const RungWay* way : beside_the_best(rung)) all.push_back(with_figure(*way));
    if (rung.today && (!rung.peer || rung.today->contender != rung.peer->contender)) {
      all.push_back(with_figure(*rung.today));
    }
    if (rung.peer && is_named) {
      std::vector<std::string> clearer = all;
      clearer[0] += " there";
      if (fits(fmt::format("{}", fmt::join(clearer, "; ")), room)) all = clearer;
    }
    while (!fits(fmt::format("{}", fmt::join(all, "; ")), room)) all.pop_back();
    return fmt::format("{}", fmt::join(all, "; "));
  }

  [[nodiscard]] std::vector<std::string> context_lines() const {
    std::vector<std::string> found;
    const auto join = [](std::initializer_list<std::string> parts) {
      std::string text;
      for (const std::string& part : parts) {
        if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
      }
      return text;
    };
    const std::string& host = context_.hypervisor;
    const std::string used = context_.threads.empty() ? "" : context_.threads + " threads";
    const std::string where = host.empty()     ? ""
                              : host == "none" ? "not virtual"
                                               : fmt::format("virtual ({})", host);
    const std::string version = context_.version.empty() ? "" : "handoff " + context_.version;
    const std::string date = context_.date.empty() ? "" : "measured " + context_.date;
    found.push_back(join({context_.machine, used, where}));
    found.push_back(join(
        {date, context_.compiler, version, fmt::format("{}", fmt::join(ladder_.peers, ", "))}));
    return found;
  }

  const Ladder& ladder_;
  const LadderContext& context_;
  const LadderLayout& layout_;
  LogAxis axis_;
  double row_height_;
  double y_;
  std::string svg_;
  std::string lines_;  // the grey ones, as a path
};

}  // namespace

LadderContext context_of(const Environment& environment, const Ladder& ladder) {
  LadderContext context{environment.machine(),    "",
                        environment.hypervisor(), environment.date().substr(0, 10),
                        environment.compiler(),   environment.version()};
  double threads = 0;
  for (const Rung& rung : ladder.rungs) {
    threads = std::fmax(threads, value_named(rung.parameters, "width").number());
  }
  if (threads > 0) context.threads = fmt::format("{:g}", threads);
  return context;
}

std::string ladder_svg(const Ladder& ladder, const LadderContext& context, LadderForm form) {
  const bool wide = form == LadderForm::wide;
  LadderDrawing picture(ladder, context, wide ? wide_layout : narrow_layout, 0);
  picture.draw();
  return fmt::format(
      "<svg class=\"ladder {}\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>",
      wide ? "wide" : "narrow", wide ? wide_layout.width : narrow_layout.width, picture.height(),
      html_escaped(ladder_in_words(ladder)), picture.svg());
}

std::string ladder_svg(const Ladder& ladder, const LadderContext& context) {
  constexpr double margin = 12;
  LadderDrawing picture(ladder, context, narrow_layout, 0);
  picture.lines("strong", "What handing over work costs", 17);
  picture.space(4);
  picture.lines("said", fmt::format("{}: {}.", ladder.title, sum_of(ladder)), 13);
  if (!ladder.busy.empty()) picture.lines("bad", ladder.busy, 13);
  picture.lines("said", ladder.sentence, 13);
  picture.space(10);
  picture.draw();
  const double width = narrow_layout.width + 2 * margin;
  const double height = picture.height() + 2 * margin;
  constexpr double scale = 1.25;  // of a page that says nothing
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ladder\" width=\"{:.0f}\" "
      "height=\"{:.0f}\" viewBox=\"{} {} {} {:.0f}\" role=\"img\" aria-label=\"{}\">\n"
      "<title>What handing over work costs</title>\n<desc>{}</desc>\n<style>\n{}{}</style>\n"
      "<rect class=\"paper\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{:.0f}\"/>\n{}</svg>\n",
      scale * width, scale * height, -margin, -margin, width, height, html_escaped(ladder.sentence),
      html_escaped(ladder_in_words(ladder)), palette_style, ladder_style, -margin, -margin, width,
      height, picture.svg());
}

}  // namespace handoff::lab
