// SPDX-License-Identifier: MIT
#include "harness/rank_job.hpp"

#include <fmt/ranges.h>
#include <netdb.h>
#include <sys/socket.h>

#include "harness/tool.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab {
namespace {

constexpr std::chrono::seconds kBeginWithin(7);  // until all ranks have begun
constexpr std::chrono::seconds kEndWithin(1);    // for mpirun to end them
constexpr int kAnswerSeconds = 5;                // for a host to answer

// An address of this machine is one that a socket can be bound to.
bool is_here(const std::string& host) {
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, nullptr, &found) != 0) return false;  // as ssh may know it
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, &freeaddrinfo);
  const int probe = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool bound = probe >= 0 && bind(probe, found->ai_addr, found->ai_addrlen) == 0;
  if (probe >= 0) close(probe);
  return bound;
}

// How mpirun is told to reach other hosts, by its own setting; nothing: by ssh.
std::string agent_of_mpirun() {
  const char* const set = std::getenv("OMPI_MCA_plm_rsh_agent");
  return set != nullptr ? set : "ssh -o BatchMode=yes";
}

// mpirun itself waits for minutes for a host that is not there.
void require_answers(const std::vector<std::string>& hosts, Interrupt& interrupt) {
  const std::string ask = fmt::format(
      "for host; do (said=$(timeout {} {} \"$host\" true 2>&1 </dev/null) && exit\n"
      "code=$?; [ $code != 124 ] || said='silent for {} s'\n"
      "printf '%s: %s\\n' \"$host\" \"$said\" | tr '\\n\\r' '  '; echo) & done; wait",
      kAnswerSeconds, agent_of_mpirun(), kAnswerSeconds);
  std::vector<std::string> command{"sh", "-c", ask, "sh"};
  for (const std::string& host : hosts) {
    const std::string name = host.substr(0, host.find(':'));
    if (!is_here(name)) command.push_back(name);
  }
  const std::string said = run_tool(command, &interrupt, {}, {.grace = kEndWithin}).output;
  if (said.empty()) return;
  throw UserError("a host does not answer: {}", said.substr(0, said.find('\n')));
}

std::vector<std::string> mpirun_words(const RankPlaces& places) {
  std::vector<std::string> words{"mpirun", "-n", std::to_string(places.ranks), "--bind-to", "none"};
  const auto set = [&words](const char* name, const char* value) {
    words.insert(words.end(), {"--mca", name, value});
  };
  set("orte_base_help_aggregate", "0");
  set("plm_rsh_agent", agent_of_mpirun().c_str());
  // A host that is cut off is noticed after 5 s, on both sides of the cut.
  set("oob_tcp_keepalive_time", "2");
  set("oob_tcp_keepalive_intvl", "1");
  set("oob_tcp_keepalive_probes", "3");
  if (places.oversubscribe) words.emplace_back("--oversubscribe");
  if (!places.hosts.empty()) {
    words.insert(words.end(), {"--host", fmt::format("{}", fmt::join(places.hosts, ","))});
  }
  return words;
}

struct JobLost {
  std::string line;
};

// What a line of mpirun's says of the job, where it says something to its user.
std::optional<std::string> failure_in(const std::string& line) {
  if (line.starts_with(ranks_failure) && !line.starts_with(ranks_answer) && line != ranks_begun) {
    return line.substr(std::string_view(ranks_failure).size());
  }
  if (line.find("Remote daemon:") != std::string::npos) {
    const auto node = line.rfind(" on node ");
    return fmt::format("the connection to {} was lost, and the job with it",
                       node == std::string::npos ? "a host" : line.substr(node + 9));
  }
  if (line.find("mpirun noticed that process") != std::string::npos) return line;
  return {};
}

std::string why_not_begun(const ToolResult& result, const RankPlaces& places) {
  if (result.exit_code == 127) {
    return "there is no mpirun here: ranks need Open MPI (openmpi-bin)";
  }
  if (result.output.find("not enough slots") != std::string::npos) {
    return fmt::format(
        "there are no slots for {} ranks: name hosts with more (--hosts a:4), or "
        "--oversubscribe",
        places.ranks);
  }
  const bool is_cut = result.exit_code == 124 || result.output.find("TCP") != std::string::npos;
  if (is_cut) return "the ranks did not find each other: can all hosts reach each other?";
  return fmt::format("mpirun cannot start the ranks: {}", why_failed({"mpirun"}, result));
}

}  // namespace

RankOutcome run_ranks(const RankPlaces& places, const std::vector<std::string>& command,
                      Interrupt& interrupt) {
  if (run_tool({"mpirun", "--version"}, &interrupt).exit_code == 127) {
    throw UserError(why_not_begun({127, {}}, places));
  }
  require_answers(places.hosts, interrupt);
  if (geteuid() == 0) {  // mpirun refuses root, whom it does not harm here
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  std::vector<std::string> words = mpirun_words(places);
  words.insert(words.end(), command.begin(), command.end());
  bool begun = false;
  std::optional<std::string> answer;
  try {
    const auto look = [&](const std::string& line) {
      begun = begun || line == ranks_begun;
      if (line.starts_with(ranks_answer)) {
        answer = line.substr(std::string_view(ranks_answer).size());
      } else if (const auto failure = failure_in(line)) {
        throw JobLost{*failure};
      }
    };
    const ToolResult result = run_tool(words, &interrupt, look, {kBeginWithin, kEndWithin});
    if (result.exit_code == 0 && answer) return {true, *answer};
    if (!begun) throw UserError(why_not_begun(result, places));
    return {false, fmt::format("mpirun ended with exit code {}", result.exit_code)};
  } catch (const JobLost& lost) {
    return {false, lost.line};
  }
}

}  // namespace handoff::lab
