// A new file being written, or an old one that grows: the conductor of puts and the commit, by the
// steps in src/README.md.
//
// Problem: the time of a small file is that of its agreements.
// Method: a commit has two, and little is left to do between them: one on what there is to move
// (here, then data_move.hpp), one on the outcome (publication.hpp). What is gathered while moving
// goes to rank 0 in between (gathering.hpp), without anybody waiting. The steps are functions in
// stages/, each with what it needs as arguments; what they leave for the next stands here.
// Cost: chunks, gaps, staging and updates add agreements of their own, where a file has any.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "file/move/put_guard.hpp"
#include "file/parts/parts.hpp"
#include "file/write/defining_session.hpp"
#include "file/write/metadata/gathering.hpp"
#include "file/write/metadata/metadata.hpp"
#include "file/write/metadata/room_for_sums.hpp"
#include "file/write/stages/background_stage.hpp"
#include "file/write/stages/chunk_stage.hpp"
#include "file/write/stages/gap_filler.hpp"
#include "file/write/stages/parity_stage.hpp"
#include "file/write/stages/updating.hpp"
#include "file/write/target/new_file.hpp"

namespace stria::file {

/// Holds what a move has left for the end of a commit.
struct Moved {
  Status outcome;                                ///< the outcome of this rank's own part
  std::unique_ptr<Metadata> metadata = nullptr;  ///< on rank 0, the last time
};

class WriteSession : public DefiningSession {
 public:
  /// Creates the temporary file. Collective: yes; the same outcome everywhere.
  static Result<std::shared_ptr<WriteSession>> create(Environment environment, const std::string& path,
                                                      const CreateOptions& options);
  /// Opens a file to add to it. Collective: yes; the same outcome everywhere.
  static Result<std::shared_ptr<WriteSession>> append(Environment environment, const std::string& path,
                                                      const AppendOptions& options);
  ~WriteSession() override;

  Status flush() override;
  Status commit() override;
  /// Does the same as commit(), but returns once everything is packed. Null where the commit has
  /// ended already.
  /// Collective: yes; the same outcome everywhere.
  Result<std::shared_ptr<const BackgroundCommit>> commit_async();
  Status abandon() override;
  void leave(std::string_view reason) noexcept override;

 private:
  /// `parted`: the layout, where the raw data go into several files; else null.
  WriteSession(Beginning beginning, PartedLayout* parted);
  /// Makes a session that has met no other rank yet. Where it fails, collective with the others'
  /// meet().
  static Result<std::shared_ptr<WriteSession>> make(Environment environment, const std::string& path,
                                                    const CreateOptions& options, Kind kind);

  /// Takes up what a file that grows has, of which rank 0 has sent the others a message. Local.
  Status begin_behind_old(std::span<const std::byte> message);

  /// Takes stock of what is pending, and agrees with all ranks on what there is to move and where.
  /// Collective: yes.
  Result<Agreed> agree(Call call);
  /// Does what is left to do alone before the ranks meet; an error of a step is told there. Local.
  Aside take_stock(bool last);
  /// Gives everything its final place; where nothing more can be defined, tables too. Local.
  Status settle(bool last);
  /// The file gets no sums from now on, and those that were taken are dropped.
  void give_up_sums();
  /// Commits, into `stage` where there is one. Collective: yes; the same outcome everywhere.
  Status end(Call call, BackgroundStage* stage);
  /// Does what is to be done before the last bytes move: gaps filled, staging begun, chunks made.
  /// Returns what there is to move then. Collective: yes, the error is agreed on.
  Result<access::RequestShape> make_ready(const Agreed& agreed, BackgroundStage* stage);
  /// Returns what a commit in the background takes over.
  FileToStage staged();
  /// Returns what its parity is made of.
  ParityWork of_parity();
  /// Moves what is pending, and makes the metadata when it is the `last` time. Collective: yes.
  Moved move(const access::RequestShape& shape, bool last);
  /// Makes the metadata on rank 0; returns nothing on others.
  Result<std::unique_ptr<Metadata>> make_metadata(bool last);
  /// Moves, makes the metadata and gives the file its name, once all is ready. Collective: yes; the
  /// same outcome everywhere.
  Status complete(const access::RequestShape& shape);
  Status fill_gaps(bool last);
  /// Tells whether a commit has anything to do.
  bool changes() const { return !grows() || catalog_.size() > 0 || definitions_.any(); }
  Status secure(Transfer& put) override { return guard_.take(put); }
  Status fail(const Status& status);
  void discard() noexcept;

  PutGuard guard_;
  std::unique_ptr<Parts> parts_;  // null: the raw data go into the file itself
  NewFile file_;
  std::optional<ParityStage> parity_;  // none: a new file gets none
  Gathering gathering_;
  RoomForSums room_;
  FilledDatasets filled_;
  ChunkPuts chunk_puts_;
  Touched touched_;          // the rows that were touched of old datasets
  bool overwrites_ = false;  // bytes that the file has may be lost
};

}  // namespace stria::file
