// SPDX-License-Identifier: MIT
// CommandBucket: recorded, sorted by all threads, dispatched by one; or dispatched by all threads,
// each to a list of its own.
#include <handoff/command/command_bucket.hpp>
#include <handoff/core/bulk.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/memory/frame.hpp>

#include "scenarios/commands/measure.hpp"

namespace handoff::lab::commands {

namespace {

// The library's buckets in `commands`: three, in one frame, recorded in one pass.
// The crew, as the library's loops see it.
class CrewBulk {
 public:
  struct BulkStorage {};

  explicit CrewBulk(Crew& crew) : crew_(crew) {}

  template <class Body>
  Tally run(std::size_t count, const Body& body, const RunOptions& /*options*/ = {}) {
    const std::size_t block = count > 2 * crew_.threads() ? kClaim : 1;
    crew_.run(count, block, [&](std::size_t /*member*/, std::size_t first, std::size_t last) {
      body(IndexRange{first, last});
    });
    return {.accepted = count, .done = count};
  }
  Status start(std::size_t /*count*/, BulkWork& /*work*/, BulkStorage& /*storage*/,
               const RunOptions& /*options*/ = {}) {
    return Status::full;  // only whole loops
  }
  std::size_t width() const { return crew_.threads(); }

 private:
  Crew& crew_;
};
static_assert(Bulk<CrewBulk>);

struct Draw {
  DrawArguments arguments;
  void operator()(Sink& sink) const { sink.draw(arguments); }
};
struct Map {
  MapArguments arguments;
  void operator()(Sink& sink) const { sink.map(arguments); }
};
struct DrawLight {
  DrawArguments arguments;
  void operator()(Sink& sink) const { sink.light(arguments); }
};

template <class Key>
class OwnBuckets {
 public:
  OwnBuckets(const Task& task, Crew& crew) : task_(task), crew_(crew) {}

  void begin() { (void)frame_.next(); }

  void add() {
    using Recorder = typename Bucket::Recorder;
    const std::size_t meshes = task_.components();
    record_into(
        crew_, 2 * meshes, kChunk,
        [this, meshes](Recorder& gbuffer, Recorder& shadow, Recorder& lighting, IndexRange range) {
          if (range.first < meshes) {
            for (const std::size_t i : range) {
              do_other_work(task_.work, i);
              gbuffer.template add<Draw>(key_of<Key>(task_.keys, kGbuffer, i)).arguments =
                  draw_of(kGbuffer, i);
              shadow.template add<Draw>(key_of<Key>(task_.keys, kShadow, i)).arguments =
                  draw_of(kShadow, i);
            }
          } else {
            for (const std::size_t number : range) {
              const std::size_t i = number - meshes;
              do_other_work(task_.work, i);
              Map& map = lighting.template add<Map>(key_of<Key>(task_.keys, kLighting, i));
              map.arguments = {static_cast<std::uint32_t>(i)};
              lighting.template append<DrawLight>(map).arguments = draw_of(kLighting, i);
            }
          }
        },
        buckets_[kGbuffer], buckets_[kShadow], buckets_[kLighting]);
  }

  void sort() {
    if (crew_.width() == 1) {
      for (Bucket& bucket : buckets_) bucket.sort();
    } else {
      sort_all(crew_, buckets_[kGbuffer], buckets_[kShadow], buckets_[kLighting]);
    }
  }

  void dispatch(Sink& sink) {
    for (Bucket& bucket : buckets_) bucket.dispatch(sink);
  }

  std::uint64_t misplaced() {
    std::uint64_t falls = 0;
    for (Bucket& bucket : buckets_) {
      Key before = 0;
      bucket.inspect([&](Key key, std::string_view /*name*/) {
        falls += key < before;
        before = key;
      });
    }
    return falls;
  }

  // A segment is handed out under a mutex, and so is the begin of a recording, whose end counts.
  double shared_rmw(double claims) const {
    double count = claims;
    for (const Bucket& bucket : buckets_) {
      count += 2 * static_cast<double>(bucket.statistics().segments) + 6;
    }
    return count;
  }

 protected:
  using Bucket = CommandBucket<Key, Sink>;

  const Task& task_;
  CrewBulk crew_;
  Frame frame_;
  std::array<Bucket, kPasses> buckets_{Bucket(frame_), Bucket(frame_), Bucket(frame_)};
};

// Each thread dispatches a piece to a list of its own.
template <class Key>
class OwnBucketsInLists : public OwnBuckets<Key> {
 public:
  OwnBucketsInLists(const Task& task, Crew& crew)
      : OwnBuckets<Key>(task, crew), lists_(task.threads) {}

  void dispatch(Sink& sink) {
    for (auto& bucket : this->buckets_) {
      for (List& list : lists_) list = {};
      bucket.dispatch(this->crew_, std::span(lists_));
      for (const List& list : lists_) {
        sink.sum += list.sum;
        sink.commands += list.commands;
        sink.misplaced += list.misplaced;
      }
    }
  }

 private:
  // Apart from those of others.
  struct alignas(peers::kApart) List : Sink {};
  std::vector<List> lists_;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"own.bucket", measure<OwnBuckets>},
       {"own.bucket.parallel_submit", measure<OwnBucketsInLists>}})(task);
}

}  // namespace handoff::lab::commands
