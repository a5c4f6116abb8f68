// SPDX-License-Identifier: MIT
// `--kill RATE`: products while workers are killed, beside the same products without. Only those
// with kills are timed by the lab. Each of them is looked at: it begins with poison and must be,
// byte by byte, what it is without kills. How many were killed in the burst and what that cost are
// figures beside the metric.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "harness/protocol.hpp"
#include "scenarios/matmul/contender.hpp"
#include "scenarios/matmul/random_kills.hpp"

namespace handoff::lab::matmul {

template <class Work>
double ns_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  return taken.count();
}

class KilledProducts {
 public:
  // `multiply` computes all of C, also if workers are killed meanwhile. The team is made already.
  KilledProducts(const Task& task, Operation multiply)
      : task_(task),
        multiply_(std::move(multiply)),
        bytes_(std::visit([](const auto& o) { return o.m * o.n * sizeof(*o.c); }, task.operands)),
        kills_(static_cast<double>(task.kills)) {}

  // An operation of the lab.
  void run() {
    constexpr int in_a_row = 4;  // of each kind; the scenario knows that it is nine in all
    if (task_.burst != burst_) begin_burst();
    multiply_();  // replaces workers that were killed when the last product was nearly done
    for (int i = 0; i < in_a_row; ++i) plain_ns_ += ns_of(multiply_);
    right_.assign(task_.output, task_.output + bytes_);
    for (int i = 0; i < in_a_row; ++i) multiply_with_kills();
    burst_->items(in_a_row);
    report();
  }

 private:
  // The bursts of a launch are objects that live at the same time as the one before and the one
  // after, so no two neighbours have one address.
  void begin_burst() {
    burst_ = task_.burst;
    plain_ns_ = 0;
    killed_ns_ = 0;
    killed_before_ = kills_.killed();
  }

  void multiply_with_kills() {
    std::memset(task_.output, protocol::poison, bytes_);
    kills_.begin();
    burst_->timed([this] { killed_ns_ += ns_of(multiply_); });
    kills_.end();
    if (std::memcmp(task_.output, right_.data(), bytes_) != 0) {
      throw std::runtime_error("with workers killed the product is another one");
    }
  }

  void report() {
    const auto killed = static_cast<double>(kills_.killed() - killed_before_);
    burst_->figure("killed", killed);
    burst_->figure("times_as_long", killed_ns_ / plain_ns_);
    if (killed > 0) burst_->figure("ms_a_kill", (killed_ns_ - plain_ns_) / 1e6 / killed);
  }

  const Task& task_;
  const Operation multiply_;
  const std::size_t bytes_;
  std::vector<std::byte> right_;
  Burst* burst_ = nullptr;
  double plain_ns_ = 0;
  double killed_ns_ = 0;
  std::size_t killed_before_ = 0;
  RandomKills kills_;
};

}  // namespace handoff::lab::matmul
