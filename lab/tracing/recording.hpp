// SPDX-License-Identifier: MIT
// A trace in memory: what each thread did and when, and what one handed to another. 10^7 events
// take less than 200 MiB, so the records are packed.
#pragma once

#include "replay/trace_file.hpp"
#include "tracing/growing_array.hpp"
#include "tracing/names.hpp"

namespace handoff::lab::tracing {

// A stretch of time on a thread. The times of a recording are below 2^48 ns, three days.
inline constexpr std::uint64_t times_end = std::uint64_t{1} << 48;

class PackedSlice {
 public:
  // A longer duration stands elsewhere, and here its place.
  static constexpr std::uint64_t longest = UINT32_MAX;

  PackedSlice(std::uint64_t start_ns, std::uint32_t name, std::uint32_t duration, bool elsewhere)
      : start_low_(static_cast<std::uint32_t>(start_ns)),
        duration_(duration),
        start_high_(static_cast<std::uint16_t>(start_ns >> 32)),
        name_(static_cast<std::uint16_t>(name | (elsewhere ? Names::most : 0))) {}
  [[nodiscard]] std::uint64_t start_ns() const {
    return std::uint64_t{start_high_} << 32 | start_low_;
  }
  [[nodiscard]] std::uint32_t name() const { return name_ % Names::most; }
  [[nodiscard]] bool elsewhere() const { return name_ >= Names::most; }
  [[nodiscard]] std::uint32_t duration() const { return duration_; }

 private:
  std::uint32_t start_low_;
  std::uint32_t duration_;
  std::uint16_t start_high_;
  std::uint16_t name_;
};
static_assert(sizeof(PackedSlice) == 12);

struct Slice {
  std::uint64_t start_ns;
  std::uint64_t end_ns;
  std::uint32_t name;
};

// What the kernel has counted of a thread.
struct ThreadTimes {
  std::uint64_t cpu_ns = 0;    // it had a CPU
  std::uint64_t ready_ns = 0;  // it was ready, and had none
};

// A thread.
class Lane {
 public:
  std::string process_id;
  std::string thread_id;
  std::string name;  // as the program calls it; empty: it does not
  std::optional<ThreadTimes> times;

  void add(const Slice& slice);
  // In the order of their starts, the outer ones first; once the recording is read.
  [[nodiscard]] std::size_t size() const { return slices_.size(); }
  [[nodiscard]] Slice at(std::size_t i) const { return unpacked(slices_.all()[i]); }
  void sort();

 private:
  [[nodiscard]] Slice unpacked(const PackedSlice& slice) const;

  GrowingArray<PackedSlice> slices_;
  std::vector<std::uint64_t> long_ns_;
};

// From the moment on one thread where something was handed over to the one where it ran.
class Hand {
 public:
  Hand(std::uint64_t from_ns, std::uint32_t from_lane, std::uint64_t to_ns, std::uint32_t to_lane)
      : from_(from_ns << lane_bits | from_lane), to_(to_ns << lane_bits | to_lane) {}
  [[nodiscard]] std::uint64_t from_ns() const { return from_ >> lane_bits; }
  [[nodiscard]] std::uint32_t from_lane() const { return from_ % (1U << lane_bits); }
  [[nodiscard]] std::uint64_t to_ns() const { return to_ >> lane_bits; }
  [[nodiscard]] std::uint32_t to_lane() const { return to_ % (1U << lane_bits); }

  // For critical_path(): the chain until it was handed over, and whether what ran goes on with it.
  [[nodiscard]] std::uint64_t length_ns() const { return length_ >> 1; }
  [[nodiscard]] bool taken() const { return length_ % 2 == 1; }
  void set_length(std::uint64_t ns) { length_ = ns << 1; }
  void take() { length_ |= 1; }

 private:
  static constexpr int lane_bits = 16;
  std::uint64_t from_;
  std::uint64_t to_;
  std::uint64_t length_ = 0;
};
static_assert(sizeof(Hand) == 24);

// What the program itself said of its trace.
struct TraceTally {
  std::uint64_t recorded = 0;
  std::uint64_t dropped = 0;
  std::uint64_t written = 0;
  std::uint64_t open = 0;
};

struct Recording {
  std::vector<Lane> lanes;
  Names names;
  GrowingArray<Hand> hands;  // in the order of from_ns
  std::map<std::string, std::uint64_t> instants;  // how often: steals, wakes
  std::map<std::string, std::uint64_t> depths;  // the most that each counter said
  std::optional<TraceTally> tally;
  std::uint64_t cpus = 0;  // that the program might use; 0: it does not say
  std::uint64_t events = 0;  // whole ones
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t one_ended = 0;  // hand-overs without their other end, or back in time
  std::uint64_t unended = 0;  // slices that began, as pairs of B and E, and did not end
  std::uint64_t unbegun = 0;  // slices that ended so, and had not begun
  bool closed = true;  // the file has its end
  bool torn = false;  // its last event is half there

  [[nodiscard]] std::uint64_t wall_ns() const { return last_ns - first_ns; }
  // Unique among them, and with its process where there are several.
  [[nodiscard]] std::vector<std::string> lane_names() const;
  std::map<std::string, std::string> processes;  // their names by their numbers
};

// Throws UserError: one line that says what is wrong, where, and what to do.
Recording read_recording(const std::filesystem::path& path, replay::Tick tick = {});

}  // namespace handoff::lab::tracing
