// SPDX-License-Identifier: MIT
// A ring of messages from one thread to another that lies about its eighth.
#include <handoff/queue/spsc_ring.hpp>

#include "scenarios/messages/own_queue.hpp"

namespace handoff::lab::messages {
namespace {

enum class Lie : std::uint8_t { mislays, stutters, overtakes, garbles };

template <Lie kLie>
struct Liar {
  template <class Message>
  class Queue : public OwnQueue<SpscRing<Message>> {
   public:
    using OwnQueue<SpscRing<Message>>::OwnQueue;

    template <class F>
    std::size_t visit(F& f) {
      return this->queue_.consume([&](const Message& message) { lie(message, f); }, batch);
    }

   private:
    template <class F>
    void lie(const Message& message, F& f) {
      if (message.number() != 7) {
        f(message);
        if (kLie == Lie::overtakes && message.number() == 8) f(std::as_const(late_));
        return;
      }
      late_ = message;
      if (kLie == Lie::garbles) reinterpret_cast<unsigned char*>(&late_)[sizeof late_ / 2] ^= 1;
      if (kLie == Lie::stutters) f(message);
      if (kLie == Lie::stutters || kLie == Lie::garbles) f(std::as_const(late_));
    }

    Message late_{};
  };
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"peer.mislays", measure<Liar<Lie::mislays>::Queue>},
                                         {"peer.stutters", measure<Liar<Lie::stutters>::Queue>},
                                         {"peer.overtakes", measure<Liar<Lie::overtakes>::Queue>},
                                         {"peer.garbles", measure<Liar<Lie::garbles>::Queue>}})(
      task);
}

}  // namespace handoff::lab::messages
