// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/ranks.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#ifdef PLUMBLINE_MPI
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace plumbline::cli {
namespace {

/// Whether a launcher (OpenMPI's, or one of the PMI kind) started this process as one of several.
bool launched_as_one_of_several() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* size = std::getenv(name);
    if (size != nullptr && std::string_view(size) != "1") return true;
  }
  return false;
}

#ifdef PLUMBLINE_MPI
/// Waits for `request`, without a processor of its own. False: a signal came, and the others did not answer
/// within 0.3 s of it; mpirun kills a second after its signal.
bool wait_for(MPI_Request& request, const std::atomic<bool>& stop) {
  using namespace std::chrono_literals;
  auto pause = 1us;
  std::chrono::microseconds waited{0};
  while (true) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return true;
    if (stop && waited > 300ms) return false;
    std::this_thread::sleep_for(pause);
    if (stop) waited += pause;
    if (pause < 200us) pause *= 2;
  }
}

std::optional<std::vector<std::string>> exchange(const std::string& mine, int size,
                                                 const std::atomic<bool>& stop) {
  constexpr std::int64_t most = 1 << 30;  // bytes of one message
  const auto length = static_cast<std::int64_t>(mine.size());
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(size));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&length, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, MPI_COMM_WORLD, &request);
  if (!wait_for(request, stop)) return std::nullopt;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<std::string> out;
  for (int r = 0; r < size; ++r) {
    std::string& text = out.emplace_back(r == rank ? mine : std::string());
    const std::int64_t bytes = lengths[static_cast<std::size_t>(r)];
    text.resize(static_cast<std::size_t>(bytes));
    for (std::int64_t at = 0; at < bytes; at += most) {
      MPI_Ibcast(text.data() + at, static_cast<int>(std::min(most, bytes - at)), MPI_BYTE, r, MPI_COMM_WORLD,
                 &request);
      if (!wait_for(request, stop)) return std::nullopt;
    }
  }
  return out;
}
#endif

}  // namespace

RanksSession::RanksSession([[maybe_unused]] const std::atomic<bool>& stop) {
  if (!launched_as_one_of_several()) return;
#ifdef PLUMBLINE_MPI
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks_.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_.size);
  ranks_.exchange = [&stop, size = ranks_.size](const std::string& mine) {
    return exchange(mine, size, stop);
  };
#else
  found_.push_back(diagnose("search-no-mpi", "started as one of several processes, and built without MPI"));
#endif
}

RanksSession::~RanksSession() {
#ifdef PLUMBLINE_MPI
  if (ranks_.exchange && !left_) MPI_Finalize();
#endif
}

Diagnostics RanksSession::agree(const std::string& mine) const {
  if (ranks_.size == 1) return {};
  const auto all = ranks_.exchange(mine);
  if (!all) return {diagnose("search-rank-lost", "a process ended before the search began")};
  for (std::size_t r = 0; r < all->size(); ++r) {
    if ((*all)[r] == (*all)[0]) continue;
    return {diagnose("search-ranks-differ",
                     fmt::format("process {} has {}, process 0 has {}", r, (*all)[r], (*all)[0]))};
  }
  return {};
}

}  // namespace plumbline::cli
