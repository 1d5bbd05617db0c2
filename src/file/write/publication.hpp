// How a new file gets its name, once all ranks have moved their data: metadata, sync, rename.
//
// Problem: the time of a small file is that of its agreements.
// Method: there is one left, the outcome that rank 0 tells. Every rank sends it its own outcome
// once its handles are closed; what was gathered came before that. Rank 0 finishes the metadata
// meanwhile. Only durable files on several nodes need more: each node is synced once all its ranks
// have written.
#pragma once

#include <memory>

#include "access/failure/memory_reserve.hpp"
#include "comm/comm.hpp"
#include "file/write/metadata/gathering.hpp"
#include "file/write/metadata/metadata.hpp"
#include "file/write/target/new_file.hpp"
#include "stria/file.hpp"

namespace stria::file {

class Publication {
 public:
  /// What a commit works with; it must outlive this.
  struct Means {
    Comm& comm;
    const CreateOptions& options;
    NewFile& file;
    Gathering& gathering;
    access::MemoryReserve& reserve;
    Report& report;
  };
  explicit Publication(const Means& means) : means_(means) {}

  /// On rank 0, while the others pack: makes the metadata but for what they gather.
  Status build_metadata(const container::FileFormat& format, const container::Layout& layout, const Metadata::Content& content);
  /// After this rank's data were moved, or failed to be. With a method of several ranks, what was
  /// gathered is sent to rank 0 only now. Collective: yes; the outcome is the same everywhere.
  Status complete(Status mine);

 private:
  bool is_root() const { return means_.comm.rank() == 0; }
  Status sync_other_nodes(const Status& mine);
  Status write_metadata();
  Status collect(const Status& mine);
  Status publish();
  Status share_outcome(const Status& mine);

  Means means_;
  std::unique_ptr<Metadata> metadata_;  // rank 0
};

}  // namespace stria::file
