// SPDX-License-Identifier: MIT
// pthreadpool, which runs the loops of XNNPACK and PyTorch: `width` threads, the caller included.
// It has loops only.
#pragma once

#include <pthreadpool.h>

#include "peers/job.hpp"

namespace handoff::lab::peers {

class PThreadPool {
 public:
  explicit PThreadPool(std::size_t width)
      : width_(width), pool_(pthreadpool_create(width), &pthreadpool_destroy) {
    if (pool_ == nullptr) throw std::runtime_error("no pool could be made");
  }

  // Equal blocks: it wants to be told their size.
  template <class Body>
  void loop(std::size_t count, const Body& body) {
    const auto block = [&body](std::size_t first, std::size_t indices) {
      for (std::size_t i = first; i < first + indices; ++i) body(i);
    };
    const std::size_t indices = std::max<std::size_t>((count + width_ - 1) / width_, 1);
    pthreadpool_parallelize_1d_tile_1d(pool_.get(), block, count, indices);
  }

 private:
  std::size_t width_;
  std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> pool_;
};

}  // namespace handoff::lab::peers
