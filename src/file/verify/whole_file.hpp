// A whole file against its sums: every rank looks at its share of the data, rank 0 at names and
// metadata, and all learn what all have found.
#pragma once

#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "container/container.hpp"
#include "file/checksums/checksum_index.hpp"
#include "file/define/catalog.hpp"
#include "file/verify/findings.hpp"
#include "file/verify/sum_checker.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::file {

class WholeFileCheck {
 public:
  /// What is looked at; all of it outlives the check.
  struct Subject {
    Comm& comm;
    const Catalog& catalog;
    const ChecksumIndex& checksums;
    storage::File* file;
    const container::Reader* reader;  ///< null on other ranks than 0
    SumChecker& checker;
  };
  explicit WholeFileCheck(const Subject& seen) : seen_(seen) {}

  /// This rank's share, without the datasets named in `except`. `chunk_sums` says how loading the
  /// sums of chunks went. Collective: no.
  Status check_share(const std::vector<std::string>& except, const Status& chunk_sums, Findings& findings);
  /// What all ranks have found, on every rank. Collective: yes.
  Status share(Findings& findings);

 private:
  Status check_metadata(Findings& findings);
  Status check_sealed(const Seal& seal, Findings& findings);
  void check_names(Findings& findings);
  void remark_on_datasets(Findings& findings);

  Subject seen_;
};

}  // namespace stria::file
