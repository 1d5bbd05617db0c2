#include "format/origin.hpp"

#include <unistd.h>

#include <array>
#include <ctime>

namespace stria::flash {

namespace {

std::string time_stamp() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

std::string machine_name() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace

// Clocks and host names differ between ranks.
Origin shared_origin(MPI_Comm comm) {
  std::array<std::array<char, 256>, 2> words{};
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    time_stamp().copy(words[0].data(), words[0].size() - 1);
    machine_name().copy(words[1].data(), words[1].size() - 1);
  }
  MPI_Bcast(words.data(), sizeof words, MPI_CHAR, 0, comm);
  return {words[0].data(), words[1].data()};
}

}  // namespace stria::flash
