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

#include "file/session/open_file.hpp"
#include "file/write/metadata/gathering.hpp"
#include "file/write/metadata/metadata.hpp"
#include "file/write/stages/parity_stage.hpp"
#include "file/write/target/new_file.hpp"
#include "stria/file.hpp"

namespace stria::file {

/// Holds what a move has left for the end of a commit.
struct Moved {
  Status outcome;                                ///< the outcome of this rank's own part
  std::unique_ptr<Metadata> metadata = nullptr;  ///< on rank 0, the last time
};

/// Says what a commit ends with.
struct Publishing {
  NewFile& target;
  Gathering& gathering;
  const CreateOptions& options;
  ParityStage* parity = nullptr;  ///< null: the file gets none
  const Parts* parts = nullptr;   ///< null: the file is in one piece
};

/// Gives the file its name after this rank's data were moved, or failed to be. With a method of
/// several ranks, what was gathered is sent to rank 0 only now. Collective: yes; the outcome is the
/// same everywhere.
Status publish(OpenFile& file, const Publishing& what, Moved moved);

}  // namespace stria::file
