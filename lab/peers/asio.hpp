// SPDX-License-Identifier: MIT
// Asio's thread pool. It cannot be waited for and used again, so a batch's last task tells.
#pragma once

#if __has_include(<asio.hpp>)
#include <asio/packaged_task.hpp>
#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
namespace net = asio;
#else
#include <boost/asio/packaged_task.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
namespace net = boost::asio;
#endif

#include "peers/job.hpp"

namespace handoff::lab::peers {

class Asio {
 public:
  explicit Asio(std::size_t width) : pool_(width) {}

  void begin(std::size_t count) { outstanding_.begin(count); }
  template <class F>
  void execute(F job) {
    net::post(pool_, [this, job] {
      static_cast<void>(job());
      outstanding_.done();
    });
  }
  void wait() { outstanding_.wait(); }
  std::future<std::uint64_t> submit(Job job) {
    return net::post(pool_, std::packaged_task<std::uint64_t()>(job));
  }

 private:
  Outstanding outstanding_;
  net::thread_pool pool_;
};

}  // namespace handoff::lab::peers
