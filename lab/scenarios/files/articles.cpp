// SPDX-License-Identifier: MIT
// The article prints clock(), which adds up the CPU time of all threads, and takes it for the time
// that passed. Beside it stands here, once, the same clock, and once the time that did pass.
//
// Its figures are not those of files that were written: 5,120 calls for each file took 2.5 ms,
// 0.5 us for 16 KiB with a sync. So fast is a call that fails: files are made with whatever mode
// is on the stack, the next run may not open them, and no result is looked at.
#include "scenarios/files/articles.hpp"

#include <array>
#include <string>

#include <fmt/format.h>

namespace handoff::lab::files {
namespace {

struct Line {
  const char* files;
  double thread_per_file;
  double pool;
  double io_thread;
  double single;
};
// As printed, in us.
constexpr std::array kLines{Line{"5", 20202, 15302, 12598, 12910},
                            Line{"10", 39416, 31865, 25251, 24894},
                            Line{"50", 204716, 143714, 121179, 122469}};

Article article_of(const Line& line, const char* clock) {
  constexpr double us_per_ms = 1000;
  Cell cell("article");
  cell.set("files", line.files);
  cell.set("mib", "80");
  cell.set("clock", clock);
  const bool same = std::string(clock) == "cpu";
  const std::string note = same ? "clock(); 0.5 us a call: its calls failed" : "clock() there";
  const std::string why = same ? "there its calls failed" : "another clock there";
  const auto row = [&](const char* scheme, double us, const char* contender) {
    return ArticleRow{scheme, us / us_per_ms, note, contender, why, {}};
  };
  return {fmt::format("An experiment with parallel IO (MacBook): {} files of 80 MiB, {}",
                      line.files, same ? "by clock()" : "by the time that passes here"),
          cell,
          {row("one_thread_in_all", line.single, "seed.single"),
           row("one_io_thread", line.io_thread, "seed.io_thread"),
           row("fake_thread_pool", line.pool, "seed.round_robin"),
           row("one_thread_per_task", line.thread_per_file, "seed.thread_per_file")},
          1};
}

}  // namespace

std::vector<Article> articles_of_files() {
  std::vector<Article> articles;
  for (const Line& line : kLines) {
    articles.push_back(article_of(line, "cpu"));
    articles.push_back(article_of(line, "wall"));
  }
  return articles;
}

}  // namespace handoff::lab::files
