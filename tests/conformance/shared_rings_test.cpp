// SPDX-License-Identifier: MIT
//
// The transfer suite on the rings of shared memory, by threads: what holds between processes holds
// between them, and the suite's threads meet more closely.
#include "conformance/transfer_suite.hpp"
#include "support/test.hpp"
#include "unit/process/forked.hpp"

namespace handoff::test { namespace {

// What both kinds of queue have. The suite's visitors may change the item: they get a copy.
template <class Ring, class T>
class WithConsumer {
 public:
  Status try_pop(T& out) { return in_.try_pop(out); }
  template <class Visitor>
  std::size_t consume(Visitor&& visitor,
                      std::size_t most = std::numeric_limits<std::size_t>::max()) {
    const auto visit = [&](const T& item) {
      T copy = item;
      visitor(copy);
    };
    return in_.consume(visit, most);
  }
  std::size_t capacity() const { return ring_.capacity(); }
  void close() { ring_.close(); }
  bool closed() const { return ring_.closed(); }
  std::size_t size() const { return ring_.size(); }
  bool empty() const { return ring_.empty(); }

 protected:
  template <class... Producers>
  explicit WithConsumer(std::size_t capacity, Producers... producers)
      : page_(Ring::bytes_for(capacity, producers...)),
        ring_(Ring::create(page_.bytes(), capacity, producers...)),
        in_(ring_) {}

  CommonPages page_;
  Ring ring_;
  typename Ring::Consumer in_;
};

template <class T>
class OneProducer : public WithConsumer<SharedRing<T>, T> {
 public:
  explicit OneProducer(std::size_t capacity)
      : WithConsumer<SharedRing<T>, T>(capacity), out_(this->ring_) {}
  Status try_push(const T& item) { return out_.try_push(item); }
  std::size_t try_push_batch(std::span<const T> items) { return out_.try_push_batch(items); }
  std::size_t try_pop_batch(std::span<T> out) { return this->in_.try_pop_batch(out); }

 private:
  typename SharedRing<T>::Producer out_;
};

// Each thread that pushes gets a producer of its own.
template <class T>
class ManyProducers : public WithConsumer<SharedMpscRing<T>, T> {
 public:
  explicit ManyProducers(std::size_t capacity)
      : WithConsumer<SharedMpscRing<T>, T>(capacity, kMost) {}
  Status try_push(const T& item) { return mine().try_push(item); }
  std::size_t try_push_batch(std::span<const T> items) { return mine().try_push_batch(items); }
  std::size_t try_pop_batch(std::span<T> out) { return this->in_.try_pop_batch(out); }

 private:
  using Producer = typename SharedMpscRing<T>::Producer;
  static constexpr std::size_t kMost = 16;  // threads that push to one queue, ever
  struct End {
    std::atomic<unsigned> owner{0};  // 0: nobody
    std::optional<Producer> producer;
  };

  static unsigned self() {
    static std::atomic<unsigned> threads{0};
    thread_local const unsigned number = ++threads;
    return number;
  }
  Producer& mine() {
    for (std::size_t slot = 0; slot < kMost; ++slot) {
      unsigned owner = ends_[slot].owner;
      if (owner == self()) return *ends_[slot].producer;
      if (owner != 0 || !ends_[slot].owner.compare_exchange_strong(owner, self())) continue;
      return ends_[slot].producer.emplace(this->ring_, slot);
    }
    throw std::length_error("more threads than this queue was made for");
  }

  std::array<End, kMost> ends_;
};

struct Spsc {
  template <class T>
  using Queue = OneProducer<T>;
};
struct Mpsc {
  template <class T>
  using Queue = ManyProducers<T>;
  static constexpr unsigned consumers_max = 1;
};

using All = testing::Types<Spsc, Mpsc>;
using InBatches = All;
using FromMany = testing::Types<Mpsc>;

INSTANTIATE_TYPED_TEST_SUITE_P(SharedRings, TransferBasics, All);
INSTANTIATE_TYPED_TEST_SUITE_P(SharedRings, TransferBounds, All);
INSTANTIATE_TYPED_TEST_SUITE_P(SharedRings, TransferBatches, InBatches);
INSTANTIATE_TYPED_TEST_SUITE_P(SharedRings, TransferStress, All);
INSTANTIATE_TYPED_TEST_SUITE_P(SharedRings, TransferManyProducers, FromMany);
INSTANTIATE_TYPED_TEST_SUITE_P(SharedRings, TransferCloseRace, FromMany);
// Not instantiated here: what wants items that are no bytes (TransferItems, TransferWholeItem), and
// try_emplace (TransferContract).
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransferItems);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransferContract);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransferManyConsumers);

}}  // namespace handoff::test
