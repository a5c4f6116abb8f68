// SPDX-License-Identifier: MIT
//
// Rings, SegmentQueue, Channel and StealDeque against something plain.
#include <deque>

#include <handoff/queue/channel.hpp>
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/mpsc_ring.hpp>
#include <handoff/queue/segment_queue.hpp>
#include <handoff/queue/spsc_ring.hpp>
#include <handoff/queue/steal_deque.hpp>

#include "books/queue_books.hpp"
#include "model/transfer_model.hpp"

namespace {

using namespace handoff;
using namespace handoff::test;

template <class Queue, class Real = Queue>
ModelOf transfer() {
  return model<TransferModel<Queue, Real>>(transfer_words);
}

using Segments = SegmentQueue<Item, 3>;

const ModelTest spsc("spsc_ring", transfer<SpscRing<Item>>());
const ModelTest mpsc("mpsc_ring", transfer<MpscRing<Item>>());
const ModelTest mpmc("mpmc_ring", transfer<MpmcRing<Item>>());
const ModelTest segments("segment_queue", transfer<Segments>());
const ModelTest channel("channel", transfer<Channel<Item>>());
const ModelTest spsc_channel("channel/spsc_ring", transfer<Channel<Item, SpscRing<Item>>>());
const ModelTest segment_channel("channel/segment_queue", transfer<Channel<Item, Segments>>());

// A queue that takes its items in the other order once there are three of them.
class Swapping : public MpmcRing<Item> {
 public:
  using MpmcRing<Item>::MpmcRing;
  Status try_pop(Item& out) noexcept {
    if (size() < 3) return MpmcRing<Item>::try_pop(out);
    Item first;
    (void)MpmcRing<Item>::try_pop(first);
    const Status status = MpmcRing<Item>::try_pop(out);
    (void)MpmcRing<Item>::try_push(std::move(first));
    return status;
  }
};

const ModelCanary swapping("mpmc_ring/swaps", transfer<Swapping, MpmcRing<Item>>(), 4);

// A queue whose batch loses an item where there is no memory.
class Losing : public Segments {
 public:
  std::size_t try_push_batch(std::span<Item> items) {
    try {
      return Segments::try_push_batch(items);
    } catch (const std::bad_alloc&) {
      if (!items.empty()) const Item lost = std::move(items.front());
      throw;
    }
  }
};

// Three fill a segment, and the batch needs another one.
const ModelCanary losing("segment_queue/loses_without_memory", transfer<Losing, Segments>(), 4);

// The owner and the thief are one thread here.
class DequeModel : public Model {
 public:
  void step(const Step& step) override {
    switch (step.what) {
      case 0: push(step); break;
      case 1: {
        int out = 0;
        const bool got = deque_.pop(out) == Status::ok;
        take("pop", got, out, [this] { return plain_.back(); });
        if (got) plain_.pop_back();
        break;
      }
      default: {
        int out = 0;
        const bool got = deque_.steal(out) == Status::ok;
        take("steal", got, out, [this] { return plain_.front(); });
        if (got) plain_.pop_front();
        break;
      }
    }
    agree_on("empty", deque_.empty(), plain_.empty());
    agree_with_book(deque_);
  }

 private:
  void push(const Step& step) {
    const std::size_t count = step.a % 4 + 1;
    if (!has_memory_for(step, [&] { deque_.reserve(count); })) return;
    for (std::size_t i = 0; i < count; ++i) {
      deque_.push(++last_);
      plain_.push_back(last_);
    }
  }

  template <class Expected>
  void take(const char* what, bool got, int out, Expected expected) {
    agree_on(what, got, !plain_.empty());
    if (got) agree_on(what, out, expected());
  }

  StealDeque<int> deque_{1};
  std::deque<int> plain_;
  int last_ = 0;
};

const ModelTest deque("steal_deque", model<DequeModel>({{"push", 3}, {"pop", 3}, {"steal", 3}}));

}  // namespace
