// SPDX-License-Identifier: MIT
//
// Memory that comes after a team or a pool: workers of both kinds are handed it when a SharedSpan
// asks for it, and pointers into it are refused.
#include "support/test.hpp"
#include "unit/process/worker_support.hpp"
#include "unit/process/worker_work.hpp"

namespace handed_memory_test { namespace {

using namespace handoff;
using namespace worker_support;
using worker_work::Copy;

SharedSpan<const std::uint64_t> rows_that_are_gone() { return Table().rows(); }

// A run with a pointer into memory that its workers do not have there is refused.
template <class Run>
void expect_not_that_address(const Run& run) {
  const std::system_error error = test::caught<std::system_error>(run).value();
  EXPECT_EQ(error.code().value(), EFAULT);
  EXPECT_TRUE(test::says(error, "SharedSpan")) << error.what();
}

TEST(HandedMemory, MemoryThatCameAfterTheTeamIsMappedAtItsFirstUse) {
  ProcessTeam team{{.width = 2, .program = worker("works")}};
  for (std::uint64_t i = 1; i < 4; ++i) {
    const Table table;
    EXPECT_EQ(team.run("rows", kRows, table.work(i)).done, kRows);
    table.expect_rows(i, kRows);
  }
}

TEST(HandedMemory, MemoryThatIsNotUsedAnyMoreIsUnmapped) {
  ProcessTeam team{{.width = 1, .program = worker("works")}};
  const Table looked;
  for (int i = 0; i < 20; ++i) {
    const Table table;
    EXPECT_EQ(team.run("rows", kRows, table.work(1)).done, kRows);
    EXPECT_EQ(team.run("look", 1, looked.work(1)).done, 1U);
  }
  EXPECT_LE(looked.notes().mappings, 12U);
}

TEST(HandedMemory, WhatOnlyItsCreatorWritesIsReadOnlyThere) {
  const Table sealed(true);
  const Table open;
  for (std::uint64_t& each : sealed.rows().get()) each = 9;
  ProcessTeam team{{.width = 1, .program = worker("works")}};
  EXPECT_EQ(team.run("copy", kRows, Copy{sealed.rows(), open.rows()}).done, kRows);
  EXPECT_EQ(open.rows().get()[kRows - 1], 9U);
  const auto back = [&] { return team.run("copy", 1, Copy{open.rows(), sealed.rows()}); };
  EXPECT_TRUE(test::says(test::caught<WorkFailed>(back).value(), "for reading only"));
}

TEST(HandedMemory, MemoryThatIsGoneIsMissed) {
  ProcessTeam team{{.width = 1, .program = worker("works")}};
  const Table open;
  const Copy copy{rows_that_are_gone(), open.rows()};
  const auto run = [&] { return team.run("copy", 1, copy); };
  EXPECT_TRUE(test::says(test::caught<WorkFailed>(run).value(), "has not its memory"));
}

struct Pointers {
  std::uint64_t number = 0;
  std::uint64_t* rows = nullptr;
};
void set_by_pointer(IndexRange range, const Pointers& given) {
  for (const std::size_t i : range) given.rows[i] = given.number;
}
void set_by_span(IndexRange range, const Work& work) {
  for (const std::size_t i : range) work.rows.get()[i] = row(work.factor, i);
}

TEST(HandedMemory, ForksAreHandedMemoryThatCameAfterThemToo) {
  const Table before;
  ProcessTeam team(2);
  const Table after;
  EXPECT_EQ(team.run<set_by_span>(kRows, after.work(3)).done, kRows);
  after.expect_rows(3, kRows);
  std::uint64_t* const known = before.rows().get().data();
  EXPECT_EQ(team.run<set_by_pointer>(kRows, Pointers{4, known}).done, kRows);
  expect_not_that_address(
      [&] { return team.run<set_by_pointer>(kRows, Pointers{4, after.rows().get().data()}); });
  EXPECT_EQ(team.run<set_by_pointer>(kRows, Pointers{5, known}).done, kRows);
}

// ---- A pool ------------------------------------------------------------------------------------

struct Sum {
  SharedSpan<const std::uint64_t> rows;
};
std::uint64_t sum_of(const Sum& given) {
  std::uint64_t sum = 0;
  for (const std::uint64_t each : given.rows.get()) sum += each;
  return sum;
}

TEST(HandedMemory, ComesToTheWorkersOfAPool) {
  ProcessPool pool{{.width = 2}};
  for (std::uint64_t i = 1; i < 10; ++i) {
    const Table table;
    for (std::uint64_t& each : table.rows().get()) each = i;
    EXPECT_EQ(pool.submit<sum_of>(Sum{table.rows()}).get(), i * kRows);
  }
  EXPECT_THROW((void)pool.submit<sum_of>(Sum{rows_that_are_gone()}).get(), WorkFailed);
}

TEST(HandedMemory, PointersAreRefused) {
  const Table table;
  ProcessTeam team{{.width = 1, .program = worker("works")}};
  Work work = table.work(0);
  const std::uint64_t* const address = work.rows.get().data();
  std::memcpy(&work.factor, &address, sizeof address);
  expect_not_that_address([&] { return team.run("rows", 1, work); });
}

}}  // namespace handed_memory_test
