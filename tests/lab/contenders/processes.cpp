// SPDX-License-Identifier: MIT
// A link between two processes, of which the second one is told something else than what was sent.
#include "peers/bare_ring.hpp"
#include "scenarios/processes/measure.hpp"

namespace handoff::lab::processes {
namespace {

enum class Lie : std::uint8_t { drops_one, bends, dies };

template <Lie kLie>
struct Liar {
  template <class Message>
  class Link : public EachWay<peers::BareRing<Message, places_for(sizeof(Message))>> {
   public:
    void open(Side side) {
      Link::EachWay::open(side);
      lies_ = side == Side::second;
    }
    template <class Make>
    void send(Make&& make) {
      peers::retry([&] { return this->out_->try_push(make); });
    }
    template <class Take>
    void receive(Take&& take) {
      peers::retry([&] {
        return this->in_->try_pop([&](Message& message) {
          if (lies_) lie(message, number_++);
          take(message);
        });
      });
    }

   private:
    // Each hundredth message is handed over as the next one, or has a bit changed in its middle; or
    // the process fails at the first of them.
    static void lie(Message& message, std::uint64_t number) {
      if (number % 100 != 99) return;
      if (kLie == Lie::drops_one) message.write(number + 1);
      if (kLie == Lie::bends) message.words[Message::count / 2] ^= 1;
      if (kLie == Lie::dies) throw std::runtime_error("it dies here");
    }

    bool lies_ = false;
    std::uint64_t number_ = 0;
  };
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"peer.drops_one", measure<Liar<Lie::drops_one>::Link>},
                                         {"peer.bends", measure<Liar<Lie::bends>::Link>},
                                         {"peer.dies", measure<Liar<Lie::dies>::Link>}})(task);
}

}  // namespace handoff::lab::processes
