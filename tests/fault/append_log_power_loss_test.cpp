// SPDX-License-Identifier: MIT
//
// AppendLog and loss of power: every acknowledged record is found, in its place and whole, nothing
// else is taken for one; what is opened again goes on from there and survives a second loss. Each
// single sync that is left out is noticed.
#include "fault/fault_support.hpp"
#include "fault/power_loss.hpp"
#include "support/test.hpp"

namespace append_log_power_loss_test { namespace {

using namespace handoff;
using namespace test;
using Draw = Losses::Draw;

// What was appended, and what of it counts.
struct Book {
  struct Entry {
    std::string text;
    std::size_t acknowledged = ~std::size_t{0};  // the moment
  };
  std::vector<Entry> entries;  // the record n is the (n-1)th
  struct Trim {
    std::uint64_t sequence = 0;
    std::size_t begun = 0;
    std::uint64_t first = 0;  // the first record that was there afterwards
    std::size_t acknowledged = ~std::size_t{0};
  };
  std::vector<Trim> trims;

  void acknowledge_up_to(std::uint64_t sequence, std::size_t moment) {
    for (std::size_t i = 0; i < sequence; ++i) {
      entries[i].acknowledged = std::min(entries[i].acknowledged, moment);
    }
  }
  std::uint64_t acknowledged_at(std::size_t moment) const {
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].acknowledged <= moment) last = i + 1;
    }
    return last;
  }
  // The first one that may be there: what was removed does not come back.
  std::uint64_t first_at(std::size_t moment) const {
    std::uint64_t first = 1;
    for (const Trim& trim : trims) {
      if (trim.acknowledged <= moment) first = std::max(first, trim.first);
    }
    return first;
  }
  // The last one that may be missing at the front.
  std::uint64_t trimmed_at(std::size_t moment) const {
    std::uint64_t before = 0;
    for (const Trim& trim : trims) {
      if (trim.begun <= moment) before = std::max(before, trim.sequence - 1);
    }
    return before;
  }
};

// What was found on a disk.
struct Found {
  std::uint64_t first = 1;
  std::uint64_t last = 0;
  std::string fault;
};

Found look(const std::string& directory, const Book& book) {
  Found found;
  try {
    AppendLogReader reader(directory);
    AppendLogRecord record;
    bool any = false;
    while (reader.next(record)) {
      if (!any) found.first = record.sequence;
      if (any && record.sequence != found.last + 1) found.fault = "a record is left out";
      any = true;
      found.last = record.sequence;
      if (record.sequence == 0 || record.sequence > book.entries.size() ||
          record.text() != book.entries[record.sequence - 1].text) {
        found.fault = "record " + std::to_string(record.sequence) + " is something else";
        return found;
      }
    }
  } catch (const std::system_error& error) {
    if (error.code().value() != ENOENT) found.fault = error.what();
  }
  return found;
}

std::string judge(const Found& found, const Book& book, std::size_t moment) {
  if (!found.fault.empty()) return found.fault;
  const std::uint64_t acknowledged = book.acknowledged_at(moment);
  if (found.last < acknowledged) {
    return "record " + std::to_string(acknowledged) + " was acknowledged, and the last is " +
           std::to_string(found.last);
  }
  if (found.last >= found.first && found.first > book.trimmed_at(moment) + 1) {
    return "begins with " + std::to_string(found.first);
  }
  if (found.last >= found.first && found.first < book.first_at(moment)) {
    return "record " + std::to_string(found.first) + " was removed, and is there";
  }
  return "";
}

AppendLogOptions small_segments(SimulatedDisk* disk) {
  return {.segment_bytes = 4096, .max_record_bytes = 8192, .batch_bytes = 2048, .tap = disk};
}

class Writer {
 public:
  Writer(SimulatedDisk& disk, Book& book, const std::string& directory)
      : disk_(disk), book_(book), log_(directory, small_segments(&disk)) {}

  // What is found counts as durable from now on.
  void opened() {
    EXPECT_LE(log_.durable(), book_.entries.size());
    book_.entries.resize(log_.durable());
    book_.acknowledge_up_to(log_.durable(), disk_.now());
  }
  void append(std::size_t bytes, std::uint64_t number) {
    const std::string text = filled(bytes, number);
    book_.entries.push_back({text});
    const std::uint64_t sequence = log_.append(text).value();
    EXPECT_EQ(sequence, book_.entries.size());
    book_.acknowledge_up_to(sequence, disk_.now());
  }
  void append_later(std::size_t bytes, std::uint64_t number) {
    const std::string text = filled(bytes, number);
    book_.entries.push_back({text});
    EXPECT_EQ(log_.append_later(text).value(), book_.entries.size());
  }
  void flush() {
    log_.flush().check();
    book_.acknowledge_up_to(book_.entries.size(), disk_.now());
  }
  void trim(std::uint64_t sequence) {
    book_.trims.push_back({.sequence = sequence, .begun = disk_.now()});
    log_.trim(sequence).check();
    book_.trims.back().first = log_.first();
    book_.trims.back().acknowledged = disk_.now();
  }
  void close() {
    log_.close();
    book_.acknowledge_up_to(book_.entries.size(), disk_.now());
  }

 private:
  SimulatedDisk& disk_;
  Book& book_;
  AppendLog log_;
};

void some_appends(Writer& log) {
  for (std::uint64_t i = 0; i < 4; ++i) log.append(40 + 300 * i, i);
  log.close();
}
void many_segments(Writer& log) {
  for (std::uint64_t i = 0; i < 9; ++i) log.append(1500, 100 + i);
  log.append(6000, 200);  // longer than a segment
  log.append(1, 201);
  log.append(0, 202);
  log.close();
}
void groups(Writer& log) {
  for (std::uint64_t i = 0; i < 24; ++i) {
    log.append_later(100 + 37 * i, 300 + i);
    if (i % 5 == 4) log.flush();
  }
  log.flush();
}
void trims(Writer& log) {
  for (std::uint64_t i = 0; i < 8; ++i) log.append(1500, 400 + i);
  log.trim(5);
  log.append(700, 450);
  log.trim(9);
  log.append(1800, 451);
  log.append(1800, 452);
  log.trim(10);
  log.trim(11);
  log.close();
}

struct Named {
  const char* name;
  void (*program)(Writer&);
};
constexpr std::array kPrograms{Named{"some appends", some_appends},
                               Named{"many segments", many_segments}, Named{"groups", groups},
                               Named{"trims", trims}};

// A first life, and for each of its losses a second one with losses of its own.
class Lives {
 public:
  Lives()
      : world_(test::fast_place()),
        looked_at_(world_.at("looked_at")),
        second_(world_.at("second")) {}

  std::size_t losses() const { return losses_; }

  // "" or what is wrong. `dropped`, `second_dropped`: the sync that is left out in the first life,
  // in the second.
  std::string live(void (*program)(Writer&), int dropped, std::size_t count) {
    std::filesystem::create_directories(world_.at("first"));
    test::write_state({}, world_.at("first"));
    SimulatedDisk disk(world_.at("first"));
    disk.drop_sync(dropped);
    Book book;
    {
      Writer writer(disk, book, world_.at("first/log"));
      program(writer);
    }
    syncs_ = disk.syncs();
    Losses losses(disk, [&](std::size_t moment, const test::DiskState& state) {
      ++losses_;
      return survive(book, moment, state);
    });
    if (second_losses_ == 0) {
      // Before a sync that is left out all is as if it were not.
      const auto n = static_cast<std::size_t>(dropped);
      const bool left_out = dropped >= 0 && n < syncs_.size();
      const std::size_t first = left_out ? disk.sync_begun(n) : 0;
      std::string fault = losses.at_corners(losses.all_moments(first));
      if (!fault.empty() || count == 0) return fault;
    }
    return losses.at_random(losses.all_moments(), count, disk.now(), Draw::mostly_corners);
  }
  const std::vector<std::string>& syncs() const { return syncs_; }
  // As many as one of ten second lives has: those that only rarer ones have are hardly ever met
  // again when they are dropped.
  std::vector<std::string> second_syncs() const {
    std::size_t lives = 0;
    for (const auto& [syncs, seen] : second_lives_) lives += seen.count;
    std::size_t longer = 0;
    for (auto at = second_lives_.rbegin(); at != second_lives_.rend(); ++at) {
      longer += at->second.count;
      if (longer * 10 >= lives) return at->second.syncs;
    }
    return {};
  }
  void drop_in_second_life(int n) { second_dropped_ = n; }
  void with_second_life(std::size_t count) { second_losses_ = count; }

  // A process that is killed after so many calls, another one that goes on with what is there in
  // the page cache, and then the loss. Nothing if the first one came through.
  // `count` 0: not random losses, but the corners.
  std::optional<std::string> killed_after(void (*program)(Writer&), int calls, std::size_t count) {
    test::write_state({}, world_.at("first"));
    SimulatedDisk disk(world_.at("first"));
    Book book;
    disk.kill_after(calls);
    try {
      Writer writer(disk, book, world_.at("first/log"));
      program(writer);
    } catch (const std::system_error&) {
    }
    if (!disk.revive()) return std::nullopt;
    const std::size_t begun = disk.now();
    const std::size_t syncs_before = disk.syncs().size();
    if (second_dropped_ >= 0) {
      disk.drop_sync(second_dropped_ + static_cast<int>(syncs_before));
    }
    try {
      Writer writer(disk, book, world_.at("first/log"));
      writer.opened();
      go_on(writer);
    } catch (const std::system_error& error) {
      return std::string("not opened again: ") + error.what();
    }
    Losses losses(disk, [&](std::size_t moment, const test::DiskState& state) {
      ++losses_;
      const std::string fault = judge(found_of(state, book), book, moment);
      return fault.empty() ? "" : "after a kill: " + fault;
    });
    known_.clear();  // another book
    if (count == 0) {
      return losses.at_corners(losses.all_moments(left_out(disk, syncs_before).value_or(begun)));
    }
    return losses.at_random(losses.all_moments(begun), count, disk.now(), Draw::mostly_corners);
  }

 private:
  // When the sync that the second life leaves out began.
  std::optional<std::size_t> left_out(const SimulatedDisk& disk, std::size_t syncs_before) const {
    if (second_dropped_ < 0) return std::nullopt;
    const std::size_t n = syncs_before + static_cast<std::size_t>(second_dropped_);
    if (n >= disk.syncs().size()) return std::nullopt;
    return disk.sync_begun(n);
  }

  // Many losses leave the same.
  const Found& found_of(const test::DiskState& state, const Book& book) {
    const auto known = known_.find(state);
    if (known != known_.end()) return known->second;
    if (known_.size() >= kMostKnown) known_.clear();
    looked_at_.write(state);
    return known_.emplace(state, look(looked_at_.path() + "/log", book)).first->second;
  }

  std::string survive(const Book& book, std::size_t moment, const test::DiskState& state) {
    const Found found = found_of(state, book);
    if (std::string fault = judge(found, book, moment); !fault.empty()) return fault;
    if (second_losses_ == 0) return "";
    const std::string folder = world_.at("left");
    test::write_state(state, folder);
    return second_life(book, found, moment, folder);
  }

  static void go_on(Writer& writer) {
    writer.append(900, 1000);
    writer.append(30, 1001);
    writer.append(2000, 1002);
    writer.append(2000, 1003);
  }

  // Opens what is left, goes on, and loses power again.
  std::string second_life(const Book& before, const Found& found, std::size_t moment,
                          const std::string& folder) {
    SimulatedDisk disk(folder);
    disk.drop_sync(second_dropped_);
    Book book;
    for (std::size_t i = 0; i < found.last; ++i) book.entries.push_back({before.entries[i].text});
    book.acknowledge_up_to(before.acknowledged_at(moment), 0);
    book.trims.push_back({.sequence = std::max(found.first, before.trimmed_at(moment) + 1),
                          .begun = 0,
                          .first = before.first_at(moment),
                          .acknowledged = 0});
    try {
      Writer writer(disk, book, folder + "/log");
      writer.opened();
      go_on(writer);
    } catch (const std::system_error& error) {
      return std::string("not opened again: ") + error.what();
    }
    SecondLives& alike = second_lives_[disk.syncs().size()];
    if (alike.count++ == 0) alike.syncs = disk.syncs();
    Losses losses(disk, [&](std::size_t when, const test::DiskState& left) {
      ++losses_;
      second_.write(left);
      const std::string fault = judge(look(second_.path() + "/log", book), book, when);
      return fault.empty() ? "" : "second life: " + fault;
    });
    return losses.at_random(losses.all_moments(), second_losses_, disk.now(), Draw::mostly_corners);
  }

  static constexpr std::size_t kMostKnown = 2000;

  Folder world_;
  test::StateFolder looked_at_;
  test::StateFolder second_;
  std::map<test::DiskState, Found> known_;
  std::size_t losses_ = 0;
  std::size_t second_losses_ = 0;
  int second_dropped_ = -1;
  std::vector<std::string> syncs_;
  struct SecondLives {
    std::size_t count = 0;
    std::vector<std::string> syncs;  // of the first one
  };
  std::map<std::size_t, SecondLives> second_lives_;  // by the number of their syncs
};

TEST(AppendLogPowerLoss, EachAcknowledgedRecordIsFound) {
  for (const auto& [name, program] : kPrograms) {
    Lives lives;
    EXPECT_EQ(lives.live(program, -1, test::deep() ? 10'000 : 1000), "") << name;
    std::printf("%-14s %zu losses, none failed: rate below %.2g (95 %%)\n", name, lives.losses(),
                3.0 / static_cast<double>(lives.losses()));
  }
}

TEST(AppendLogPowerLoss, ASecondLossAfterTheFirst) {
  for (const auto& [name, program] : kPrograms) {
    Lives lives;
    lives.with_second_life(test::deep() ? 200 : 20);
    EXPECT_EQ(lives.live(program, -1, test::deep() ? 1000 : 60), "") << name;
    std::printf("%-14s %zu losses\n", name, lives.losses());
  }
}

TEST(AppendLogPowerLoss, ALossAfterAKill) {
  for (const auto& [name, program] : kPrograms) {
    Lives lives;
    int kills = 0;
    for (;; ++kills) {
      const auto fault = lives.killed_after(program, kills, test::deep() ? 500 : 20);
      if (!fault.has_value()) break;
      EXPECT_EQ(*fault, "") << name << ", killed after " << kills << " calls";
    }
    std::printf("%-14s %d kills, %zu losses\n", name, kills, lives.losses());
  }
}

// By the corners alone, whatever the seed.
TEST(AppendLogPowerLoss, EachSyncIsNeeded) {
  for (const auto& [name, program] : kPrograms) {
    for (std::size_t n = 0;; ++n) {
      Lives lives;
      const std::string fault = lives.live(program, static_cast<int>(n), 0);
      if (n >= lives.syncs().size()) {
        EXPECT_GT(n, 0U);
        EXPECT_EQ(fault, "") << name << " with all of its syncs";
        break;
      }
      EXPECT_NE(fault, "") << name << " does not need its sync " << n << ": " << lives.syncs()[n];
    }
  }
}

// The same of the syncs of a second life: those of opening what was left come first.
TEST(AppendLogPowerLoss, EachSyncOfOpeningIsNeeded) {
  Lives whole;
  whole.with_second_life(1);
  EXPECT_EQ(whole.live(some_appends, -1, 300), "");
  const std::vector<std::string> syncs = whole.second_syncs();
  EXPECT_FALSE(syncs.empty());
  for (std::size_t n = 0; n < syncs.size(); ++n) {
    std::string fault;
    for (const auto& [name, program] : kPrograms) {
      Lives lives;
      lives.with_second_life(20);
      lives.drop_in_second_life(static_cast<int>(n));
      for (int calls = 0; fault.empty(); ++calls) {
        const auto found = lives.killed_after(program, calls, 0);
        if (!found.has_value()) break;
        fault = *found;
      }
      if (fault.empty()) fault = lives.live(program, -1, 100);
    }
    EXPECT_NE(fault, "") << "no second life needs its sync " << n << ": " << syncs[n];
  }
}

}}  // namespace append_log_power_loss_test
