// SPDX-License-Identifier: MIT
//
// A disk that is simulated beside the real one: it sees all calls, and says what may be left of the
// files after a loss of power at any moment.
//
//   SimulatedDisk disk(folder);                 // what is there already is durable
//   FileEngine files({.tap = &disk});
//   files.replace(folder + "/c", text, {.durable = true}).get().check();
//   const std::size_t acknowledged = disk.now();
//   for (moment = 0; moment <= disk.now(); ++moment) {
//     Choices choices(Loss::names_kept);
//     const DiskState left = disk.after_loss(moment, choices);
//     ...                                       // from `acknowledged` on "c" must be there
//   }
//
// What a loss allows:
// - Writes, truncations and preallocations of a file that no sync of this file has covered may each
//   be there, be lost, or be torn: any of their sectors of 512 bytes is old or new. What the file
//   grew by may hold zeros or what was on the disk before.
// - Names that no sync of their directory has covered (new, renamed, removed) may each have
//   happened or not. A rename happens as a whole. For one name, later is later.
// - A rename into another directory happens in both or in neither, until one of them is synced:
//   then in that one for sure.
// - A symbolic link or a special file is there whole, if its name is.
// - A sync covers what had ended when it began, from when it has ended. A sync of a file says
//   nothing of its name. A sync of the file system covers all files, names and attributes.
//   sync_file_range() covers nothing: neither the length nor the cache of the device.
// - Where they are watched: modes, owners, times that were set and extended attributes may each be
//   as before, until a sync of their file that is no fdatasync().
// Not simulated: a device that lies about its own cache; several file systems.
#pragma once

#include <compare>

#include "support/file_tap.hpp"
#include "support/files.hpp"
#include "support/test.hpp"

namespace handoff::test {

// "mode", "owner", "times" (of modification) or an extended attribute's name: its value.
using Attributes = std::map<std::string, std::string>;

// What is on the disk; paths are relative to its root.
struct DiskState {
  std::map<std::string, std::string> files = {};
  std::vector<std::string> directories = {};  // each after the one that it is in
  std::map<std::string, std::string> links = {};  // symbolic ones, and what they lead to
  std::map<std::string, std::string> specials = {};  // FIFOs and such, and what they are
  // Further names of what has several, and the first one.
  std::map<std::string, std::string> same = {};
  std::map<std::string, Attributes> attributes = {};  // of all, where they are watched

  auto operator<=>(const DiskState&) const = default;
};

enum class Watch : std::uint8_t { contents, attributes_too };

// Makes it real below `folder`, which is emptied. Without attributes.
void write_state(const DiskState& state, const std::string& folder);
// The same for one state after the other, where nothing else changes the files: only what differs
// from the last one is written.
class StateFolder {
 public:
  explicit StateFolder(std::string folder) : folder_(std::move(folder)) {}
  void write(const DiskState& state);
  const std::string& path() const { return folder_; }

 private:
  std::string folder_;
  std::optional<DiskState> there_;
};
// Reads all below it.
DiskState read_state(const std::string& folder, Watch watch = Watch::contents);
// Of a file, through its descriptor, or of a name in the directory `descriptor`. Of times only if
// `times`.
Attributes read_attributes(int descriptor, const std::string& name, bool times);

// How a loss chooses among what it may leave.
enum class Loss : std::uint8_t {
  all_lost,
  data_kept,  // ... but no name
  names_kept,  // ... but no data
  lengths_kept,  // and names; but no data
  all_kept,
  first_lost,  // of the data; all else is kept
  first_kept,  // of the data, and all names
  random,
};
inline constexpr std::array kCorners{Loss::all_lost,     Loss::data_kept, Loss::names_kept,
                                     Loss::lengths_kept, Loss::all_kept,  Loss::first_lost,
                                     Loss::first_kept};

class Choices {
 public:
  explicit Choices(Loss loss, std::uint64_t seed = 0);
  // All there are, one after the other, for programs that are small: next() is false when all have
  // been. A write is lost, whole, its first or second half, or of the right length only.
  static Choices every();
  bool next();
  // The n-th name that is not durable has changed if the bit n of `names` is set; the data is all
  // there or all lost.
  static Choices of_names(std::uint64_t names, bool data_kept);
  std::size_t names_asked() const { return names_asked_; }

  enum class Write : std::uint8_t { lost, whole, first_half, second_half, length, torn };
  Write write(bool resize);
  bool sector();  // of a torn write: whether it is there
  bool garbage();  // what the file grew by and was not written: old bytes of the disk, not zeros
  bool name();  // whether the change has happened
  bool attribute();  // whether it is the new one

 private:
  unsigned pick(unsigned count);

  Loss loss_;
  bool first_ = true;
  bool every_ = false;
  std::mt19937_64 random_;
  unsigned data_percent_ = 50;
  unsigned names_percent_ = 50;
  std::vector<std::pair<unsigned, unsigned>> digits_;  // every: the choice, and of how many
  std::size_t position_ = 0;
  std::optional<std::uint64_t> names_;
  std::size_t names_asked_ = 0;
};

class SimulatedDisk final : public FileTap {
 public:
  explicit SimulatedDisk(const std::string& root, Watch watch = Watch::contents);

  // The n-th sync (of a file, a directory or the file system) says that all is well, and is not
  // made.
  void drop_sync(int n) noexcept { dropped_ = n; }
  // How many syncs there have been, with that one; what they were of.
  std::vector<std::string> syncs() const;
  // When the n-th one began: what is left before does not depend on it.
  std::size_t sync_begun(std::size_t n) const;

  // The process dies after so many more calls: none has any effect, all say EIO. Then another one
  // may begin with what is there.
  void kill_after(int calls) noexcept { lives_for_ = calls; }
  // Whether it came to that.
  bool revive() noexcept { return std::exchange(lives_for_, kForEver) <= 0; }

  // The moments are counted: each call begins and ends at one of its own.
  std::size_t now() const;
  // What may be left when power is lost just before `moment`.
  DiskState after_loss(std::size_t moment, Choices& choices) const;
  // Those from which on something else may be left than just before; the first one is 0.
  std::vector<std::size_t> moments() const;

  Verdict before(const FileCallView& call) noexcept override;
  void after(const FileCallView& call, long result) noexcept override;

 private:
  struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // A write, or a new length (`bytes` empty, `resize`).
  struct Data {
    Span when = {};
    std::uint64_t offset = 0;
    std::string bytes = {};
    bool resize = false;
    std::uint64_t length = 0;
  };
  struct Edit {
    std::string name;
    int node = -1;  // that gets the name, or loses it
    bool adds = true;
  };
  // Happens as a whole. `together`: with those in other directories that have the same number.
  struct Change {
    Span when = {};
    std::vector<Edit> edits = {};
    int together = -1;
  };
  struct AttributeChange {
    Span when = {};
    std::string key = {};
    std::optional<std::string> value = {};  // nothing: removed
  };
  struct Sync {
    Span when = {};
    bool data_only = false;
  };
  enum class Type : std::uint8_t { file, directory, link, special };
  struct Node {
    Type type = Type::file;
    std::string start = {};  // a file's bytes, durable; a link's target; what is special
    std::string live = {};  // a file's bytes as they are now
    std::map<std::string, int> names = {};  // a directory's, durable
    std::map<std::string, int> live_names = {};
    Attributes attributes = {};  // durable, or from when it was made
    Attributes live_attributes = {};
    std::vector<Data> data = {};
    std::vector<Change> changes = {};
    std::vector<AttributeChange> attribute_changes = {};
    std::vector<Sync> syncs = {};
  };
  struct Pending {
    const FileCallView* view = nullptr;
    std::string name = {};
    FileCallKind kind = FileCallKind::other;
    int descriptor = -1;
    int to_descriptor = -1;
    std::uint64_t offset = 0;
    std::string path = {};
    std::string to_path = {};
    std::string bytes = {};
    int flags = 0;
    bool drop = false;
    std::size_t begin = 0;
  };
  struct Place {
    int directory = -1;
    std::string name;
  };
  // A state while it is built.
  struct Building {
    std::size_t moment;
    Choices& choices;
    DiskState state = {};
    std::map<int, std::vector<std::string>> paths = {};  // of what is no directory
    std::map<int, std::string> bytes = {};
    std::map<int, bool> together = {};
    std::vector<int> above = {};  // directories that it is in
  };

  int load(const std::string& path, std::map<std::uint64_t, int>& known);
  int node_of(int descriptor) const;
  int parent_of(int directory) const;
  int child_of(int directory, const std::string& name) const;
  int walk(const std::string& path, int from = 0) const;  // -1
  Place place(int descriptor, const std::string& path) const;
  Node& at(int node) { return nodes_[static_cast<std::size_t>(node)]; }
  const Node& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  int made(Type type, const Pending& call, const Place& where);
  Pending take_pending(const FileCallView& call);
  void opened(const Pending& call, int descriptor);
  void renamed(const Pending& call);
  void linked(const Pending& call);
  void unlinked(const Pending& call);
  void wrote(const Pending& call, long result);
  void resized(int descriptor, const Pending& call);
  void changed_somehow(int descriptor, const Pending& call);
  void other_call(const Pending& call);
  void synced(const Pending& call);
  void made_node(const Pending& call, Type type);
  void attributes_set(const Pending& call);
  void change_names(int directory, Change change);
  bool covered(const Node& node, const Span& when, std::size_t moment, bool attribute) const;
  bool has_happened(const Node& node, const Change& change, Building& building) const;
  void build_attributes(int node, const std::string& path, Building& building) const;
  void build_other(int node, const std::string& path, Building& building) const;
  std::string bytes_after_loss(const Node& node, std::size_t moment, Choices& choices) const;
  static void apply(const Data& data, Choices::Write how, bool durable, Choices& choices,
                    std::string& bytes);
  void build(int node, const std::string& path, Building& building) const;

  static constexpr int kForEver = 1 << 30;

  mutable std::mutex mutex_;
  std::string root_;
  const Watch watch_;
  std::uint64_t device_ = 0;
  std::vector<Node> nodes_;
  std::vector<Span> whole_syncs_;
  std::map<int, int> descriptors_;
  std::list<Pending> pending_;
  std::vector<std::string> sync_names_;
  std::vector<std::size_t> sync_moments_;
  std::size_t moment_ = 0;
  int together_ = 0;
  int dropped_ = -1;
  int lives_for_ = kForEver;
};

// Losses of power, one after the other, up to the first that leaves something wrong.
class Losses {
 public:
  // What is wrong with what a loss just before a moment leaves; "": nothing.
  using Look = std::function<std::string(std::size_t moment, const DiskState& left)>;
  using Moments = std::vector<std::size_t>;

  Losses(const SimulatedDisk& disk, Look look) : disk_(disk), look_(std::move(look)) {}

  std::size_t count() const { return count_; }
  Moments all_moments(std::size_t first = 0) const;

  // Each of these gives what is wrong, and when; or "".
  // What is always looked at, whatever the seed: the corners, and each set of the names that are
  // not durable, with all of the data and with none. Of many names the first few are in the sets,
  // or with `Many::left_out` none.
  enum class Many : bool { left_out, some };
  std::string at_corners(const Moments& moments, Many many = Many::some);
  // `count` of them, by chance, or most of them a corner that is drawn.
  enum class Draw : bool { any, mostly_corners };
  std::string at_random(const Moments& moments, std::size_t count, std::uint64_t stream,
                        Draw draw = Draw::any);
  // Each state that may be left; more than 200,000 are wrong.
  std::string of_each_state(const Moments& moments);
  std::string lose(std::size_t moment, Choices& choices);

 private:
  const SimulatedDisk& disk_;
  Look look_;
  std::size_t count_ = 0;
};

}  // namespace handoff::test
