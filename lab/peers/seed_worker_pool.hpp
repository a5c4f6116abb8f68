// SPDX-License-Identifier: MIT
// The article's WorkerPool: a bus whose consumer, the dispatcher, copies each message to the ring
// of a worker, one after the other, takes that worker's mutex and signals; the worker copies it out
// and calls the handler. Workers spin, then wait for a signal, for 1 ms at most. A full ring holds
// the dispatcher up, where the article's pool loses the message without a word.
#pragma once

#include "peers/bare_ring.hpp"
#include "peers/seed_bus.hpp"

namespace handoff::lab::peers {

template <class Message, std::size_t kDepth = 4096>
class SeedWorkerPool : Pinned {
 public:
  using Handler = std::function<void(const Message&)>;

  SeedWorkerPool(std::size_t workers, Handler handler) : handler_(std::move(handler)) {
    bus_.subscribe_envelopes(0, [this](const Envelope& envelope) { pass_on(envelope); });
    for (std::size_t i = 0; i < workers; ++i) workers_.push_back(std::make_unique<Worker>());
    for (const auto& worker : workers_) {
      worker->thread = std::thread([this, mine = worker.get()] { work(*mine); });
    }
    dispatcher_ = std::thread([this] { dispatch(); });
  }
  // What was submitted is done first.
  ~SeedWorkerPool() {
    dispatching_.store(false, std::memory_order_release);
    dispatcher_.join();
    working_.store(false, std::memory_order_release);
    for (const auto& worker : workers_) worker->thread.join();
  }

  // False while the bus takes no more.
  bool submit(Message message) { return bus_.publish(Payload(std::move(message))); }

 private:
  using Payload = std::variant<Message>;
  using Bus = SeedBus<Payload, kDepth>;
  using Envelope = typename Bus::Envelope;

  struct Worker {
    BareRing<Envelope> ring;
    std::mutex mutex;
    std::condition_variable arrived;
    std::thread thread;
  };

  void dispatch() {
    SeedBackoff backoff;
    for (;;) {
      const bool ending = !dispatching_.load(std::memory_order_acquire);
      if (bus_.process_batch() != 0) {
        backoff.reset();
      } else if (ending) {
        return;
      } else {
        backoff.wait();
      }
    }
  }

  void pass_on(const Envelope& envelope) {
    Worker& worker = *workers_[turn_++ % workers_.size()];
    retry([&] { return worker.ring.try_push([&](Envelope& place) { place = envelope; }); });
    const std::lock_guard lock(worker.mutex);
    worker.arrived.notify_one();
  }

  void work(Worker& worker) {
    constexpr int spins_before_sleep = 64;
    Envelope taken;
    for (int spins = 0;;) {
      const bool ending = !working_.load(std::memory_order_acquire);
      if (worker.ring.try_pop([&](const Envelope& place) { taken = place; })) {
        std::visit(handler_, taken.payload);
        spins = 0;
      } else if (ending) {
        return;
      } else if (++spins > spins_before_sleep) {
        std::unique_lock lock(worker.mutex);
        worker.arrived.wait_for(lock, std::chrono::milliseconds(1),
                                [&] { return !worker.ring.empty(); });
      }
    }
  }

  const Handler handler_;
  Bus bus_;
  std::size_t turn_ = 0;  // the dispatcher's
  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<bool> dispatching_{true};
  std::atomic<bool> working_{true};
  std::thread dispatcher_;
};

}  // namespace handoff::lab::peers
