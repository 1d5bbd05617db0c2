// Hints for the tests: a small owner for MPI_Info, and random choices among the hints that users of
// ROMIO and Stria set.
#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "mpiio/support/suite.hpp"

namespace mpiio {

using Hints = std::vector<std::pair<std::string, std::string>>;

class Info {
 public:
  explicit Info(const Hints& hints) {
    MPI_Info_create(&info_);
    for (const auto& [name, value] : hints) {
      MPI_Info_set(info_, name.c_str(), value.c_str());
      text_ += " " + name + "=" + value;
    }
  }
  ~Info() { MPI_Info_free(&info_); }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  MPI_Info get() const { return info_; }
  const std::string& text() const { return text_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
  std::string text_;
};

/// Returns a few hints drawn at random: methods, buffers, aggregators, drivers, stripes.
inline Hints random_hints(Random& random, int rank_count) {
  Hints hints;
  const auto maybe = [&](const std::string& name, const std::vector<std::string>& values) {
    const int64_t choice = random.between(0, static_cast<int64_t>(values.size()) * 2);
    if (choice < static_cast<int64_t>(values.size())) {
      hints.emplace_back(name, values[static_cast<size_t>(choice)]);
    }
  };
  maybe("romio_cb_write", {"enable", "disable", "automatic"});
  maybe("romio_cb_read", {"enable", "disable", "automatic"});
  maybe("romio_ds_write", {"enable", "disable", "automatic"});
  maybe("romio_ds_read", {"enable", "disable", "automatic"});
  maybe("cb_buffer_size", {"65536", "1048576"});
  maybe("cb_nodes", {"1", std::to_string(rank_count)});
  maybe("ind_rd_buffer_size", {"4096", "100000"});
  maybe("ind_wr_buffer_size", {"4096", "65536"});
  maybe("striping_unit", {"4096", "65536"});
  maybe("stria_method", {"automatic", "multiple", "list_io", "data_sieving", "two_phase"});
  maybe("stria_driver", {"posix", "uring"});
  maybe("stria_mimic_stripe", {"3,4096", "1,65536"});
  return hints;
}

}  // namespace mpiio
