// SPDX-License-Identifier: MIT
//
// What ties the ranks of a team together: communicators, hosts, the counter of the node, the window
// with the world's, and calls that all ranks make. Every call of MPI that fails is an exception.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/mpi/rank_team_options.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/clock.hpp>

#include "node_counter.hpp"
#include "rank_bell.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// "RankTeam: WHAT: MPI's words", if this is no success.
void check_mpi(int code, const char* what);

// What a rank has caught, thrown once more, here or on another one.
[[noreturn]] void raise_told(int error, std::string_view text);

// How long the thread that calls MPI rests between two looks: longer, the longer nothing came.
class Pace {
 public:
  void moved() noexcept { rest_ = shortest; }
  sync::Deadline next(std::chrono::microseconds longest = std::chrono::milliseconds(1)) noexcept;

 private:
  static constexpr std::chrono::microseconds shortest{20};
  std::chrono::microseconds rest_ = shortest;
};

// What all ranks give to a call, a word each.
struct CallWords {
  enum Place : std::size_t { kind, count, block, results, checkpoint, input, places };
  std::uint64_t words[places] = {};  // must be the same
  // May differ: the largest is everybody's.
  std::uint64_t stop = 0;
  std::uint64_t can_end = 0;  // by a deadline or a stop
  std::uint64_t bytes_per_index = 0;
  std::uint64_t has_opening = 0;
};

class RankLink {
 public:
  explicit RankLink(const RankTeamOptions& options);
  ~RankLink();
  RankLink(const RankLink&) = delete;
  RankLink& operator=(const RankLink&) = delete;

  MPI_Comm comm() const noexcept { return comm_; }
  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return ranks_; }
  std::size_t nodes() const noexcept { return nodes_; }
  bool is_first_of_node() const noexcept { return node_rank_ == 0; }
  std::size_t threads() const noexcept { return threads_; }
  std::size_t width() const noexcept { return width_; }  // of all ranks
  std::size_t widest_node() const noexcept { return widest_node_; }
  // "rank 3 on host a"
  std::string name_of(int rank) const;
  NodeCounter& node() const noexcept { return *node_; }
  // Own bell, and that of another rank if it is on this node.
  RankBell& bell() const noexcept { return bells_[node_rank_]; }
  void ring(int rank) const noexcept {
    const int place = places_[static_cast<std::size_t>(rank)];
    if (place != MPI_UNDEFINED) bells_[place].ring();
  }
  void ring_first_of_node() const noexcept { bells_[0].ring(); }
  void ring_node() const noexcept {
    for (int rank = 0; rank < ranks_; ++rank) {
      if (rank != rank_) ring(rank);
    }
  }

  // Calls that all ranks make. The first fills in what may differ; it throws on all if they do not
  // give the same.
  void meet(CallWords& call);
  void broadcast(std::span<std::byte> bytes);
  // If `text` is not empty on a rank, that is thrown on all.
  void agree(int error, const std::string& text);

  // One more of the world's counter, asked for at once and told later; by the first of a node.
  void ask_world();
  bool is_asking() const noexcept { return asking_ != MPI_REQUEST_NULL; }
  bool world_said(std::uint64_t& number);
  // By rank 0, while nobody asks.
  void reset_world();

  // An orderly end is one that all ranks come to: nothing else may free what they share.
  void thrown_on_all() noexcept { is_agreed_ = true; }
  // A rank is lost: every further call throws this.
  [[noreturn]] void lose(const std::string& why);
  void check_whole() const;

 private:
  struct Hello;

  void connect(const RankTeamOptions& options);
  void find_places();
  void make_windows();
  void greet(std::size_t wanted);
  void wait(MPI_Request& request, const char* what);
  void free_all() noexcept;

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm node_comm_ = MPI_COMM_NULL;
  MPI_Comm first_comm_ = MPI_COMM_NULL;  // of the first ranks of nodes
  MPI_Win node_window_ = MPI_WIN_NULL;
  MPI_Win world_window_ = MPI_WIN_NULL;
  NodeCounter* node_ = nullptr;
  RankBell* bells_ = nullptr;  // by the ranks of the node
  std::vector<int> places_;  // of all ranks on this node, or MPI_UNDEFINED
  int rank_ = 0;
  int ranks_ = 1;
  int node_rank_ = 0;
  std::size_t nodes_ = 1;
  std::size_t threads_ = 1;
  std::size_t width_ = 1;
  std::size_t widest_node_ = 1;
  std::vector<std::string> hosts_;

  MPI_Request asking_ = MPI_REQUEST_NULL;
  std::uint64_t asked_ = 0;  // what the counter was
  const std::uint64_t one_ = 1;

  std::string lost_;
  bool is_agreed_ = false;
  const int unwinding_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
