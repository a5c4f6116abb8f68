// SPDX-License-Identifier: MIT
// What needs no library.
#include "peers/serial.hpp"
#include "scenarios/grain/measure.hpp"

namespace handoff::lab::grain {
namespace {

// The least that members of a loop need: one line to each of them, with all that it has to know,
// and one back. All of them spin all the time.
class Spinners : Pinned {
 public:
  explicit Spinners(std::size_t width) : lanes_(width - 1) {
    if (width > std::thread::hardware_concurrency()) throw Unavailable("it needs a CPU a thread");
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      threads_.emplace_back([this, i] { spin(lanes_[i], i + 1); });
    }
  }
  ~Spinners() {
    for (Lane& lane : lanes_) lane.order.share = nullptr;
    begin();
  }

  template <class Body>
  void loop(std::size_t count, const Body& body) {
    static_assert(std::is_trivially_copyable_v<Body> && sizeof(Body) <= sizeof(Order::body));
    for (Lane& lane : lanes_) {
      lane.order.share = [](const Order& order, std::size_t first, std::size_t step) {
        const Body& copy = *reinterpret_cast<const Body*>(order.body);
        for (std::size_t i = first; i < order.count; i += step) copy(i);
      };
      lane.order.count = count;
      std::memcpy(lane.order.body, &body, sizeof body);
    }
    begin();
    for (std::size_t i = 0; i < count; i += lanes_.size() + 1) body(i);
    for (const Lane& lane : lanes_) await(lane.ended, round_);
  }

 private:
  struct Order {
    void (*share)(const Order& order, std::size_t first, std::size_t step) = nullptr;
    std::size_t count = 0;
    alignas(std::max_align_t) std::byte body[32];
  };
  struct Lane {
    alignas(128) std::atomic<std::uint64_t> begun{0};
    Order order;
    alignas(128) std::atomic<std::uint64_t> ended{0};
  };
  static_assert(offsetof(Lane, order) + sizeof(Order) <= 64);

  // A thread that has waited for longer than a loop takes yields: another one may need its CPU.
  static void await(const std::atomic<std::uint64_t>& round, std::uint64_t expected) {
    constexpr std::uint64_t patience = 100'000;
    for (std::uint64_t looks = 0; round.load(std::memory_order_acquire) != expected;) {
      if (++looks > patience) std::this_thread::yield();
    }
  }

  void begin() {
    ++round_;
    for (Lane& lane : lanes_) lane.begun.store(round_, std::memory_order_release);
  }

  void spin(Lane& lane, std::size_t member) {
    for (std::uint64_t round = 1;; ++round) {
      await(lane.begun, round);
      if (lane.order.share == nullptr) return;
      lane.order.share(lane.order, member, lanes_.size() + 1);
      lane.ended.store(round, std::memory_order_release);
    }
  }

  std::vector<Lane> lanes_;
  std::uint64_t round_ = 0;
  std::vector<std::jthread> threads_;  // joined first
};

// What people write without a library: a std::thread for each member but the caller, joined.
class Threads {
 public:
  explicit Threads(std::size_t width) : width_(width) {}

  template <class Body>
  void loop(std::size_t count, const Body& body) {
    const auto block = [&](std::size_t member) {
      const std::size_t end = count * (member + 1) / width_;
      for (std::size_t i = count * member / width_; i < end; ++i) body(i);
    };
    std::vector<std::thread> others;
    for (std::size_t member = 1; member < width_; ++member) others.emplace_back(block, member);
    block(0);
    for (std::thread& other : others) other.join();
  }

 private:
  std::size_t width_;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"limit.serial", measure<peers::Serial>},
                                         {"limit.spin", measure<Spinners>},
                                         {"peer.std_threads", measure<Threads>}})(task);
}

}  // namespace handoff::lab::grain
