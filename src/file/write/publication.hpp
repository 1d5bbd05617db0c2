// Describes how a new file gets its name, once all ranks have moved their data: metadata, sync,
// rename.
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
#include "file/write/stages/parity_stage.hpp"
#include "file/write/target/new_file.hpp"
#include "stria/file.hpp"

namespace stria::file {

/// Says what a commit ends with.
struct Publishing {
  Comm& comm;
  const CreateOptions& options;
  NewFile& file;
  const Catalog& catalog;
  Gathering& gathering;
  access::MemoryReserve& reserve;
  Report& report;
  ParityStage* parity = nullptr;  ///< null: the file gets none
  ParityWork parity_work;
};

/// Gives the file its name after this rank's data were moved, or failed to be, as `moved` says.
/// `metadata`, on rank 0, lack what was gathered; with a method of several ranks, that is sent to
/// rank 0 only now. Collective: yes; the outcome is the same everywhere.
Status publish(const Publishing& what, std::unique_ptr<Metadata> metadata, const Status& moved);

}  // namespace stria::file
