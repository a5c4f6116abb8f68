// SPDX-License-Identifier: MIT
#include "rank_link.hpp"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <handoff/core/internal/byte_hash.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/version.hpp>
#include <new>
#include <numeric>
#include <string_view>
#include <utility>

#include "../core/internal/call_failed.hpp"
#include "../sync/internal/sleep.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// MPI is begun once in a process, and ended once, when the process ends: if all teams came to an
// orderly end. Else MPI_Finalize() would wait for ranks that are elsewhere, and mpirun, which ends
// the job if a rank leaves without it, would not.
struct MpiLife {
  bool is_own = false;
  bool is_orderly = true;
  std::size_t teams = 0;

  void begin() {
    int is_begun = 0;
    int is_over = 0;
    MPI_Initialized(&is_begun);
    MPI_Finalized(&is_over);
    if (is_over != 0) {
      raise(call_failed(ESHUTDOWN, "RankTeam: MPI is finalised already: make the team before"));
    }
    if (is_begun == 0) {
      // Debian's settings rule out the one way of Open MPI 4.1 to have a window over TCP.
      ::setenv("OMPI_MCA_osc", "sm,rdma,pt2pt", 0);
      int level = 0;
      check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level),
                "MPI_Init_thread");
      is_own = true;
    }
    ++teams;
  }
  ~MpiLife() {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_own && is_orderly && teams == 0 && is_over == 0) MPI_Finalize();
  }
};

MpiLife& mpi_life() {
  static MpiLife life;
  return life;
}

// Over the program's code, wherever it is loaded: the same file gives the same.
std::uint64_t build_of_program() {
  ByteHash hash;
  constexpr std::string_view version = HANDOFF_VERSION_STRING;
  hash.add(std::as_bytes(std::span(version)));
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& part = object->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
          const auto* const begin =
              reinterpret_cast<const std::byte*>(object->dlpi_addr + part.p_vaddr);
          static_cast<ByteHash*>(data)->add({begin, part.p_filesz});
        }
        return 1;  // the first is the program
      },
      &hash);
  return hash.value();
}

// As many as this rank may use CPUs. Those of a rank that is bound to some are its own.
std::size_t default_threads(int ranks_of_node) {
  const sync::CpuBudget budget = sync::cpu_budget();
  const bool is_bound = budget.affinity < static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (is_bound) return budget.width();
  return std::max<std::size_t>(budget.width() / static_cast<std::size_t>(ranks_of_node), 1);
}

}  // namespace

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  raise(call_failed(EIO, std::string("RankTeam: ") + what + ": " + text.data()));
}

void raise_told(int error, std::string_view text) {
  constexpr std::string_view name = "RankTeam: ";
  const std::string ending = ": " + std::generic_category().message(error);
  if (text.starts_with(name)) text.remove_prefix(name.size());
  if (text.ends_with(ending)) text.remove_suffix(ending.size());
  raise(call_failed(error, std::string(name) + std::string(text)));
}

sync::Deadline Pace::next(std::chrono::microseconds longest) noexcept {
  const sync::Deadline then = sync::deadline_after(rest_);
  rest_ = std::min(rest_ * 2, longest);
  return then;
}

struct RankLink::Hello {
  std::uint64_t build;
  std::uint64_t threads;
  std::array<char, 64> host;
};

RankLink::RankLink(const RankTeamOptions& options) : unwinding_(std::uncaught_exceptions()) {
  if (options.patience < std::chrono::seconds(3)) {
    misuse("RankTeam: `patience` is 3 s at least: a rank that is busy is not lost");
  }
  mpi_life().begin();
  try {
    connect(options);
    find_places();
    make_windows();
    greet(options.threads);
  } catch (...) {
    // Those that know of it end in order; a call of MPI that failed may have left others in it.
    if (is_agreed_) {
      free_all();
    } else {
      mpi_life().is_orderly = false;
    }
    --mpi_life().teams;
    throw;
  }
}

RankLink::~RankLink() {
  const bool all_come_here =
      lost_.empty() && (is_agreed_ || std::uncaught_exceptions() == unwinding_);
  if (all_come_here) {
    free_all();
  } else {
    mpi_life().is_orderly = false;
  }
  --mpi_life().teams;
}

void RankLink::free_all() noexcept {
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (is_over != 0) return;
  if (world_window_ != MPI_WIN_NULL) {
    MPI_Win_unlock_all(world_window_);
    MPI_Win_free(&world_window_);
  }
  if (node_window_ != MPI_WIN_NULL) MPI_Win_free(&node_window_);
  for (MPI_Comm* comm : {&first_comm_, &node_comm_, &comm_}) {
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
  }
}

void RankLink::connect(const RankTeamOptions& options) {
  const bool is_given = options.communicator != nullptr;
  check_mpi(MPI_Comm_dup(is_given ? options.communicator : MPI_COMM_WORLD, &comm_),
            "a copy of the communicator");
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "the communicator");
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
  check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node_comm_),
            "the ranks of a machine");
  MPI_Comm_rank(node_comm_, &node_rank_);
  if (options.ranks_per_node != 0) {
    MPI_Comm part = MPI_COMM_NULL;
    const int number = node_rank_ / static_cast<int>(options.ranks_per_node);
    check_mpi(MPI_Comm_split(node_comm_, number, rank_, &part), "parts of a machine");
    MPI_Comm_free(&node_comm_);
    node_comm_ = part;
    MPI_Comm_rank(node_comm_, &node_rank_);
  }
  const int color = node_rank_ == 0 ? 0 : MPI_UNDEFINED;
  check_mpi(MPI_Comm_split(comm_, color, rank_, &first_comm_), "the first ranks of machines");
}

void RankLink::make_windows() {
  std::uint64_t nodes = node_rank_ == 0 ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &nodes, 1, MPI_UINT64_T, MPI_SUM, comm_), "the machines");
  nodes_ = nodes;
  // A bell of each rank follows the counter: the parts of the ranks lie one behind the other.
  constexpr std::size_t of_counter = sync::cache_line;
  static_assert(sizeof(NodeCounter) <= of_counter && sizeof(RankBell) == sync::cache_line);
  const std::size_t bytes = sizeof(RankBell) + (node_rank_ == 0 ? of_counter : 0);
  void* memory = nullptr;
  std::string fault;
  const auto try_to = [&](int code, const char* what) {
    if (!fault.empty()) return;
    try {
      check_mpi(code, what);
    } catch (const std::system_error& error) {
      fault = error.what();
    }
  };
  try_to(MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, node_comm_,
                                 &memory, &node_window_),
         "the window of the machine's ranks");
  agree(EIO, fault);
  MPI_Aint size = 0;
  int unit = 0;
  check_mpi(MPI_Win_shared_query(node_window_, 0, &size, &unit, &memory), "the machine's window");
  if (node_rank_ == 0) (new (memory) NodeCounter)->open(nodes_ == 1);
  node_ = static_cast<NodeCounter*>(memory);
  bells_ = reinterpret_cast<RankBell*>(static_cast<std::byte*>(memory) + of_counter);
  new (&bells_[node_rank_]) RankBell;
  if (nodes_ > 1 && node_rank_ == 0) {
    const MPI_Aint words = rank_ == 0 ? static_cast<MPI_Aint>(sizeof(std::uint64_t)) : 0;
    try_to(MPI_Win_allocate(words, 1, MPI_INFO_NULL, first_comm_, &memory, &world_window_),
           "the window of all machines");
    if (fault.empty()) try_to(MPI_Win_lock_all(MPI_MODE_NOCHECK, world_window_), "the window");
  }
  agree(EIO, fault);
  if (nodes_ > 1 && rank_ == 0) reset_world();
}

// Which bells of the node are whose.
void RankLink::find_places() {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group node = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(comm_, &all), "the group of all ranks");
  check_mpi(MPI_Comm_group(node_comm_, &node), "the group of a machine's ranks");
  std::vector<int> ranks(static_cast<std::size_t>(ranks_));
  std::iota(ranks.begin(), ranks.end(), 0);
  places_.resize(ranks.size());
  check_mpi(MPI_Group_translate_ranks(all, ranks_, ranks.data(), node, places_.data()),
            "the ranks of a machine");
  MPI_Group_free(&all);
  MPI_Group_free(&node);
}

void RankLink::greet(std::size_t wanted) {
  int ranks_of_node = 1;
  MPI_Comm_size(node_comm_, &ranks_of_node);
  threads_ = wanted != 0 ? wanted : default_threads(ranks_of_node);
  Hello own{.build = build_of_program(), .threads = threads_, .host = {}};
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  int length = 0;
  MPI_Get_processor_name(host.data(), &length);
  std::copy_n(host.data(), std::min(own.host.size() - 1, host.size()), own.host.data());
  std::vector<Hello> all(static_cast<std::size_t>(ranks_));
  check_mpi(MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm_),
            "the first words of all ranks");
  width_ = 0;
  for (const Hello& each : all) {
    hosts_.emplace_back(each.host.data());
    width_ += each.threads;
  }
  const auto other = std::find_if(all.begin(), all.end(),
                                  [&](const Hello& each) { return each.build != all[0].build; });
  if (other != all.end()) {
    agree(ENOEXEC, name_of(static_cast<int>(other - all.begin())) +
                       " runs another build of the program than " + name_of(0) +
                       ": start the same on all hosts");
  }
  std::uint64_t widest = threads_;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &widest, 1, MPI_UINT64_T, MPI_SUM, node_comm_), "threads");
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &widest, 1, MPI_UINT64_T, MPI_MAX, comm_), "threads");
  widest_node_ = widest;
}

std::string RankLink::name_of(int rank) const {
  return "rank " + std::to_string(rank) + " on " + hosts_[static_cast<std::size_t>(rank)];
}

// As others may come minutes later, no CPU is burnt meanwhile.
void RankLink::wait(MPI_Request& request, const char* what) {
  ring_node();  // there may be something for others
  sync::Backoff backoff;
  Pace pace;
  for (int is_done = 0;;) {
    const std::uint32_t heard = bell().heard();
    check_mpi(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), what);
    if (is_done != 0) return;
    if (!backoff.snooze()) bell().sleep(heard, pace.next());
  }
}

void RankLink::meet(CallWords& call) {
  check_whole();
  constexpr std::size_t places = CallWords::places;
  std::array<std::uint64_t, 2 * places + 4> most{};
  for (std::size_t i = 0; i < places; ++i) {
    most[2 * i] = call.words[i];
    most[2 * i + 1] = ~call.words[i];
  }
  std::uint64_t* const largest = most.data() + 2 * places;
  largest[0] = call.stop;
  largest[1] = call.bytes_per_index;
  largest[2] = call.has_opening;
  largest[3] = call.can_end;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_UINT64_T,
                           MPI_MAX, comm_, &request),
            "a call of all ranks");
  wait(request, "a call of all ranks");
  constexpr std::array<const char*, places> names{"calls of run() and broadcast() in other orders",
                                                  "another number of indices or bytes",
                                                  "another `block`",
                                                  "another type of results",
                                                  "another `checkpoint`",
                                                  "another `input`"};
  for (std::size_t i = 0; i < places; ++i) {
    const std::uint64_t least = ~most[2 * i + 1];
    if (least == most[2 * i]) continue;
    is_agreed_ = true;
    raise(call_failed(
        EINVAL, "RankTeam: the ranks do not make the same call: " + std::string(names[i]) + " (" +
                    std::to_string(least) + " and " + std::to_string(most[2 * i]) + ")"));
  }
  is_agreed_ = false;
  call.stop = largest[0];
  call.bytes_per_index = largest[1];
  call.has_opening = largest[2];
  call.can_end = largest[3];
}

void RankLink::broadcast(std::span<std::byte> bytes) {
  constexpr std::size_t most = std::size_t{1} << 30;  // MPI counts by int
  do {
    const std::size_t size = std::min(bytes.size(), most);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibcast(bytes.data(), static_cast<int>(size), MPI_BYTE, 0, comm_, &request),
              "a broadcast");
    wait(request, "a broadcast");
    bytes = bytes.subspan(size);
  } while (!bytes.empty());
}

void RankLink::agree(int error, const std::string& text) {
  int first = text.empty() ? ranks_ : rank_;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm_), "an agreement");
  if (first == ranks_) return;
  std::array<char, 512> told{};
  text.copy(told.data(), told.size() - 1);
  check_mpi(MPI_Bcast(told.data(), static_cast<int>(told.size()), MPI_BYTE, first, comm_),
            "an agreement");
  check_mpi(MPI_Bcast(&error, 1, MPI_INT, first, comm_), "an agreement");
  is_agreed_ = true;
  raise_told(error, told.data());
}

void RankLink::ask_world() {
  check_mpi(MPI_Rget_accumulate(&one_, 1, MPI_UINT64_T, &asked_, 1, MPI_UINT64_T, 0, 0, 1,
                                MPI_UINT64_T, MPI_SUM, world_window_, &asking_),
            "a claim of the world's counter");
}

bool RankLink::world_said(std::uint64_t& number) {
  int is_done = 0;
  check_mpi(MPI_Test(&asking_, &is_done, MPI_STATUS_IGNORE), "a claim of the world's counter");
  number = asked_;
  return is_done != 0;
}

void RankLink::reset_world() {
  std::uint64_t zero = 0;
  std::uint64_t before = 0;
  check_mpi(MPI_Fetch_and_op(&zero, &before, MPI_UINT64_T, 0, 0, MPI_REPLACE, world_window_),
            "the world's counter");
  check_mpi(MPI_Win_flush(0, world_window_), "the world's counter");
}

void RankLink::lose(const std::string& why) {
  lost_ = "RankTeam: " + why;
  raise(call_failed(ETIMEDOUT, lost_));
}

void RankLink::check_whole() const {
  if (!lost_.empty()) raise(call_failed(ETIMEDOUT, lost_));
}

}}}  // namespace handoff::HANDOFF_ABI::detail
