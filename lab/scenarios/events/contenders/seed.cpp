// SPDX-License-Identifier: MIT
// The article's queue: as it was, and with all that it changed.
#include <atomic>
#include <shared_mutex>
#include <thread>

#include "scenarios/events/eventpp_style.hpp"

namespace handoff::lab::events {
namespace {

// The article's base: a std::mutex taken for every step, nodes from the heap.
struct Base {
  using Mutex = std::mutex;
  using MapMutex = std::mutex;
  using MapLock = std::scoped_lock<std::mutex>;
  static constexpr std::size_t batch = 1;
  static constexpr std::size_t line = alignof(std::max_align_t);
  static constexpr bool tries = false;
  template <class T>
  using Allocator = std::allocator<T>;

  template <class Ready>
  static bool look(Ready&& /*ready*/) {
    return false;
  }
};

// The article's own changes, all of its "high performance" policy: spin locks that back off, lists
// read eight nodes at a time, a shared lock on the map, a lock on the free nodes that is only
// tried, nodes from a pool with a lock-free free list, members on lines of their own, and a
// consumer that looks for a while before it sleeps.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

class SpinLock {
 public:
  void lock() {
    for (unsigned backoff = 1; locked_.test_and_set(std::memory_order_acquire);) {
      for (unsigned i = 0; i < backoff; ++i) pause();
      if (backoff < 64) backoff *= 2;
    }
  }
  bool try_lock() { return !locked_.test_and_set(std::memory_order_acquire); }
  void unlock() { locked_.clear(std::memory_order_release); }

 private:
  std::atomic_flag locked_;
};

// Nodes of one type, from slabs of 8192. The word of the free list has a count in the bits that an
// address does not use, against the fault of A-B-A.
template <class T>
class Pool {
 public:
  static Pool& instance() {
    static Pool pool;
    return pool;
  }

  T* take() {
    for (std::uintptr_t top = top_.load(std::memory_order_acquire);;) {
      if (node(top) == nullptr) {
        grow();
        top = top_.load(std::memory_order_acquire);
        continue;
      }
      const std::uintptr_t next = word(node(top)->next.load(std::memory_order_relaxed), top);
      if (top_.compare_exchange_weak(top, next, std::memory_order_acq_rel)) {
        return reinterpret_cast<T*>(node(top));
      }
    }
  }
  void give(T* memory) {
    Node* const freed = ::new (static_cast<void*>(memory)) Node;
    link(freed, freed);
  }

 private:
  union Node {
    Node() : next(nullptr) {}
    std::atomic<Node*> next;
    alignas(T) std::byte memory[sizeof(T)];
  };
  static constexpr std::uintptr_t kAddress = (std::uintptr_t{1} << 48) - 1;

  static Node* node(std::uintptr_t word) { return reinterpret_cast<Node*>(word & kAddress); }
  static std::uintptr_t word(Node* node, std::uintptr_t before) {
    return reinterpret_cast<std::uintptr_t>(node) | ((before & ~kAddress) + kAddress + 1);
  }

  void link(Node* first, Node* last) {
    std::uintptr_t top = top_.load(std::memory_order_relaxed);
    do {
      last->next.store(node(top), std::memory_order_relaxed);
    } while (!top_.compare_exchange_weak(top, word(first, top), std::memory_order_acq_rel));
  }

  void grow() {
    const std::scoped_lock lock(growing_);
    if (node(top_.load(std::memory_order_acquire)) != nullptr) return;
    constexpr std::size_t slab = 8192;
    Node* const nodes = slabs_.emplace_back(std::make_unique<Node[]>(slab)).get();
    for (std::size_t i = 0; i + 1 < slab; ++i) nodes[i].next.store(nodes + i + 1);
    link(nodes, nodes + slab - 1);
  }

  std::atomic<std::uintptr_t> top_{0};
  SpinLock growing_;
  std::list<std::unique_ptr<Node[]>> slabs_;
};

template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>& /*other*/) {}
  T* allocate(std::size_t /*one*/) { return Pool<T>::instance().take(); }
  void deallocate(T* memory, std::size_t /*one*/) { Pool<T>::instance().give(memory); }
  friend bool operator==(const PoolAllocator&, const PoolAllocator&) { return true; }
};

struct Optimised {
  using Mutex = SpinLock;
  using MapMutex = std::shared_timed_mutex;
  using MapLock = std::shared_lock<std::shared_timed_mutex>;
  static constexpr std::size_t batch = 8;
  static constexpr std::size_t line = 64;
  static constexpr bool tries = true;
  template <class T>
  using Allocator = PoolAllocator<T>;

  template <class Ready>
  static bool look(Ready&& ready) {
    for (int i = 0; i < 128 + 16; ++i) {
      if (ready()) return true;
      i < 128 ? pause() : std::this_thread::yield();
    }
    return false;
  }
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"seed.eventpp_style", measure_style<Base>},
                                         {"seed.eventpp_optimised", measure_style<Optimised>}})(
      task);
}

}  // namespace handoff::lab::events
