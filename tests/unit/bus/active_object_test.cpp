// SPDX-License-Identifier: MIT
//
// ActiveObject: a state, its thread and its bus.
#include "support/child.hpp"
#include "support/test.hpp"
#include "support/threads_of_process.hpp"
#include "unit/pool/modes.hpp"

namespace active_object_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;

struct Number {
  int value = 0;
};
struct Text {
  std::string value;
};
struct Held {
  Hold* at;
};

// All plain: only its thread touches it, until it is closed.
struct Book {
  explicit Book(int start = 0) : sum(start) {}
  void operator()(const Number& number) {
    if (number.value < 0) throw std::range_error(std::to_string(number.value));
    sum += number.value;
    numbers.push_back(number.value);
  }
  void operator()(Text& text) { texts.push_back(std::move(text.value)); }
  void operator()(const Held& held) { (*held.at)(); }

  int sum;
  std::vector<int> numbers;
  std::vector<std::string> texts;
};
using BookObject = ActiveObject<Book, Number, Text, Held>;

TEST(ActiveObject, HandlesAllInOrderOnItsThread) {
  BookObject book({.name = "keeper"}, 1000);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(book.publish(Number{i}), Status::ok);
  ASSERT_EQ(book.publish(Text{"end"}), Status::ok);
  EXPECT_TRUE(came_to(book.close(), {.done = 5001}));
  EXPECT_EQ(book.state().sum, 1000 + 4999 * 5000 / 2);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(book.state().numbers[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(book.state().texts, std::vector<std::string>{"end"});
}

TEST(ActiveObject, AFailureIsToldAndTheNextMessageHandled) {
  std::vector<std::string> told;  // by its thread alone
  BookObject book({.on_error = [&](const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::range_error& failure) {
      told.emplace_back(failure.what());
    }
  }});
  for (const int value : {1, -2, 3, -4, 5}) {
    ASSERT_EQ(book.publish(Number{value}), Status::ok);
  }
  const Tally tally = book.close();
  EXPECT_TRUE(came_to(tally, {.done = 3, .failed = 2}));
  EXPECT_THROW(std::rethrow_exception(tally.first_failure), std::range_error);
  EXPECT_EQ(book.state().sum, 9);
  EXPECT_EQ(told, (std::vector<std::string>{"-2", "-4"}));
}

// What was accepted before is handled, and a close has nothing left to do.
TEST(ActiveObject, ShutItTakesNoMore) {
  BookObject book({.capacity = 3, .reserve = {.urgent = 1}});
  EXPECT_EQ(book.capacity(), 4U);
  EXPECT_EQ(book.publish(Number{1}), Status::ok);
  book.shut();
  EXPECT_EQ(book.publish(Number{2}), Status::closed);
  for (const Closing& how : {Closing::finish, Closing::abandon}) {
    EXPECT_TRUE(came_to(book.close(how), {.done = 1}));
  }
}

// The message behind the one that is handled while it is closed had been taken already.
TEST(ActiveObject, AClosedOneBeginsNoMore) {
  for (const bool abandons : {true, false}) {
    Hold hold;
    BookObject book;
    ASSERT_EQ(book.publish(Held{&hold}), Status::ok);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(book.publish(Number{1}), Status::ok);
    hold.begun.wait();
    Tally tally;
    std::atomic<pid_t> closing{0};
    std::jthread closes([&] {
      closing = gettid();
      tally = book.close(abandons ? Closing::abandon : Closing::finish_until(0ms));
    });
    while (book.try_publish(Number{1}) != Status::closed) std::this_thread::yield();
    test::await_long_sleep(closing);  // it has told the thread
    hold.gate.open();
    closes.join();
    EXPECT_TRUE(book.state().numbers.empty());
    EXPECT_EQ(tally.done, 1U);
    EXPECT_EQ(abandons ? tally.cancelled : tally.expired, tally.accepted - 1);
  }
}

TEST(ActiveObject, ACapacityThatCannotBeIsRefused) {
  EXPECT_THROW(BookObject({.capacity = 0}), std::logic_error);
  EXPECT_THROW(BookObject({.capacity = std::numeric_limits<std::size_t>::max()}),
               std::length_error);
}

TEST(ActiveObject, TheDestructorFinishes) {
  struct Counter {
    std::atomic<int>* count;
    void operator()(const Number&) const { ++*count; }
  };
  std::atomic<int> count{0};
  {
    ActiveObject<Counter, Number> object({}, Counter{&count});
    for (int i = 0; i < 100; ++i) ASSERT_EQ(object.publish(Number{}), Status::ok);
  }
  EXPECT_EQ(count, 100);
}

// It sends to itself, and hears whether it may be closed from there.
struct Talker {
  ActiveObject<Talker, Number>** self;
  int* refused;
  int* full;
  void operator()(const Number& number) const {
    try {
      (void)(*self)->close();
    } catch (const std::logic_error&) {
      ++*refused;
    }
    for (int i = 0; i < number.value; ++i) {
      if ((*self)->publish(Number{0}) == Status::full) ++*full;
    }
  }
};

TEST(ActiveObject, InsideItNeitherClosesNorWaitsForRoom) {
  int refused = 0;
  int full = 0;
  ActiveObject<Talker, Number>* self = nullptr;
  ActiveObject<Talker, Number> talker({.capacity = 2}, Talker{&self, &refused, &full});
  self = &talker;
  ASSERT_EQ(talker.publish(Number{10}), Status::ok);
  while (talker.size() != 0) std::this_thread::yield();
  const Tally tally = talker.close();
  EXPECT_EQ(static_cast<std::uint64_t>(refused), tally.done);
  EXPECT_EQ(static_cast<std::uint64_t>(full), 10 - (tally.done - 1));
  EXPECT_GE(full, 8);
}

TEST(ActiveObject, TheStateIsItsThreadsUntilTheClose) {
  BookObject book;
  EXPECT_THROW((void)book.state(), std::logic_error);
  (void)book.close();
  EXPECT_EQ(book.state().sum, 0);
}

TEST(ActiveObject, AnswersRequests) {
  struct Doubles {
    void operator()(Request<Number, int>& request) { request.reply(2 * request.question.value); }
  };
  ActiveObject<Doubles, Request<Number, int>> object;
  EXPECT_EQ(object.request<int>(Number{21}).get(), 42);
}

TEST(ActiveObject, ItsThreadHasItsName) {
  struct Named {
    std::array<char, 16> name{};
    void operator()(const Number&) { pthread_getname_np(pthread_self(), name.data(), name.size()); }
  };
  ActiveObject<Named, Number> object({.name = "logger"});
  ASSERT_EQ(object.publish(Number{}), Status::ok);
  (void)object.close();
  EXPECT_STREQ(object.state().name.data(), "logger");
}

TEST(ActiveObject, AStateThatThrowsLeavesNothing) {
  struct Fails {
    Fails() { throw std::runtime_error("no"); }
    void operator()(const Number&) {}
  };
  EXPECT_THROW((ActiveObject<Fails, Number>()), std::runtime_error);
}

// The child of a fork() has no thread that would end what it is at.
TEST(ActiveObject, EndsInAForkedChildInTheMiddleOfAMessage) {
  Hold hold;
  auto book = std::make_unique<BookObject>();
  ASSERT_EQ(book->publish(Held{&hold}), Status::ok);
  ASSERT_EQ(book->publish(Number{1}), Status::ok);
  hold.begun.wait();
  const auto end_copy = [&] {
    book.reset();
    return 7;
  };
  EXPECT_EQ(test::in_child(end_copy), 7);
  hold.gate.open();
  EXPECT_EQ(book->close().done, 2U);
}

}}  // namespace active_object_test
