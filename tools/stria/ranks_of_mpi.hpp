// Gives subcommands that need MPI what command.hpp has, with a communicator.
#pragma once

#include <mpi.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"

namespace stria::tool {

/// The ranks of a communicator. MPI_COMM_NULL is this process alone, which has not begun MPI.
class RanksOfMpi : public Ranks {
 public:
  explicit RanksOfMpi(MPI_Comm comm) : comm_(comm) {}
  MPI_Comm comm() const { return comm_; }
  int rank() const override;
  Status agree(const Status& mine) override;
  File open(const std::string& path) override;

 private:
  MPI_Comm comm_;
};

/// Returns an action of the ranks of a communicator.
inline Action over_mpi(std::function<int(MPI_Comm)> action) {
  return [action = std::move(action)](Ranks& ranks) { return action(dynamic_cast<RanksOfMpi&>(ranks).comm()); };
}

inline void print(MPI_Comm comm, const std::string& text) {
  RanksOfMpi ranks(comm);
  print(ranks, text);
}
inline void warn(MPI_Comm comm, const std::string& text) {
  RanksOfMpi ranks(comm);
  warn(ranks, text);
}
inline std::map<std::string, std::string> parse_hints(MPI_Comm comm, const std::vector<std::string>& entries) {
  RanksOfMpi ranks(comm);
  return parse_hints(ranks, entries);
}
inline void write_text(MPI_Comm comm, const std::string& path, const std::string& text) {
  RanksOfMpi ranks(comm);
  write_text(ranks, path, text);
}
inline void check_writable(MPI_Comm comm, const std::string& path) {
  RanksOfMpi ranks(comm);
  check_writable(ranks, path);
}
inline void on_root(MPI_Comm comm, const std::function<void()>& action) {
  RanksOfMpi ranks(comm);
  on_root(ranks, action);
}

}  // namespace stria::tool
