// SPDX-License-Identifier: MIT
// The article's queue: as it was, and with all that it changed.
#include <list>
#include <shared_mutex>

#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

// The article's scheme: lists of shared nodes that are walked under a lock, a map under another
// one, and a queue that is a list of recycled nodes under two. `Choices` are what its two states
// differ in:
//
//   Mutex, MapMutex, MapLock     of lists and queues; of the map, and how a dispatch takes it
//   std::size_t batch            nodes of a list that are read under one lock
//   bool tries                   enqueue() makes a node where the free ones are locked just now
//   Allocator<T>                 of the queue's nodes
//   void look(ready)             before a consumer sleeps
using Function = std::function<void(const Payload&)>;

template <class Choices>
class NodeList {
 public:
  void append(Function function) {
    const auto node = std::make_shared<Node>(Node{std::move(function), nullptr, ++added_});
    const std::scoped_lock lock(mutex_);
    (last_ != nullptr ? last_->next : first_) = node;
    last_ = node;
  }

  void operator()(const Payload& payload) {
    std::shared_ptr<Node> node;
    std::uint64_t newest = 0;
    {
      const std::scoped_lock lock(mutex_);
      node = first_;
      newest = added_;
    }
    while (node != nullptr) {
      if constexpr (Choices::batch == 1) {
        if (node->number <= newest) node->function(payload);
        const std::scoped_lock lock(mutex_);
        node = node->next;
      } else {
        node = call_batch(node, newest, payload);
      }
    }
  }

 private:
  struct Node {
    Function function;
    std::shared_ptr<Node> next;
    std::uint64_t number;
  };

  // Returns the node behind those that it has called.
  std::shared_ptr<Node> call_batch(std::shared_ptr<Node> node, std::uint64_t newest,
                                   const Payload& payload) {
    std::array<std::shared_ptr<Node>, Choices::batch> batch;
    std::size_t count = 0;
    {
      const std::scoped_lock lock(mutex_);
      for (; node != nullptr && count < batch.size(); node = node->next) batch[count++] = node;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (batch[i]->number <= newest) batch[i]->function(payload);
    }
    const std::scoped_lock lock(mutex_);
    return batch[count - 1]->next;
  }

  typename Choices::Mutex mutex_;
  std::shared_ptr<Node> first_;
  std::shared_ptr<Node> last_;
  std::uint64_t added_ = 0;
};

template <class Choices>
class NodeQueue {
  using Mutex = typename Choices::Mutex;
  using Item = std::optional<std::pair<int, Payload>>;
  using Items = std::list<Item, typename Choices::template Allocator<Item>>;

 public:
  explicit NodeQueue(const Task& task) : spins_(task.spins) {}

  void listen(int key, Function function) {
    const std::scoped_lock lock(lists_mutex_);
    auto& list = lists_[key];
    if (list == nullptr) list = std::make_shared<NodeList<Choices>>();
    list->append(std::move(function));
  }

  void enqueue(int key, const Payload& payload) {
    Items one;
    reuse(one);
    if (one.empty()) one.emplace_back();
    one.front().emplace(key, payload);
    {
      const std::scoped_lock lock(mutex_);
      waiting_.splice(waiting_.end(), one);
    }
    arrived_.notify_one();
  }

  template <class Visitor>
  void visit(Visitor&& visitor) {
    if (waiting_.empty()) return;  // as there: without the lock
    Items taken;
    {
      const std::scoped_lock lock(mutex_);
      taken.swap(waiting_);
    }
    for (auto& item : taken) {
      visitor(item->first, item->second);
      item.reset();
    }
    const std::scoped_lock lock(free_mutex_);
    free_.splice(free_.end(), taken);
  }

  void process() {
    visit([this](int key, const Payload& payload) {
      std::shared_ptr<NodeList<Choices>> list;
      {
        const typename Choices::MapLock lock(lists_mutex_);
        const auto found = lists_.find(key);
        if (found == lists_.end()) return;
        list = found->second;
      }
      (*list)(payload);
    });
  }

  void await() {
    if (spins_) return;
    if (Choices::look([this] { return !waiting_.empty(); })) return;
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !waiting_.empty(); });
  }

 private:
  void reuse(Items& one) {
    if constexpr (Choices::tries) {
      if (free_.empty()) return;
      const std::unique_lock lock(free_mutex_, std::try_to_lock);
      if (lock.owns_lock() && !free_.empty()) one.splice(one.end(), free_, free_.begin());
    } else {
      const std::scoped_lock lock(free_mutex_);
      if (!free_.empty()) one.splice(one.end(), free_, free_.begin());
    }
  }

  // Each on a line of its own, which changes nothing for the scheme without.
  const bool spins_;
  typename Choices::MapMutex lists_mutex_;
  std::unordered_map<int, std::shared_ptr<NodeList<Choices>>> lists_;
  alignas(Choices::line) Mutex mutex_;
  std::conditional_t<std::is_same_v<Mutex, std::mutex>, std::condition_variable,
                     std::condition_variable_any>
      arrived_;
  Items waiting_;
  alignas(Choices::line) Mutex free_mutex_;
  Items free_;
};

template <class Choices>
constexpr auto* measure_style = measure_both<NodeList<Choices>, NodeQueue<Choices>>;

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
