// A new file being written, or an old one that grows: the conductor of definitions, puts and the
// commit.
//
// Problem: the time of a small file is that of its agreements.
// Method: a commit has two, and little is left to do between them: one on what there is to move
// (here, then data_move.hpp), one on the outcome (publication.hpp). What is gathered while moving
// goes to rank 0 in between (gathering.hpp), without anybody waiting.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "file/background/background.hpp"
#include "file/chunks/chunk_packer.hpp"
#include "file/chunks/chunk_reader.hpp"
#include "file/define/definitions.hpp"
#include "file/parts/parts.hpp"
#include "file/session/session.hpp"
#include "file/write/gathering.hpp"
#include "file/write/new_file.hpp"
#include "file/write/old_content.hpp"
#include "file/write/publication.hpp"
#include "file/write/updating.hpp"

namespace stria::file {

class WriteSession : public Session {
 public:
  /// Creates the temporary file. Collective: yes; the same outcome everywhere.
  static Result<std::shared_ptr<WriteSession>> create(Environment environment, const std::string& path,
                                                      const CreateOptions& options);
  /// Opens a file to add to it. Collective: yes; the same outcome everywhere.
  static Result<std::shared_ptr<WriteSession>> append(Environment environment, const std::string& path,
                                                      const AppendOptions& options);
  ~WriteSession() override;

  // Definitions: recorded on every rank, carried out by rank 0 at the commit. An error fails the
  // next collective call as well.
  Result<int> create_dataset(const container::DatasetSpec& spec, const DatasetOptions& options);
  Result<int> append_rows(const std::string& path, int64_t rows);
  /// `content` is empty on a rank that leaves it out; that of rank 0 counts.
  Status create_table(container::DatasetSpec spec, std::span<const std::byte> content);
  Status set_attribute(container::AttributeSpec attribute);
  Status create_link(container::LinkSpec link);
  Result<std::vector<Column>> read_columns(const std::string& dataset_path, int64_t& row_bytes) override;
  /// Takes up a dataset that the file has, to overwrite elements in place.
  Result<int> update(const std::string& path);

  bool grows() const { return kind_ == Kind::kGrowing; }

  Status flush() override;
  Status commit() override;
  /// As commit(), but returns once everything is packed. Null where the commit has ended already.
  /// Collective: yes; the same outcome everywhere.
  Result<std::shared_ptr<const BackgroundCommit>> commit_async();
  Status abandon() override;
  Format format() const override { return environment_.format->format(); }
  std::string how_opened() const override;
  void leave(std::string_view reason) noexcept override;

 private:
  enum class Kind { kNew, kGrowing };
  WriteSession(Environment environment, const std::string& path, const CreateOptions& options,
               std::shared_ptr<RollCall> roll_call, Kind kind);

  std::string why_missing(const std::string& dataset_path) const override;

  // Of a file that grows: appending.cpp.
  Status open_old(std::vector<std::byte>& message);
  Status take_old(std::span<const std::byte> message);
  /// Fills a chunk with the rows that the file has.
  Status fill_with_old(int dataset, int64_t chunk, std::span<std::byte> out);
  /// After this rank's data were moved, or failed to be: the sums of what was overwritten.
  /// Collective: yes; where it fails before the end, the outcome is the same everywhere.
  Status sum_updates(const Status& moved);

  Status begin_parts();
  /// Before the first byte is written: whether the file is staged at a place of its own or, for
  /// want of room there, written to its own. Collective: yes.
  void agree_on_place();
  Status finish_parts();
  Status make_background_commit(Background::Queue& one);
  /// A commit. What it writes is staged in the one of the list, which becomes empty where the
  /// commit can't go on in the background.
  Status end(Call call, Background::Queue& one);
  Status begin_to_stage(Background::Queue& one);
  /// A warning that a commit doesn't go on in the background, and why.
  void say_in_the_call(const std::string& why);
  /// Makes what is planned from now on fit for staging.
  void plan_for_staging();
  bool has_chunks() const;
  /// Takes the puts of datasets in chunks out of those that are pending; with a copy of their
  /// memory if that may change before the commit.
  Status set_chunked_aside(bool memory_may_change);
  /// Makes chunks of them, which are pending in their place. Collective: yes, the error
  /// is agreed on.
  Result<access::RequestShape> pack_chunks(const access::RequestShape& shape);
  void put_chunks(int dataset, int64_t before);
  /// Writes the fill value wherever datasets in one piece aren't put whole, once for each, before
  /// anything of it is moved; the `last` time of all. Collective: yes, the error is agreed on.
  Status fill_gaps(bool last);
  /// The datasets that have gaps now. Collective: yes, the error is agreed on.
  Result<std::vector<int>> find_gaps(bool last);
  Status settle(bool complete);
  Status settle_all(bool complete);
  // Of a file that interleaves rows: room_for_sums.cpp.
  /// What the records of sums of this rank's pending puts will take.
  Status count_sums();
  /// The first time: places rows behind the room for sums. Later: gives the sums up where they
  /// don't fit. Local, after an agreement; the same everywhere.
  Status place_behind_sums(const access::RequestShape& shape, bool last);
  int64_t room_for_sums(const access::RequestShape& shape) const;
  void give_up_sums();
  /// Agrees with all ranks on what there is to move. Collective: yes.
  Result<access::RequestShape> agree_on_pending(Call call);
  /// Moves what is pending, and makes the metadata when it is the `last` time. The outcome is
  /// this rank's own.
  Status move(const access::RequestShape& shape, bool last);
  Status fail(const Status& status);
  void discard() noexcept;

  const Kind kind_;
  CreateOptions options_;
  OldContent old_;
  std::unique_ptr<storage::File> old_file_;  // for old chunks, where this rank needs some
  std::unique_ptr<container::Reader> old_reader_;
  ChunkReader old_chunks_{{path_, old_.catalog, old_file_, old_reader_}};
  std::unique_ptr<container::Layout> layout_;
  std::unique_ptr<Parts> parts_;  // null: the raw data go into the file itself
  Definitions definitions_;
  std::vector<Transfer> chunked_;  // puts that wait for the commit
  PackedFile packed_;
  NewFile file_;
  Gathering gathering_;
  Publication publication_;
  bool settled_ = false;       ///< places are final
  bool is_placed_ = false;     ///< agree_on_place() has been
  int64_t room_bytes_ = -1;    ///< for records of sums, where rows follow them; -1: not kept yet
  int64_t records_bytes_ = 0;  ///< of them, for all that was put so far
  std::vector<char> is_full_;  ///< of each dataset: it is put whole, or filled
  Updating updating_{catalog_, old_};
  bool may_have_overwritten_ = false;
};

}  // namespace stria::file
