// SPDX-License-Identifier: Apache-2.0
#include "plumbline/cli/ranks.h"

#include <cstdlib>
#include <string_view>

#ifdef PLUMBLINE_MPI
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
std::vector<std::string> exchange(const std::string& mine) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(size)), begins(static_cast<std::size_t>(size));
  MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
  int total = 0;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    begins[r] = total;
    total += lengths[r];
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  MPI_Allgatherv(mine.data(), length, MPI_BYTE, all.data(), lengths.data(), begins.data(), MPI_BYTE,
                 MPI_COMM_WORLD);
  std::vector<std::string> out;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    out.push_back(all.substr(static_cast<std::size_t>(begins[r]), static_cast<std::size_t>(lengths[r])));
  }
  return out;
}
#endif

}  // namespace

RanksSession::RanksSession() {
  if (!launched_as_one_of_several()) return;
#ifdef PLUMBLINE_MPI
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks_.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_.size);
  ranks_.exchange = exchange;
#else
  found_.push_back(diagnose("search-no-mpi", "started as one of several processes, and built without MPI"));
#endif
}

RanksSession::~RanksSession() {
#ifdef PLUMBLINE_MPI
  if (ranks_.exchange) MPI_Finalize();
#endif
}

}  // namespace plumbline::cli
