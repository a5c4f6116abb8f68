// SPDX-License-Identifier: MIT
//
// EventQueue against a vector of events: all ways in and all ways out, listeners that enqueue and
// throw, copies that throw, memory that fails; unbounded and bounded, by priority, with deadlines.
// An event is so large that a chunk holds seven.
#include <map>

#include <handoff/event/event_queue.hpp>

#include "books/event_books.hpp"
#include "model/item.hpp"
#include "model/model.hpp"
#include "support/event_queue_options.hpp"
#include "support/next.hpp"
#include "support/policies.hpp"
#if !defined(HANDOFF_EXPLORE)
#include "books/slab_books.hpp"
#endif

namespace event_queue_model { namespace {

using namespace handoff;
using namespace handoff::test;

// A number, and a lot of room.
struct Payload : Item {
  using Item::Item;
  std::array<std::byte, 2200> room{};
};

constexpr std::size_t kCapacity = 9;
constexpr int kNobodyListens = 4;

struct Plain : EventPolicies {};
using Rejecting = Bounded<OnFull::reject>;
using Overwriting = Bounded<OnFull::overwrite_oldest>;
struct Ordered : EventPolicies {
  static int priority(int, const Payload& payload) { return payload.number() % 3; }
};
struct Expiring : EventPolicies {
  static constexpr bool expires = true;
};
struct Coalescing : EventPolicies {
  static constexpr bool coalesce = true;
};
using OrderedRejecting = Bounded<OnFull::reject, Ordered>;

const std::vector<Word> words{{"enqueue", 14},      {"enqueue_copy", 2}, {"enqueue_late", 3},
                              {"enqueue_batch", 1}, {"drain", 2},        {"drain_some", 3},
                              {"drain_if", 3},      {"drain_until", 3},  {"drain_visitor", 3},
                              {"peek", 1},          {"take", 2},         {"clear", 1},
                              {"trim", 1},          {"close", 1},        {"script", 6}};

template <class Policies, class QueueUnderTest = EventQueue<int, void(const Payload&), Policies>>
class QueueModel : public Model {
  using Queue = EventQueue<int, void(const Payload&), Policies>;
  static constexpr bool kOrdered = requires { &Policies::priority; };
  static constexpr OnFull kOnFull = full_of<Policies>(OnFull::grow);
  static constexpr bool kCoalesces = detail::coalesces<Policies>();
  static constexpr bool kExpires = detail::expires<Policies>();

 public:
  QueueModel() {
    for (int key = 0; key < kNobodyListens; ++key) {
      queue_.append_listener(key, [this, key](const Payload& it) { called(key, it.number()); });
    }
  }

  void step(const Step& step) override {
    switch (step.what) {
      case 0:
      case 1:
      case 2:
      case 3: enqueue(step); break;
      case 11: clear(); break;
      case 12: (void)has_memory_for(step, [&] { queue_.trim(); }); break;
      case 13:
        queue_.shut();
        closed_ = true;
        break;
      case 14: script_.push_back(step); break;
      default: drain(step); break;
    }
    compare();
  }

  void end() override {
    script_.clear();
    drain({.what = 4});
    compare();
    agree_on("pending at the end", queue_.tally().pending, std::uint64_t{0});
  }

 private:
  struct Thrown {};
  struct Event {
    int key;
    int number;
    bool late = false;
    bool is_void = false;
    bool came_back = false;  // a newer one does not replace it
  };

  static int priority_of(const Event& event) { return kOrdered ? event.number % 3 : 0; }

  // ---- In ----

  // Of places, not of events.
  bool has_room() const { return kOnFull == OnFull::grow || plain_.size() < kCapacity; }
  // While events are drained their places may be free already.
  bool may_be_full() const { return !has_room() || (turn_ != nullptr && kOnFull != OnFull::grow); }

  void enqueue(const Step& step) {
    const int key = static_cast<int>(step.a % (kNobodyListens + 1));
    const int number = ++last_;
    if (step.what == 3) return enqueue_batch(step);
    const Status expected = closed_ ? Status::closed : has_room() ? Status::ok : Status::full;
    Status status = Status::ok;
    bool had_memory = false;
    bool copied = true;
    Payload payload(number);
    try {
      const Item::FailingCopies failing(step.what == 1);
      had_memory = has_memory_for(step, [&] {
        if (step.what == 1) {
          status = queue_.enqueue(key, std::as_const(payload));
        } else if constexpr (kExpires) {
          status = queue_.enqueue_expiring(step.what == 2 ? sync::clock::now() : sync::no_deadline,
                                           key, std::move(payload));
        } else {
          status = queue_.enqueue(key, std::move(payload));
        }
      });
    } catch (const Item::CopyFailed&) {
      copied = false;
    }
    if (kOnFull == OnFull::overwrite_oldest && !closed_ && !has_room()) {
      if (had_memory || queue_.tally().expired != expired_) overwrite();
      if (had_memory) agree_on("enqueue", status, Status::ok);
    } else if (had_memory && (status != Status::full || !may_be_full())) {
      agree_on("enqueue", status, expected);
    }
    if (!copied && !closed_) plain_.push_back({key, number, false, true});
    if (!had_memory || status != Status::ok) return;
    ++accepted_;
    plain_.push_back({key, number, kExpires && step.what == 2, false});
  }

  void overwrite() {
    while (!plain_.empty() && plain_.front().is_void) plain_.erase(plain_.begin());
    if (plain_.empty()) return;
    plain_.erase(plain_.begin());
    ++expired_;
  }

  void enqueue_batch(const Step& step) {
    std::vector<typename Queue::Event> events;
    const int first = last_ + 1;
    for (unsigned i = 0; i < step.a % 4; ++i) {
      events.emplace_back(std::in_place, static_cast<int>(i), Payload(++last_));
    }
    const std::size_t count = queue_.enqueue_batch(events);
    for (std::size_t i = 0; i < count; ++i) {
      if (!has_room()) overwrite();
      agree(!closed_ && has_room(), "no more than there is room for");
      ++accepted_;
      plain_.push_back({static_cast<int>(i), first + static_cast<int>(i)});
    }
    agree(count == events.size() || closed_ || may_be_full(), "as many as there is room for");
  }

  // ---- Out ----

  // What a draining call does with each place, in this order.
  enum class Fate : std::uint8_t { deliver, keep, pass_over, nobody_listens };
  struct Turn {
    std::vector<std::pair<Event, Fate>> places;
    std::size_t next = 0;
    int stops_at = 0;  // this event, which comes back
    int last = 0;      // what came after this one was not there at the beginning
    std::vector<int> returned;  // at the end of the call
  };

  void coalesce() {
    std::map<int, int> newest;
    for (const Event& each : plain_) {
      if (!each.is_void && !each.came_back) newest[each.key] = each.number;
    }
    std::erase_if(plain_, [&](const Event& each) {
      const bool replaced = !each.is_void && !each.came_back && newest[each.key] != each.number;
      cancelled_ += replaced ? 1 : 0;
      return replaced;
    });
  }

  // `stops_before(event)` ends it; what is not `wanted(event)` stays.
  template <class Wanted, class StopsBefore>
  Turn plan(std::size_t most, Wanted wanted, StopsBefore stops_before, bool listeners = false) {
    if constexpr (kCoalesces) coalesce();
    // Such a queue looks at all of it first, and so passes over what could not be made.
    const auto rank = [](const Event& each) {
      return (kOrdered || kCoalesces) && each.is_void ? 1000 : priority_of(each);
    };
    // By hand: the standard's stable sort is deprecated code within, for clang.
    std::vector<Event> order;
    for (const Event& each : plain_) {
      const auto behind = std::find_if(
          order.begin(), order.end(), [&](const Event& other) { return rank(other) < rank(each); });
      order.insert(behind, each);
    }
    Turn turn;
    turn.last = last_;
    for (const Event& each : order) {
      if (each.is_void || each.late) {
        turn.places.push_back({each, Fate::pass_over});
        continue;
      }
      if (stops_before(each)) {
        turn.stops_at = each.number;
        return turn;
      }
      const Fate fate =
          listeners && each.key == kNobodyListens ? Fate::nobody_listens : Fate::deliver;
      turn.places.push_back({each, wanted(each) ? fate : Fate::keep});
      if (--most == 0) return turn;
    }
    return turn;
  }

  void erase(const Event& event) {
    std::erase_if(plain_, [&](const Event& each) { return each.number == event.number; });
    if (event.late) ++expired_;
  }

  void comes_back(int number) { turn_->returned.push_back(number); }

  // What came back, unless a newer one of its key is waiting and was there as well: that replaces
  // it.
  void end_turn() {
    const Turn& turn = *turn_;
    const auto is_back = [&](const Event& each) {
      return std::find(turn.returned.begin(), turn.returned.end(), each.number) !=
             turn.returned.end();
    };
    for (Event& each : plain_) each.came_back |= is_back(each);
    if (!kCoalesces) return;
    std::map<int, const Event*> newest;
    for (const Event& each : plain_) {
      if (!each.is_void && each.number <= turn.last) newest[each.key] = &each;
    }
    std::vector<int> replaced;
    for (const Event& each : plain_) {
      if (is_back(each) && !newest[each.key]->came_back) replaced.push_back(each.number);
    }
    for (const int number : replaced) {
      std::erase_if(plain_, [number](const Event& each) { return each.number == number; });
      ++cancelled_;
    }
  }

  // Passes over what comes before the next delivery.
  const Event* next_delivery() {
    Turn& turn = *turn_;
    for (; turn.next < turn.places.size(); ++turn.next) {
      const auto& [event, fate] = turn.places[turn.next];
      if (fate == Fate::deliver) return &event;
      if (fate == Fate::keep) {
        comes_back(event.number);
        continue;
      }
      if (fate == Fate::nobody_listens) ++done_;
      erase(event);
    }
    return nullptr;
  }

  void delivered(int key, int number) {
    const Event* const expected = next_delivery();
    agree(expected != nullptr, "an event that was there is delivered");
    agree_on("the event delivered", number, expected->number);
    agree_on("its key", key, expected->key);
    erase(*expected);
    ++turn_->next;
    ++done_;
  }

  // By a listener: then the next thing of the script happens inside of it.
  void called(int key, int number) {
    FailingMemory::stop();  // none of the model's own
    delivered(key, number);
    if (script_.empty()) return;
    const Step step = script_.back();
    script_.pop_back();
    if (step.a < 3) {
      --done_;
      ++failed_;
      throw Thrown();
    }
    if (kOnFull == OnFull::overwrite_oldest) return;  // which are overwritten depends on the chunks
    // A call that begins a chunk replaces what waits, also what this call was to come to.
    if (kCoalesces && detail::Books<Queue>::places_left(queue_) < 4) return;
    enqueue({.what = step.a % 4, .a = step.b, .b = step.b, .fails = fails(step)});
  }

  unsigned fails(const Step& step) const { return kCoalesces ? 0 : step.fails; }

  void drain(const Step& step) {
    const auto all = [](const Event&) { return true; };
    const auto none = [](const Event&) { return false; };
    const auto chosen = [&](const Event& event) { return event.number % 4 == int(step.a % 4); };
    const auto is_chosen = [&](int, const Payload& it) {
      return it.number() % 4 == int(step.a % 4);
    };
    constexpr std::size_t kAll = ~std::size_t{0};
    switch (step.what) {
      case 4: return run(step, plan(kAll, all, none, true), [&] { return queue_.drain(); });
      case 5: {
        const std::size_t most = 1 + step.a % 2;
        return run(step, plan(most, all, none, true), [&] { return queue_.drain(most); });
      }
      case 6:
        return run(step, plan(kAll, chosen, none, true),
                   [&] { return queue_.drain_if(take_if(is_chosen)); });
      case 7:
        return run(step, plan(kAll, all, chosen, true),
                   [&] { return queue_.drain_if(take_until(is_chosen)); });
      case 8: return drain_to_visitor(step, all, none, chosen, is_chosen);
      case 9: return run(step, plan(kAll, none, all), [&] { return peek(); });
      default: return run(step, plan(1, all, none), [&] { return take(); });
    }
  }

  // To one that takes all, that leaves those that are not chosen, or that stops at a chosen one.
  template <class All, class None, class Chosen, class IsChosen>
  void drain_to_visitor(const Step& step, All all, None none, Chosen chosen, IsChosen is_chosen) {
    constexpr std::size_t kAll = ~std::size_t{0};
    const auto see = [this](int key, const Payload& it) { called(key, it.number()); };
    switch (step.b % 3) {
      case 0: return run(step, plan(kAll, all, none), [&] { return queue_.drain(see); });
      case 1:
        return run(step, plan(kAll, chosen, none),
                   [&] { return queue_.drain(show_if(is_chosen, see)); });
      default:
        return run(step, plan(kAll, all, chosen),
                   [&] { return queue_.drain(show_until(is_chosen, see)); });
    }
  }

  // The first one stays.
  std::size_t peek() {
    const auto first = queue_.peek();
    (void)next_delivery();
    agree_on("peek", first.has_value(), first_of_all() != nullptr);
    if (first)
      agree_on("what is first", std::get<0>(first->arguments).number(), first_of_all()->number);
    return 0;
  }
  const Event* first_of_all() {
    Turn now = plan(1, [](const Event&) { return true; }, [](const Event&) { return false; });
    for (const auto& [event, fate] : now.places) {
      if (fate == Fate::deliver) {
        first_ = event;
        return &first_;
      }
    }
    return nullptr;
  }

  std::size_t take() {
    const auto taken = queue_.take();
    if (taken) delivered(taken->key, std::get<0>(taken->arguments).number());
    return taken ? 1 : 0;
  }

  template <class Call>
  void run(const Step& step, Turn turn, Call call) {
    turn_ = &turn;
    const std::uint64_t before = done_;
    std::size_t count = 0;
    bool whole = false;
    try {
      Step injected = step;
      injected.fails = fails(step);
      whole = has_memory_for(injected, [&] { count = call(); });
    } catch (const Thrown&) {
    }
    if (whole) {
      agree(next_delivery() == nullptr, "all that was there is delivered");
      comes_back(turn.stops_at);
      agree_on("the number of events", std::uint64_t{count}, done_ - before);
    } else {
      believe_books();
    }
    end_turn();
    turn_ = nullptr;
  }

  // Where a call ended early, the books say what it had come to, beyond the last delivery.
  void believe_books() {
    const Tally tally = queue_.tally();
    for (; turn_->next < turn_->places.size(); ++turn_->next) {
      const auto& [event, fate] = turn_->places[turn_->next];
      if (fate == Fate::keep) continue;
      if (fate == Fate::nobody_listens && tally.done > done_) {
        ++done_;
      } else if (event.late ? tally.expired == expired_
                            : !event.is_void || plain_.size() <= places_there()) {
        return;
      }
      erase(event);
    }
  }
  std::size_t places_there() { return detail::Books<Queue>::places(queue_); }

  void clear() {
    Turn turn = plan(
        ~std::size_t{0}, [](const Event&) { return true; }, [](const Event&) { return false; });
    const std::size_t count = queue_.clear();
    std::size_t events = 0;
    for (const auto& [event, fate] : turn.places) {
      if (fate == Fate::deliver) ++events;
      erase(event);
    }
    agree_on("clear", count, events);
    cancelled_ += events;
  }

  void compare() {
    const Tally tally = queue_.tally();
    const auto voids = static_cast<std::uint64_t>(std::count_if(
        plain_.begin(), plain_.end(), [](const Event& each) { return each.is_void; }));
    const std::uint64_t events = plain_.size() - voids;
    agree_on("accepted", tally.accepted, accepted_);
    agree_on("done", tally.done, done_);
    agree_on("failed", tally.failed, failed_);
    agree_on("expired", tally.expired, expired_);
    if (kCoalesces) {  // a replaced event counts as cancelled some time
      agree_on("cancelled or pending", tally.cancelled + tally.pending, cancelled_ + events);
    } else {
      agree_on("cancelled", tally.cancelled, cancelled_);
      agree_on("pending", tally.pending, events);
    }
    agree(tally.balanced(), "the tally is balanced");
    agree_on("closed", queue_.closed(), closed_);
    if (!kCoalesces) {
      agree_on("items alive", Item::alive() - alive_before_, static_cast<int>(events));
    }
    const std::size_t capacity = kOnFull == OnFull::grow ? 0 : kCapacity;
    if (const std::string fault = detail::Books<Queue>::fault(queue_, capacity); !fault.empty()) {
      disagree(fault);
    }
#if !defined(HANDOFF_EXPLORE)  // where there are none
    agree_with_book(detail::slab_pool);
#endif
  }

  const int alive_before_ = Item::alive();
  QueueUnderTest queue_{test::room_for<QueueUnderTest>(kCapacity, kOnFull)};
  std::vector<Event> plain_;  // places that were claimed, in that order
  std::vector<Step> script_;  // what listeners do, the last one first
  Turn* turn_ = nullptr;
  Event first_{};
  int last_ = 0;
  std::uint64_t accepted_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t cancelled_ = 0;
  std::uint64_t expired_ = 0;
  bool closed_ = false;
};

const ModelTest plain("event_queue/plain", model<QueueModel<Plain>>(words), 700);
const ModelTest rejecting("event_queue/rejecting", model<QueueModel<Rejecting>>(words), 700);
const ModelTest overwriting("event_queue/overwriting", model<QueueModel<Overwriting>>(words), 700);
const ModelTest ordered("event_queue/ordered", model<QueueModel<Ordered>>(words), 700);
const ModelTest expiring("event_queue/expiring", model<QueueModel<Expiring>>(words), 700);
const ModelTest coalescing("event_queue/coalescing", model<QueueModel<Coalescing>>(words), 700);
const ModelTest ordered_rejecting("event_queue/ordered_rejecting",
                                  model<QueueModel<OrderedRejecting>>(words), 700);

// A queue that puts what it refuses at its end.
class Requeueing : public EventQueue<int, void(const Payload&), Plain> {
 public:
  using EventQueue::EventQueue;
  template <class Chooser>
  std::size_t drain_if(Chooser&& chooser) {
    std::vector<Event> refused;
    std::size_t count = 0;
    while (std::optional<Event> event = take()) {
      const Next next = chooser(event->key, std::get<0>(event->arguments));
      if (next == Next::take) {
        dispatch(*event);
        ++count;
      } else {
        refused.push_back(std::move(*event));
      }
      if (next == Next::stop) break;
    }
    for (Event& each : refused) (void)enqueue(each.key, std::move(std::get<0>(each.arguments)));
    return count;
  }
};

const ModelCanary requeueing("event_queue/takes_and_puts_back",
                             model<QueueModel<Plain, Requeueing>>(words), 4);

}}  // namespace event_queue_model
