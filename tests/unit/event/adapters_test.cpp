// SPDX-License-Identifier: MIT
//
// Listeners for more special types, listeners under a condition, events that know their key, and
// listeners found by the function that they hold.
#include "support/test.hpp"

namespace {

using namespace handoff;

enum class Kind { click, key };

struct Event {
  int time = 0;
};
struct Click : Event {
  static constexpr Kind key = Kind::click;
  Click() = default;
  Click(int at_x, int at_y) : x(at_x), y(at_y) {}
  int x = 0;
  int y = 0;
};
struct Key {
  static constexpr Kind key = Kind::key;
  int code = 0;
};

TEST(ArgumentAdapter, CastsReferencesDown) {
  EventDispatcher<Kind, void(Event&)> events;
  int sum = 0;
  events.append_listener(Kind::click, adapt<void(const Click&)>([&](const Click& click) {
                           sum += 10 * click.x + click.y;
                         }));
  events.append_listener(Kind::click, adapt<void(Click&)>([](Click& click) { click.x = 0; }));
  events.append_listener(Kind::click, adapt<void(Event&)>([&](Event& event) { ++event.time; }));
  Click click(3, 4);
  events.dispatch(Kind::click, click);
  EXPECT_EQ(sum, 34);
  EXPECT_EQ(click.x, 0);
  EXPECT_EQ(click.time, 1) << "the same object, not a copy";
}

TEST(ArgumentAdapter, CastsAndFollowsPointers) {
  CallbackList<void(std::shared_ptr<Event>, Event*)> list;
  const auto click = std::make_shared<Click>(3, 4);
  int calls = 0;
  list.append(adapt<void(std::shared_ptr<Click>, Click&)>(
      [&](const std::shared_ptr<Click>& shared, Click& same) {
        calls += shared == click && &same == click.get();
        EXPECT_EQ(shared.use_count(), 3) << "the list's argument, ours, and the test's";
      }));
  list.append(adapt<void(const Click&, const Event&)>([&](const Click& at, const Event& same) {
    calls += &at == click.get() && &same == click.get();
  }));
  list(click, click.get());
  EXPECT_EQ(calls, 2);
}

TEST(ArgumentAdapter, OpensBoxesAndConverts) {
  CallbackList<void(const AnyData<>&, int)> list;
  std::string heard;
  list.append(adapt<void(const Key&, long)>([&](const Key& key, long number) {
    heard += std::to_string(key.code) + '/' + std::to_string(number);
  }));
  list.append(adapt<void(const AnyData<>&, int)>(
      [&](const AnyData<>& data, int) { heard += data.get_if<Key>() != nullptr ? '+' : '-'; }));
  list(Key{27}, 5);
  EXPECT_EQ(heard, "27/5+");
  EXPECT_THROW(list(Click(), 5);, std::logic_error) << "another type is in the box";
}

TEST(ArgumentAdapter, KeepsResultsAndMembers) {
  struct Counter {
    int count(const Click& click) { return total += click.x; }
    int total = 0;
  } counter;
  CallbackList<int(const Event&)> list;
  list.append(adapt<int(const Click&)>([&](const Click& click) { return counter.count(click); }));
  list.append(adapt<int(const Click&)>(&Click::y));
  std::string results;
  const Click click(3, 4);
  list.visit_results(
      [&](int result) {
        results += std::to_string(result);
        return true;
      },
      click);
  EXPECT_EQ(results, "34");
}

TEST(ArgumentAdapter, EmptyFunctionsAreMisuse) {
  const std::function<void(const Click&)> empty;
  const auto always = [](const Click&) { return true; };
  EXPECT_THROW((void)adapt<void(const Click&)>(empty);, std::logic_error);
  EXPECT_THROW((void)call_when(always, empty);, std::logic_error);
}

TEST(CallWhen, CallsWhereItIsTrue) {
  CallbackList<void(int)> list;
  std::string heard;
  const auto is_even = [](int n) { return n % 2 == 0; };
  const auto handle = list.append(call_when(is_even, [&](int n) { heard += std::to_string(n); }));
  for (int n = 0; n < 6; ++n) list(n);
  EXPECT_EQ(heard, "024");
  EXPECT_TRUE(handle.attached()) << "a condition that is false does not remove";

  EventDispatcher<Kind, void(const Event&)> events;
  const auto is_right = [](const Click& click) { return click.x > 0; };
  const auto hear = [&](const Click& click) { heard += std::to_string(click.x); };
  events.append_listener(Kind::click, adapt<void(const Click&)>(call_when(is_right, hear)));
  events.dispatch(Kind::click, Click(0, 1));
  events.dispatch(Kind::click, Click(7, 1));
  EXPECT_EQ(heard, "0247");
}

TEST(TypedEvent, KnowsItsKeyInABox) {
  EventQueue<Kind, void(const AnyData<>&)> queue;
  std::string heard;
  listen_to<Click>(queue, [&](const Click& click) { heard += std::to_string(click.x + click.y); });
  const auto keys =
      listen_to<Key>(queue, [&](const Key& key) { heard += 'k' + std::to_string(key.code); });
  EXPECT_EQ(enqueue_event<Click>(queue, 3, 4), Status::ok);
  EXPECT_EQ(enqueue_event<Key>(queue, 5), Status::ok);
  EXPECT_EQ(queue.drain(), 2U);
  EXPECT_EQ(heard, "7k5");
  dispatch_event<Key>(queue, 6);
  EXPECT_EQ(heard, "7k5k6");
  keys.remove();
  dispatch_event<Key>(queue, 6);
  EXPECT_EQ(heard, "7k5k6");
  listen_to<Key>(queue, [&](const Key&) { heard += '.'; }, {.calls = 1});
  dispatch_event<Key>(queue);
  dispatch_event<Key>(queue);
  EXPECT_EQ(heard, "7k5k6.");
}

TEST(TypedEvent, KnowsItsKeyByItsBase) {
  int sum = 0;
  EventDispatcher<Kind, void(Event&)> events;
  listen_to<Click>(events, [&](const Click& click) { sum += click.x; });
  dispatch_event<Click>(events, 300, 0);
  EXPECT_EQ(sum, 300);
}

int called = 0;
void first(int by) { called += by; }
void second(int by) { called -= by; }

// Comparable, and of a type of its own.
struct Adder {
  int* sum;
  int id;
  void operator()(int by) const { *sum += by; }
  friend bool operator==(const Adder&, const Adder&) = default;
};

TEST(FindListener, FindsTheFirstOfThisFunction) {
  CallbackList<void(int)> list;
  EXPECT_FALSE(list.find(&first).attached());
  list.append([](int) {});
  const auto one = list.append(&first);
  const auto two = list.append(first, {.calls = 5});
  EXPECT_EQ(list.find(&first), one);
  EXPECT_EQ(list.find(first), one) << "a function is its pointer";
  EXPECT_FALSE(list.find(&second).attached());
  EXPECT_TRUE(list.find(&first).remove());
  EXPECT_EQ(list.find(&first), two) << "counted ones too";
  called = 0;
  list(3);
  EXPECT_EQ(called, 3);
  EXPECT_TRUE(list.find(&first).remove());
  EXPECT_FALSE(list.find(&first).attached());
}

TEST(FindListener, ComparesWhatIsOfOneType) {
  EventDispatcher<Kind, void(int)> events;
  int sum = 0;
  events.append_listener(Kind::click, Adder{&sum, 1});
  const auto wanted = events.append_listener(Kind::click, Adder{&sum, 2});
  EXPECT_EQ(events.find_listener(Kind::click, Adder{&sum, 2}), wanted);
  EXPECT_FALSE(events.find_listener(Kind::click, Adder{&sum, 3}).attached());
  EXPECT_FALSE(events.find_listener(Kind::key, Adder{&sum, 2}).attached());
  EXPECT_FALSE(events.find_listener(Kind::click, &first).attached()) << "another type";
}

}  // namespace
