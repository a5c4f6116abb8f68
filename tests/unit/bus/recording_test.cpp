// SPDX-License-Identifier: MIT
//
// Recordings: what is replayed is what was handed out, at any pace; what is no whole recording of
// these messages is refused before anything is handed out; calls that fail leave nothing behind.
#include "support/failing.hpp"
#include "support/fast_place.hpp"
#include "support/files.hpp"
#include "support/test.hpp"

namespace recording_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;

struct Reading {
  int sensor = 0;
  double value = 0;
};
struct Big {
  std::array<std::uint32_t, 500> words{};
};

struct Everything : BusPolicies {
  static constexpr bool senders = true;
  static constexpr bool topics = true;
  static constexpr bool times = true;
};
template <class Policies>
using BusOf = BasicMessageBus<Policies, Reading, Big, char>;
using Bus = BusOf<Everything>;

// Depends on all that a handler sees, and on the order.
template <class Meta>
class Digest {
 public:
  void operator()(const Reading& r, const Meta& m) {
    add(static_cast<std::uint64_t>(r.sensor), m);
    add(static_cast<std::uint64_t>(r.value * 1000), m);
  }
  void operator()(const Big& b, const Meta& m) {
    for (const std::uint32_t word : b.words) add(word, m);
  }
  void operator()(char c, const Meta& m) { add(static_cast<unsigned char>(c), m); }
  std::uint64_t value = 1;

 private:
  void add(std::uint64_t more, const Meta& meta) {
    value = (value ^ more ^ meta.sequence) * 0x9e3779b97f4a7c15U;
    if constexpr (requires { meta.sender; }) {
      for (const char c : meta.topic.name()) value = value * 31 + static_cast<unsigned char>(c);
      value += meta.sender + static_cast<std::uint64_t>(meta.time.time_since_epoch().count());
    }
  }
};

struct RecordingTest : testing::Test {
  std::string path(const char* name) const { return folder.at(name); }
  std::size_t files() const { return folder.names().size(); }

  // These messages, each handed out at once.
  template <class B, class... Messages>
  static void record(B& bus, const std::string& file, const Messages&... messages) {
    bus.record(file.c_str());
    (hand_out(bus, messages), ...);
    bus.stop_recording();
  }
  // Two messages, and a pause between them.
  static void record_with_pause(MessageBus<int>& bus, const std::string& file,
                                std::chrono::milliseconds pause) {
    bus.record(file.c_str());
    hand_out(bus, 0);
    std::this_thread::sleep_for(pause);
    hand_out(bus, 1);
    bus.stop_recording();
  }
  template <class B, class M, class... Given>
  static void hand_out(B& bus, const M& message, const Given&... given) {
    EXPECT_EQ(bus.publish(message, given...), Status::ok);
    bus.drain();
  }

  // Random messages of all types, recorded; the digest.
  template <class B>
  std::uint64_t make_recording(B& bus, const std::string& file, int messages) {
    auto random = test::random();
    bus.record(file.c_str());
    Digest<typename B::Meta> digest;
    for (int i = 0; i < messages; ++i) {
      typename B::Given given;
      if constexpr (requires(typename B::Meta meta) { meta.sender; }) {
        given.sender = random();
        if (random() % 2 == 0) given.topic = i % 3 == 0 ? "a" : "a/longer/name";
      }
      switch (random() % 3) {
        case 0:
          EXPECT_EQ(bus.publish(Reading{static_cast<int>(random()), 0.5 * i}, given), Status::ok);
          break;
        case 1: {
          Big big;
          for (auto& word : big.words) word = static_cast<std::uint32_t>(random());
          EXPECT_EQ(bus.publish(big, given), Status::ok);
          break;
        }
        default: EXPECT_EQ(bus.publish(static_cast<char>(random()), given), Status::ok);
      }
      if (random() % 8 == 0) bus.drain(digest);
    }
    bus.drain(digest);
    bus.stop_recording();
    return digest.value;
  }

  const test::Folder folder{test::fast_place()};
};

template <class B, class... Args>
std::string why_refused(B& bus, const std::string& file, Args&&... args) {
  std::size_t calls = 0;
  const auto count = [&](const auto&) { ++calls; };
  const auto replay = [&] { return bus.replay(file.c_str(), count, args...); };
  const auto refused = test::caught<std::runtime_error>(replay);
  const std::string why = refused ? refused->what() : "";
  EXPECT_EQ(calls, 0U) << "refused before anything is handed out";
  EXPECT_FALSE(says(why, "\n"));
  return why;
}

TEST_F(RecordingTest, TheSameHandlersReachTheSameDigest) {
  Bus bus;
  const std::string file = path("all");
  const std::uint64_t recorded = make_recording(bus, file, 1000);
  for (const bool with_subscribers : {false, true}) {
    Bus other;
    Digest<Bus::Meta> digest;
    if (with_subscribers) {
      const ScopedListener one(other.subscribe<Reading>(std::ref(digest)));
      const ScopedListener two(other.subscribe<Big>(std::ref(digest)));
      const ScopedListener three(other.subscribe<char>(std::ref(digest)));
      EXPECT_EQ(other.replay(file.c_str()), 1000U);
    } else {
      EXPECT_EQ(other.replay(file.c_str(), digest), 1000U);
    }
    EXPECT_EQ(digest.value, recorded);
    EXPECT_EQ(other.tally().accepted, 0U) << "they were never accepted";
  }
  EXPECT_EQ(files(), 1U);
}

TEST_F(RecordingTest, OfLanesAndWithoutMetaData) {
  BusOf<LanedBusPolicies> bus;
  const std::string file = path("lanes");
  const std::uint64_t recorded = make_recording(bus, file, 300);
  BusOf<BusPolicies> other;
  Digest<BusOf<BusPolicies>::Meta> digest;
  EXPECT_EQ(other.replay(file.c_str(), digest), 300U);
  EXPECT_EQ(digest.value, recorded);
}

TEST_F(RecordingTest, AtTheRecordedPace) {
  MessageBus<int> bus;
  const std::string file = path("pace");
  record_with_pause(bus, file, 20ms);
  const auto start = sync::clock::now();
  sync::clock::time_point second;
  EXPECT_EQ(
      bus.replay(file.c_str(), [&](int) { second = sync::clock::now(); }, Pace::recorded), 2U);
  EXPECT_GE(second - start, 20ms);
}

TEST_F(RecordingTest, AnEmptyOneIsOne) {
  Bus bus;
  const std::string file = path("empty");
  bus.record(file.c_str());
  const std::size_t closed = test::calls(Call::close);
  bus.stop_recording();
  EXPECT_EQ(test::calls(Call::close), closed + 2)
      << "the file and its lock; a third one may be of another thread's file";
  EXPECT_EQ(bus.replay(file.c_str()), 0U);
  EXPECT_EQ(test::calls(Call::close), closed + 3);
}

TEST_F(RecordingTest, OneAtATime) {
  Bus bus;
  EXPECT_THROW(bus.stop_recording(), std::logic_error);
  bus.record(path("one").c_str());
  EXPECT_THROW(bus.record(path("two").c_str()), std::logic_error);
  bus.stop_recording();
}

// A bus that ends, or whose program does, leaves no file that could be taken for a whole one.
TEST_F(RecordingTest, UnfinishedThereIsNone) {
  const auto before = test::open_descriptors();
  {
    Bus bus;
    bus.record(path("unfinished").c_str());
    hand_out(bus, 'a');
  }
  EXPECT_EQ(files(), 0U);
  EXPECT_EQ(test::open_descriptors(), before);
}

// Each has a file of its own, and the last that is finished stays.
TEST_F(RecordingTest, TwoOfOnePathAreBothWhole) {
  const std::string file = path("two");
  MessageBus<int> first;
  MessageBus<int> second;
  first.record(file.c_str());
  for (int i = 0; i < 10'000; ++i) hand_out(first, i);
  second.record(file.c_str());
  hand_out(second, 7);
  first.stop_recording();
  EXPECT_EQ(first.replay(file.c_str()), 10'000U);
  second.stop_recording();
  EXPECT_EQ(first.replay(file.c_str()), 1U);
  EXPECT_EQ(files(), 1U);
}

// A program that was killed has left a file; nobody writes it, so it goes away with the next one.
TEST_F(RecordingTest, WhatWasLeftBehindIsRemoved) {
  const std::string file = path("killed");
  std::ofstream(file + ".unfinished") << "half";
  MessageBus<int> bus;
  bus.record(file.c_str());
  EXPECT_EQ(files(), 1U) << "in its place";
  bus.stop_recording();
  EXPECT_EQ(bus.replay(file.c_str()), 0U);
  EXPECT_EQ(files(), 1U);
}

// What is no file of ours has the name: another one is taken, and nothing is written through it.
TEST_F(RecordingTest, ANameThatIsTakenIsLeftAlone) {
  const std::string file = path("taken");
  std::ofstream(path("elsewhere")) << "kept";
  std::filesystem::create_symlink(path("elsewhere"), file + ".unfinished");
  ASSERT_EQ(::mkfifo((file + ".unfinished.1").c_str(), 0600), 0);
  MessageBus<int> bus;
  record(bus, file);
  EXPECT_EQ(bus.replay(file.c_str()), 0U);
  EXPECT_EQ(test::contents(path("elsewhere")), "kept");
  EXPECT_EQ(files(), 4U);
}

// What a daemon has closed is the first number that open() gives out.
TEST_F(RecordingTest, InAProcessWithoutAnInput) {
  const std::string file = path("one");
  const int input = ::dup(STDIN_FILENO);
  ASSERT_GE(input, 0);
  ::close(STDIN_FILENO);
  Bus bus;
  EXPECT_NO_THROW(bus.record(file.c_str()));
  EXPECT_NO_THROW(bus.stop_recording());
  EXPECT_NO_THROW(bus.replay(file.c_str()));
  {
    Bus unfinished;
    EXPECT_NO_THROW(unfinished.record(path("two").c_str()));
  }
  const bool closed_again = ::fcntl(STDIN_FILENO, F_GETFD) < 0;
  ::dup2(input, STDIN_FILENO);
  ::close(input);
  EXPECT_TRUE(closed_again);
  EXPECT_EQ(files(), 1U);
}

TEST_F(RecordingTest, AThrowOfAHandlerEndsAReplay) {
  Bus bus;
  const std::string file = path("throws");
  make_recording(bus, file, 20);
  std::size_t calls = 0;
  const auto throws = [&](const auto&) {
    if (++calls == 5) throw std::domain_error("as asked");
  };
  EXPECT_THROW(bus.replay(file.c_str(), throws), std::domain_error);
  EXPECT_EQ(calls, 5U);
}

// What a handler may do in a drain it may do in a replay, and nothing else: it does not wait for
// room, which it would make itself, nor take from its bus.
TEST_F(RecordingTest, HandlersOfAReplayAreHandlersOfTheBus) {
  MessageBus<int> bus({.capacity = 1, .on_full = OnFull::wait});
  const std::string file = path("one");
  record(bus, file, 1);
  EXPECT_EQ(bus.publish(2), Status::ok);
  EXPECT_EQ(bus.replay(file.c_str(),
                       [&](int) {
                         EXPECT_EQ(bus.publish(3), Status::full) << "it would wait for ever";
                         EXPECT_THROW(bus.drain(), std::logic_error);
                         EXPECT_THROW(static_cast<void>(bus.wait()), std::logic_error);
                         EXPECT_THROW(bus.replay(file.c_str()), std::logic_error);
                       }),
            1U);
  EXPECT_EQ(bus.drain(), 1U) << "it is as before";
}

// remove_and_wait() waits for the message that is being handled, not for the pause behind it. A
// busy machine may let a pause go by: one of many is enough.
TEST_F(RecordingTest, ASubscriberIsRemovedInThePausesOfAReplay) {
  MessageBus<int> bus;
  const std::string file = path("pause");
  record_with_pause(bus, file, 50ms);
  bool in_the_pause = false;
  for (int tries = 0; tries < 100 && !in_the_pause; ++tries) {
    std::atomic<bool> inside{false};
    std::atomic<bool> asked{false};
    std::atomic<bool> removed{false};
    const ListenerHandle removes = bus.subscribe<int>([&](int) {
      inside = true;
      while (!asked) std::this_thread::yield();
    });
    const ScopedListener stays(bus.subscribe<int>([&](int number) {
      if (number == 1) in_the_pause = removed;
    }));
    std::jthread consumer([&] { EXPECT_EQ(bus.replay(file.c_str(), Pace::recorded), 2U); });
    while (!inside) std::this_thread::yield();
    asked = true;
    EXPECT_TRUE(removes.remove_and_wait());
    removed = true;
  }
  EXPECT_TRUE(in_the_pause) << "it waited for the second message";
}

TEST_F(RecordingTest, ATopicThatIsTooLongFailsTheRecording) {
  Bus bus;
  const std::string file = path("topic");
  const std::string longest(std::size_t{64} * 1024, 't');
  const std::string longer = longest + 't';
  bus.record(file.c_str());
  hand_out(bus, 'a', Bus::Given{.topic = longest});
  bus.stop_recording();
  std::size_t length = 0;
  EXPECT_EQ(
      bus.replay(file.c_str(),
                 [&](const auto&, const Bus::Meta& meta) { length = meta.topic.name().size(); }),
      1U);
  EXPECT_EQ(length, longest.size());
  std::filesystem::remove(file);
  bus.record(file.c_str());
  hand_out(bus, 'a', Bus::Given{.topic = longer});
  EXPECT_THROW(bus.stop_recording(), std::system_error) << "else nobody could replay it";
  EXPECT_EQ(files(), 0U);
}

TEST_F(RecordingTest, WhatIsNoneIsRefused) {
  Bus bus;
  EXPECT_TRUE(says(why_refused(bus, path("nothing")), "opening"));
  EXPECT_TRUE(says(why_refused(bus, folder.path()), "reading")) << "a folder";
  std::ofstream(path("void")) << "";
  EXPECT_TRUE(says(why_refused(bus, path("void")), "ends too early"));
  std::ofstream(path("text")) << std::string(10'000, 'x');
  EXPECT_TRUE(says(why_refused(bus, path("text")), "is no recording"));
}

TEST_F(RecordingTest, OneOfOtherMessagesIsRefused) {
  Bus bus;
  const std::string file = path("all");
  make_recording(bus, file, 10);
  MessageBus<Reading, Big> fewer;
  EXPECT_TRUE(says(why_refused(fewer, file), "has 3 types of messages, this bus has 2"));
  MessageBus<Reading, Big, int> larger;
  EXPECT_TRUE(says(why_refused(larger, file), "'char' of 1 bytes"));
  MessageBus<Reading, Big, unsigned char> named;
  EXPECT_TRUE(says(why_refused(named, file), "'unsigned char'"));
}

// Names are part of a file, however long the compiler makes them.
template <class A, class B>
struct Both {
  char letter = 0;
};
template <int kTimes>
struct Deep {
  using Type = Both<typename Deep<kTimes - 1>::Type, typename Deep<kTimes - 1>::Type>;
};
template <>
struct Deep<0> {
  using Type = char;
};
TEST_F(RecordingTest, NamesOfTypesMayBeLong) {
  MessageBus<Deep<7>::Type> bus;
  const std::string file = path("long");
  record(bus, file);
  EXPECT_GE(test::contents(file).size(), 4096U + 96U)
      << "the name is shorter than it was meant to be";
  EXPECT_EQ(bus.replay(file.c_str()), 0U);
}

// What stands in a file of this version, and how its checksum is made, stays as it is.
TEST_F(RecordingTest, AFileOfAnotherBuildIsReplayed) {
  std::string whole = "handoffM";
  const auto put = [&](auto number) {
    whole.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  put(std::uint32_t{0x01020304});  // the order of bytes
  put(std::uint32_t{1});           // the version
  put(std::uint64_t{1});           // types
  put(std::uint64_t{4});           // its bytes
  put(std::uint64_t{4});           // its alignment
  put(std::uint64_t{3});           // the length of its name
  whole += "int";
  put(std::uint32_t{0});  // its type
  put(std::uint32_t{5});  // the length of its topic
  put(std::int64_t{11});  // when it was handed out
  put(std::uint64_t{7});  // its sender
  put(std::int64_t{13});  // when it was published
  whole += "a/b/c";
  put(std::int32_t{42});
  put(std::uint32_t{0xffffffff});  // the end, in place of a message
  whole.append(28, '\0');
  put(std::uint64_t{1});  // messages
  put(std::uint64_t{0x15a78fe9f1e5ca9bU});
  const std::string file = path("old");
  std::ofstream(file, std::ios::binary) << whole;

  using Ints = BasicMessageBus<Everything, int>;
  Ints bus;
  const auto visit = [](int number, const Ints::Meta& meta) {
    EXPECT_EQ(number, 42);
    EXPECT_EQ(meta.topic.name(), "a/b/c");
    EXPECT_EQ(meta.sender, 7U);
    EXPECT_EQ(meta.time.time_since_epoch(), 13ns);
  };
  EXPECT_EQ(bus.replay(file.c_str(), visit), 1U);
}

// Cut off anywhere, or with any byte another one: refused, or at least nothing else than what was
// recorded is handed out.
TEST_F(RecordingTest, ADamagedOneIsRefused) {
  MessageBus<Reading, char> bus;
  const std::string file = path("whole");
  bus.record(file.c_str());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(bus.publish(Reading{i, 1}), Status::ok);
    EXPECT_EQ(bus.publish('a'), Status::ok);
  }
  bus.drain();
  bus.stop_recording();
  const std::string whole = test::contents(file);
  const std::string other = path("other");
  std::ofstream(other, std::ios::binary) << whole << 'x';
  EXPECT_TRUE(says(why_refused(bus, other), "something follows"));
  std::string third_type = whole;
  char& type = third_type[whole.size() - 81];  // the last message's: 33 bytes, and 48 of the end
  ASSERT_EQ(type, 1);
  type = 2;
  std::ofstream(other, std::ios::binary) << third_type;
  EXPECT_TRUE(says(why_refused(bus, other), "has no type"));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::ofstream(other, std::ios::binary) << whole.substr(0, i);
    EXPECT_NE(why_refused(bus, other), "") << "cut off at " << i;
    std::string changed = whole;
    changed[i] = static_cast<char>(~static_cast<unsigned char>(changed[i]));
    std::ofstream(other, std::ios::binary) << changed;
    EXPECT_NE(why_refused(bus, other), "") << "with another byte at " << i;
  }
}

TEST_F(RecordingTest, CallsThatFailLeaveNothingBehind) {
  const std::string file = path("failing");
  const auto before = test::open_descriptors();
  for (const Call call : {Call::open, Call::write, Call::close, Call::allocation}) {
    bool whole = false;
    const auto use = [&] {
      whole = false;
      try {
        Bus bus;
        bus.record(file.c_str());
        for (int i = 0; i < 100; ++i) {
          EXPECT_EQ(bus.publish(Big{}), Status::ok);
          bus.drain([](const auto&) {});
        }
        bus.stop_recording();
        whole = true;
      } catch (const std::system_error& error) {
        EXPECT_EQ(error.code().value(), ENOSPC);
      } catch (const std::bad_alloc&) {
      }
    };
    const int places = test::until_whole(call, ENOSPC, use, [&] {
      EXPECT_EQ(files(), whole ? 1U : 0U);
      EXPECT_EQ(test::open_descriptors(), before);
      if (whole) std::filesystem::remove(file);
    });
    EXPECT_GE(places, 1);
  }
}

// Files that anybody could have made: they are replayed, or refused; nothing else happens, and no
// length in them is believed.
TEST_F(RecordingTest, HostileOnes) {
  using Ints = BasicMessageBus<Everything, int>;
  Ints bus;
  const std::string file = path("hostile");
  bus.record(file.c_str());
  for (int i = 0; i < 5; ++i) hand_out(bus, i, Ints::Given{.topic = "a/topic"});
  bus.stop_recording();
  const std::string whole = test::contents(file);
  auto dice = test::random();
  std::size_t refused = 0;
  const std::size_t tries = test::deep() ? 1'000'000U : test::rounds(3000);
  for (std::size_t i = 0; i < tries; ++i) {
    std::string hostile = whole;
    for (auto changes = 1 + dice() % 3; changes != 0; --changes) {
      const std::size_t at = dice() % hostile.size();
      const std::uint64_t extreme = dice() % 2 == 0 ? ~std::uint64_t{0} : dice() >> dice() % 64;
      switch (dice() % 3) {
        case 0: hostile[at] = static_cast<char>(dice() & 255); break;
        case 1:
          std::memcpy(hostile.data() + at / 4 * 4, &extreme,
                      std::min<std::size_t>(8, hostile.size() - at / 4 * 4));
          break;
        default: hostile.resize(at + 1);
      }
    }
    std::ofstream(file, std::ios::binary | std::ios::trunc) << hostile;
    std::size_t handed_out = 0;
    try {
      (void)bus.replay(file.c_str(), [&](int) { ++handed_out; });
    } catch (const std::runtime_error&) {
      ++refused;
      ASSERT_EQ(handed_out, 0U);
    }
  }
  EXPECT_GT(refused, tries / 2);
}

// Whatever fails last is said, for what it is.
TEST_F(RecordingTest, FailuresAtTheEndAreSaid) {
  struct Failure {
    Call call;
    int error;
    int said;
  };
  const std::string file = path("one");
  for (const Failure& failure : {Failure{Call::write, EIO, EIO}, Failure{Call::close, EIO, EIO},
                                 Failure{Call::write, 0, ENOSPC}}) {  // it writes nothing
    Bus bus;
    bus.record(file.c_str());
    test::fail_after(failure.call, 0, failure.error);
    const auto said = test::caught<std::system_error>([&] { bus.stop_recording(); });
    EXPECT_TRUE(test::stop_failing(failure.call));
    EXPECT_EQ(said.value().code().value(), failure.said);
    EXPECT_EQ(files(), 0U);
  }
  std::filesystem::create_directory(file);
  Bus bus;
  bus.record(file.c_str());
  EXPECT_THROW(bus.stop_recording(), std::system_error) << "a folder is in its place";
  EXPECT_EQ(files(), 1U) << "the folder";
}

TEST_F(RecordingTest, ACallThatIsInterruptedIsMadeAgain) {
  Bus bus;
  const std::string file = path("interrupted");
  for (const Call call : {Call::write, Call::read}) {
    const int places = test::until_whole(call, EINTR, [&] {
      make_recording(bus, file, 200);
      EXPECT_EQ(bus.replay(file.c_str()), 200U);
    });
    EXPECT_GE(places, 2);
  }
}

TEST_F(RecordingTest, ReadsThatFailAreSaid) {
  Bus bus;
  const std::string file = path("all");
  make_recording(bus, file, 200);
  const auto before = test::open_descriptors();
  for (const Call call : {Call::open, Call::read}) {
    const int places = test::until_whole(call, EIO, [&] {
      try {
        EXPECT_EQ(bus.replay(file.c_str()), 200U);
      } catch (const std::system_error& error) {
        EXPECT_EQ(error.code().value(), EIO);
      }
    });
    EXPECT_GE(places, 1);
  }
  EXPECT_EQ(test::open_descriptors(), before);
}

}}  // namespace recording_test
