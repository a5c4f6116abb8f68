// SPDX-License-Identifier: MIT
//
// Order of requests for one file.
#include "path_order.hpp"

#include <functional>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr unsigned bit(PathOrder::Use use) noexcept { return 1U << use; }

// Which uses under way each has to wait for.
constexpr std::array<unsigned, PathOrder::kUses> kWaitsFor{
    bit(PathOrder::exclusive),                                                    // read_range
    bit(PathOrder::exclusive) | bit(PathOrder::write_range),                      // read_whole
    bit(PathOrder::exclusive) | bit(PathOrder::read_whole),                       // write_range
    bit(PathOrder::exclusive) | bit(PathOrder::write_range),                      // sync
    (1U << PathOrder::kUses) - 1,                                                 // exclusive
};

constexpr std::size_t kFirstBuckets = 256;  // a power of two

}  // namespace

class PathOrder::Key {
 public:
  std::size_t hash = 0;
  std::string path;
  const void* open_file = nullptr;
  std::array<std::uint32_t, kUses> under_way{};
  Place* waiting = nullptr;
  Place* waiting_last = nullptr;
  Key* next = nullptr;  // in its bucket, or among the spare ones

  bool is_unused() const noexcept {
    for (const std::uint32_t count : under_way) {
      if (count != 0) return false;
    }
    return waiting == nullptr;
  }
};

PathOrder::PathOrder() : buckets_(kFirstBuckets, nullptr) {}

PathOrder::~PathOrder() {
  for (Key* list : buckets_) {
    while (list != nullptr) delete std::exchange(list, list->next);
  }
  while (spare_ != nullptr) delete std::exchange(spare_, spare_->next);
}

bool PathOrder::gets_in_the_way(const Key& key, Use use) noexcept {
  for (std::size_t other = 0; other < kUses; ++other) {
    if ((kWaitsFor[use] & 1U << other) != 0 && key.under_way[other] != 0) return true;
  }
  return false;
}

PathOrder::Key& PathOrder::key_of(const Name& name) {
  const std::size_t hash = name.open_file != nullptr ? std::hash<const void*>()(name.open_file) / 64
                                                     : std::hash<std::string_view>()(name.path);
  for (Key* key = buckets_[hash % buckets_.size()]; key != nullptr; key = key->next) {
    if (key->hash == hash && name == Name{key->path, key->open_file}) return *key;
  }
  if (spare_ == nullptr) spare_ = new Key;
  spare_->path = name.path;  // may throw: the key stays a spare one
  if (used_ >= buckets_.size()) grow();
  Key& key = *std::exchange(spare_, spare_->next);
  key.open_file = name.open_file;
  key.hash = hash;
  key.next = std::exchange(buckets_[hash % buckets_.size()], &key);
  ++used_;
  return key;
}

void PathOrder::grow() {
  std::vector<Key*> wider(buckets_.size() * 2, nullptr);
  for (Key* list : buckets_) {
    while (list != nullptr) {
      Key* const key = std::exchange(list, list->next);
      key->next = std::exchange(wider[key->hash % wider.size()], key);
    }
  }
  buckets_.swap(wider);
}

bool PathOrder::enter(Place& place, const Name& name, Use use) {
  Key& key = key_of(name);
  place.key = &key;
  place.use = use;
  place.behind = nullptr;
  if (key.waiting == nullptr && !gets_in_the_way(key, use)) {
    ++key.under_way[use];
    return true;
  }
  (key.waiting == nullptr ? key.waiting : key.waiting_last->behind) = &place;
  key.waiting_last = &place;
  return false;
}

PathOrder::Place* PathOrder::take_away(Place& place) noexcept {
  Key& key = *place.key;
  --key.under_way[place.use];
  Place* first = nullptr;
  Place** last = &first;
  while (key.waiting != nullptr && !gets_in_the_way(key, key.waiting->use)) {
    Place& one = *std::exchange(key.waiting, key.waiting->behind);
    ++key.under_way[one.use];
    one.behind = nullptr;
    *last = &one;
    last = &one.behind;
  }
  if (first == nullptr && key.is_unused()) {
    Key** link = &buckets_[key.hash % buckets_.size()];
    while (*link != &key) link = &(*link)->next;
    *link = key.next;
    key.next = std::exchange(spare_, &key);
    --used_;
  }
  return first;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
