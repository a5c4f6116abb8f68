// SPDX-License-Identifier: MIT
//
// A stranger's program: a pool, and the results of its tasks.

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <handoff/handoff.hpp>

using namespace std::chrono_literals;

int main() {
  handoff::ThreadPool pool(4);

  std::vector<handoff::Future<int>> squares;
  for (int i = 0; i < 100; ++i) {
    squares.push_back(pool.submit([](int n) { return n * n; }, i));
  }
  int sum = 0;
  for (handoff::Future<int>& square : squares) sum += square.get();

  handoff::Future<std::string> text =
      pool.submit([] { return std::string("forty"); }).then([](std::string word) {
        return word + "-two";
      });

  auto failing = pool.submit([]() -> int { throw std::runtime_error("thrown in a task"); });
  std::string caught;
  try {
    sum += failing.get();
  } catch (const std::runtime_error& error) {
    caught = error.what();
  }

  auto named = pool.submit([] { return 1; }, {.name = "one", .priority = handoff::Priority::high});
  if (named.wait(1min) != handoff::Status::ok) return 1;
  sum += named.get();

  const bool right = sum == 328'351 && text.get() == "forty-two" && caught == "thrown in a task";
  const handoff::Tally tally = pool.close(handoff::Closing::finish);
  if (!right || tally.accepted != tally.done + tally.failed) return 1;
  std::puts("right");
}
