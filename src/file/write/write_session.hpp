// A new file being written, or an old one that grows: the conductor of puts and the commit, by the
// steps in src/README.md.
//
// Problem: the time of a small file is that of its agreements.
// Method: a commit has two, and little is left to do between them: one on what there is to move
// (here, then data_move.hpp), one on the outcome (publication.hpp). What is gathered while moving
// goes to rank 0 in between (gathering.hpp), without anybody waiting. The steps are functions in
// stages/, each with what it needs as arguments; what they leave for the next stands here. What
// the program defines goes into a Defined, by the functions of defining.hpp.
// Cost: chunks, gaps, staging and updates add agreements of their own, where a file has any.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "file/move/put_guard.hpp"
#include "file/parts/parts.hpp"
#include "file/session/session.hpp"
#include "file/write/metadata/defined.hpp"
#include "file/write/metadata/gathering.hpp"
#include "file/write/metadata/room_for_sums.hpp"
#include "file/write/publication.hpp"
#include "file/write/stages/background_stage.hpp"
#include "file/write/stages/chunk_stage.hpp"
#include "file/write/stages/gap_filler.hpp"
#include "file/write/stages/parity_stage.hpp"
#include "file/write/stages/updating.hpp"
#include "file/write/target/new_file.hpp"

namespace stria::file {

class WriteSession final : public Session {
 public:
  /// Creates the temporary file. Collective: yes; the same outcome everywhere.
  static Result<std::shared_ptr<WriteSession>> create(Environment environment, const std::string& path,
                                                      const CreateOptions& options);
  /// Opens a file to add to it. Collective: yes; the same outcome everywhere.
  static Result<std::shared_ptr<WriteSession>> append(Environment environment, const std::string& path,
                                                      const AppendOptions& options);
  ~WriteSession() override;

  OpenFile& file() override { return file_; }
  std::variant<WriteSession*, ReadSession*> itself() override { return this; }
  /// Returns what is defined so far.
  Defined& defined() { return defined_; }

  /// Records a put. After an error the next flush fails. Local.
  Status record(int dataset, const Hyperslab& slab, const Memory& memory) {
    return file::record(file_, &guard_, dataset, slab, memory);
  }
  Status record(int dataset, const ElementMap& elements, const Memory& memory) {
    return file::record(file_, &guard_, dataset, elements, memory);
  }
  Result<int> find(const std::string& dataset_path) override;
  Result<std::vector<Column>> read_columns(const std::string& dataset_path, int64_t& row_bytes) override;

  Status flush() override;
  Status commit() override;
  /// Does the same as commit(), but returns once everything is packed. Null where the commit has
  /// ended already.
  /// Collective: yes; the same outcome everywhere.
  Result<std::shared_ptr<const BackgroundCommit>> commit_async();
  Status abandon() override;
  void leave(std::string_view reason) noexcept override;

 private:
  /// Says what is known of a file before the ranks meet.
  struct Beginning {
    Call by;  ///< kCreate or kAppend
    Environment environment;
    std::string path;
    CreateOptions options;
    std::shared_ptr<RollCall> roll_call;
    std::unique_ptr<container::Layout> layout;  ///< places its raw data
    PartedLayout* parted = nullptr;             ///< the same; null: in the file itself
  };
  explicit WriteSession(Beginning beginning);
  /// Makes a session that has met no other rank yet. Where it fails, collective with the others'
  /// meet().
  static Result<std::shared_ptr<WriteSession>> make(Call by, Environment environment, const std::string& path,
                                                    const CreateOptions& options);

  /// Takes stock of what is pending, and agrees with all ranks on what there is to move and where.
  /// Collective: yes.
  Result<Agreed> agree(Call call);
  /// Does what is left to do alone before the ranks meet; an error of a step is told there. Local.
  Aside take_stock(bool last);
  /// Commits, into `stage` where there is one. Collective: yes; the same outcome everywhere.
  Status end(Call call, BackgroundStage* stage);
  /// Does what is to be done before the last bytes move: gaps filled, staging begun, chunks made.
  /// Returns what there is to move then. Collective: yes, the error is agreed on.
  Result<access::RequestShape> make_ready(const Agreed& agreed, BackgroundStage* stage);
  /// Moves what is pending, and makes the metadata when it is the `last` time. Collective: yes.
  Moved move(const access::RequestShape& shape, bool last);
  /// Moves, makes the metadata and gives the file its name, once all is ready. Collective: yes; the
  /// same outcome everywhere.
  Status complete(const access::RequestShape& shape);
  Status fail(Status status);
  void discard() noexcept;

  OpenFile file_;
  Defined defined_;
  PutGuard guard_;
  std::unique_ptr<Parts> parts_;  // null: the raw data go into the file itself
  NewFile target_;
  std::optional<ParityStage> parity_;  // none: a new file gets none
  Gathering gathering_;
  RoomForSums room_;
  FilledDatasets filled_;
  ChunkPuts chunk_puts_;
  Touched touched_;          // the rows that were touched of old datasets
  bool overwrites_ = false;  // bytes that the file has may be lost
};

}  // namespace stria::file
