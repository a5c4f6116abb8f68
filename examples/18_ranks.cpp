// SPDX-License-Identifier: MIT
//
// The Mandelbrot set by the processes of an Open MPI job, on one machine or many:
//
//   mpirun -n 4 example_18_ranks
//   mpirun --host a:8,b:8 --map-by slot:PE=8 example_18_ranks
//
// Rows cost unlike, so nobody knows beforehand who should have which: each rank claims some, and
// rank 0 has the picture in the end. Without mpirun it is one rank, with the same picture.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <vector>

#include <handoff/mpi/rank_team.hpp>

namespace {

constexpr std::size_t kRows = 300;
constexpr std::size_t kColumns = 400;

struct View {
  double left;
  double top;
  double step;
};

std::uint8_t depth_at(const View& view, std::size_t row, std::size_t column) {
  const std::complex<double> c(view.left + view.step * static_cast<double>(column),
                               view.top - view.step * static_cast<double>(row));
  std::complex<double> z = 0;
  std::uint8_t depth = 0;
  while (depth < 255 && std::norm(z) <= 4) {
    z = z * z + c;
    ++depth;
  }
  return depth;
}

void draw(const View& view, handoff::IndexRange rows, std::span<std::uint8_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = depth_at(view, rows.first + i / kColumns, i % kColumns);
  }
}

}  // namespace

int main() {
  handoff::RankTeam team{{.threads = 1}};

  // Rank 0 knows what to draw, and tells the others.
  View view{};
  if (team.rank() == 0) view = {.left = -2, .top = 1.2, .step = 0.008};
  team.broadcast(std::span(&view, 1));

  std::vector<std::uint8_t> picture(team.rank() == 0 ? kRows * kColumns : 0);
  const handoff::Tally tally = team.run(
      kRows, [&](handoff::IndexRange rows, std::span<std::uint8_t> out) { draw(view, rows, out); },
      picture);

  // The same bits on all ranks, however many they are.
  const double area = team.reduce(
      kRows, 0.0,
      [&](std::size_t row) {
        double inside = 0;
        for (std::size_t x = 0; x < kColumns; ++x) inside += depth_at(view, row, x) == 255 ? 1 : 0;
        return inside * view.step * view.step;
      },
      std::plus<>());

  if (tally.done != kRows) return 1;
  if (team.rank() != 0) return 0;
  std::printf("%zu ranks, area %.3f\n", team.ranks(), area);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t x = 0; x < kColumns; ++x) {
      if (picture[row * kColumns + x] != depth_at(view, row, x)) return 1;
    }
  }
  return area > 1.4 && area < 1.7 ? 0 : 1;
}
