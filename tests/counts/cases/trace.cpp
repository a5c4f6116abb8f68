// SPDX-License-Identifier: MIT
//
// What a trace costs what is traced.
#include <handoff/pool/thread_pool.hpp>
#include <handoff/trace/trace.hpp>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;

}  // namespace

HANDOFF_COUNT_CASE(trace) {
  handoff::ThreadPool pool(1);
  if (handoff::trace::start("/dev/null")) std::abort();
  rounds([&](bool counts) {
    const CountedOfAll counted("trace.post + run/traced, hot", counts);
    pool.post([] {});
    settle();
  });
  (void)handoff::trace::stop();
}
