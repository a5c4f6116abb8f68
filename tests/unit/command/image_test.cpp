// SPDX-License-Identifier: MIT
//
// Captures: what is loaded is what was captured; what is none, is cut off, damaged, of another
// version or lies about its lengths is refused before anything is recorded; calls that fail leave
// nothing behind.
#include <handoff/command/command_bucket.hpp>
#include <handoff/command/command_log.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "support/failing.hpp"
#include "support/fake_root.hpp"
#include "support/support.hpp"
#include "unit/command/commands.hpp"

namespace image_test { namespace {

using namespace handoff;
using test::Call;
using test::Notes;
using test::Tiny;
using test::Usual;
using test::Wide;
using test::WithAux;

using Image = std::vector<std::byte>;
using Bucket = CommandBucket<std::uint64_t, Notes>;
using Small = CommandBucket<std::uint16_t, Notes>;

struct Target {
  std::uint64_t number;
  void operator()(Notes& notes) const { notes.note(number); }
};

// All types, a state, chains, keys that are not sorted.
void fill(Bucket& bucket, std::uint64_t count) {
  bucket.state<Target>().number = 1'000'000;
  Bucket::Recorder recorder = bucket.recorder(0);
  for (std::uint64_t i = 0; i < count; ++i) {
    test::add_any(recorder, i * 7 % 13, i);
    auto& chained = recorder.append<Usual>(recorder.add<Tiny>(i * 5 % 11) = {0});
    chained = {i, 2 * i};
  }
}

std::size_t load(Bucket& bucket, const Image& image) {
  return bucket.load<Tiny, Usual, Wide, WithAux, Target>(std::span(image));
}

std::vector<std::uint64_t> dispatched(Bucket& bucket) {
  Notes notes;
  bucket.submit(notes);
  return notes.numbers;
}

// Of all before the end.
std::uint64_t hash_of(const Image& image, std::size_t end) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  std::size_t at = 0;
  for (; at + 8 <= end; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, image.data() + at, 8);
    hash = std::rotl((hash ^ word) * 0x100000001b3U, 29);
  }
  for (; at < end; ++at) hash = (hash ^ static_cast<std::uint64_t>(image[at])) * 0x100000001b3U;
  return hash;
}

// As if it had been made so.
void sign(Image& image) {
  if (image.size() < 8) return;
  const std::uint64_t hash = hash_of(image, image.size() - 8);
  std::memcpy(image.data() + image.size() - 8, &hash, 8);
}

// Why it is refused; "" if it is not.
std::string why_refused(const Image& image) {
  Bucket bucket;
  try {
    load(bucket, image);
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(bucket.statistics().commands, 0U) << "before anything is recorded";
    EXPECT_TRUE(dispatched(bucket).empty());
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return {};
}

TEST(CommandImages, WhatIsLoadedIsWhatWasCaptured) {
  for (const std::uint64_t count : {0U, 1U, 500U}) {
    for (const bool sorted : {false, true}) {
      Bucket bucket;
      fill(bucket, count);
      if (sorted) bucket.sort();
      const Image image = bucket.captured();
      Bucket other;
      EXPECT_EQ(load(other, image), 3 * count + 1);
      EXPECT_EQ(dispatched(other), dispatched(bucket));
      other.sort();
      bucket.sort();
      EXPECT_EQ(dispatched(other), dispatched(bucket)) << "keys came along";
      EXPECT_EQ(other.captured().size(), bucket.captured().size());
    }
  }
}

TEST(CommandImages, WhatIsNoneIsRefused) {
  EXPECT_NE(why_refused({}), "");
  EXPECT_NE(why_refused(Image(1000, std::byte{'x'})).find("is none of commands"),
            std::string::npos);
}

TEST(CommandImages, OfOtherTypesAndKeys) {
  Bucket bucket;
  fill(bucket, 10);
  const Image image = bucket.captured();
  Bucket other;
  try {
    other.load<Tiny, Usual>(std::span(image));
    FAIL() << "types are missing";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("which load() is not told of"), std::string::npos);
  }
  Small small;
  EXPECT_THROW((small.load<Tiny, Usual, Wide, WithAux, Target>(std::span(image))),
               std::runtime_error);
}

TEST(CommandImages, CutOffOrDamagedAnywhere) {
  Bucket bucket;
  fill(bucket, 4);
  const Image image = bucket.captured();
  ASSERT_EQ(why_refused(image), "");
  for (std::size_t i = 0; i < image.size(); ++i) {
    EXPECT_NE(why_refused(Image(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(i))), "")
        << "cut off at " << i;
    Image changed = image;
    changed[i] = ~changed[i];
    EXPECT_NE(why_refused(changed), "") << "with another byte at " << i;
  }
  Image longer = image;
  longer.push_back(std::byte{0});
  EXPECT_NE(why_refused(longer), "");
}

// Images that anybody could have made, with the right checksum: they may be loaded, or are refused;
// nothing else happens, and no length in them is believed.
TEST(CommandImages, HostileOnes) {
  Bucket whole;
  fill(whole, 3);
  const Image image = whole.captured();
  auto dice = test::random();
  std::size_t refused = 0;
  const std::size_t tries = test::deep() ? 1'000'000U : test::rounds(20'000);
  for (std::size_t i = 0; i < tries; ++i) {
    Image hostile = image;
    for (auto changes = 1 + dice() % 3; changes != 0; --changes) {
      const std::size_t at = dice() % hostile.size();
      switch (dice() % 4) {
        case 0: hostile[at] = static_cast<std::byte>(dice() & 255); break;
        case 1: hostile[at] = ~hostile[at]; break;
        case 2: {
          const std::uint64_t extreme = dice() % 2 == 0 ? ~std::uint64_t{0} : dice() >> dice() % 64;
          std::memcpy(hostile.data() + at, &extreme, std::min<std::size_t>(8, hostile.size() - at));
          break;
        }
        default: hostile.resize(at + 1);
      }
    }
    sign(hostile);
    Bucket bucket;
    try {
      load(bucket, hostile);
    } catch (const std::runtime_error&) {
      ++refused;
      ASSERT_EQ(bucket.statistics().commands, 0U);
    }
  }
  EXPECT_GT(refused, tries / 4);
}

TEST(CommandImages, AnotherVersion) {
  Bucket bucket;
  Image image = bucket.captured();
  image[12] = std::byte{2};  // behind the magic and the byte order
  sign(image);
  EXPECT_NE(why_refused(image).find("another version"), std::string::npos);
}

struct CommandFiles : testing::Test {
  std::string path(const char* name) const { return std::string(root.path()) + "/" + name; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(root.path()), {}));
  }
  const test::FakeRoot root{{}};
};

TEST_F(CommandFiles, Whole) {
  Bucket bucket;
  fill(bucket, 300);
  bucket.sort();
  bucket.capture(path("frame").c_str());
  Bucket other;
  EXPECT_EQ((other.load<Tiny, Usual, Wide, WithAux, Target>(path("frame").c_str())), 901U);
  EXPECT_EQ(dispatched(other), dispatched(bucket));
  EXPECT_EQ(files(), 1U);
}

TEST_F(CommandFiles, WhatIsNotThere) {
  Bucket bucket;
  EXPECT_THROW(bucket.load<Tiny>(path("nothing").c_str()), std::system_error);
  EXPECT_THROW(bucket.load<Tiny>(root.path()), std::system_error) << "a folder";
  EXPECT_THROW(bucket.capture(path("no/folder").c_str()), std::system_error);
  EXPECT_EQ(files(), 0U);
}

TEST_F(CommandFiles, CallsThatFailLeaveNothingBehind) {
  Bucket bucket;
  fill(bucket, 20);
  const std::string file = path("failing");
  for (const Call call : {Call::open, Call::write, Call::close, Call::allocation}) {
    bool whole = false;
    const auto use = [&] {
      whole = false;
      try {
        bucket.capture(file.c_str());
        whole = true;
      } catch (const std::system_error& error) {
        EXPECT_EQ(error.code().value(), ENOSPC);
      } catch (const std::bad_alloc&) {
      }
    };
    const int places = test::until_whole(call, ENOSPC, use, [&] {
      EXPECT_EQ(files(), whole ? 1U : 0U);
      if (whole) std::filesystem::remove(file);
    });
    EXPECT_GE(places, 1);
  }
}

TEST_F(CommandFiles, ReadsThatFailAreSaid) {
  Bucket bucket;
  fill(bucket, 20);
  bucket.capture(path("frame").c_str());
  for (const Call call : {Call::open, Call::read, Call::allocation}) {
    const int places = test::until_whole(call, EIO, [&] {
      try {
        Bucket other;
        try {
          EXPECT_EQ((other.load<Tiny, Usual, Wide, WithAux, Target>(path("frame").c_str())), 61U);
        } catch (const std::system_error& error) {
          EXPECT_EQ(error.code().value(), EIO);
        } catch (const std::bad_alloc&) {
          EXPECT_EQ(other.statistics().commands, 0U) << "all of it or nothing";
        }
      } catch (const std::bad_alloc&) {
      }
    });
    EXPECT_GE(places, 1);
  }
}

}}  // namespace image_test
