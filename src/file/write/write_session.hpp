// A new file being written: the conductor of definitions, puts and the commit.
//
// Problem: the time of a small file is that of its agreements.
// Method: a commit has two, and little is left to do between them. Every rank sends rank 0 what it
// gathered while packing as soon as its last bytes are packed, and writes its row sums together
// with them; rank 0 finishes the metadata meanwhile. Then every rank sends rank 0 its outcome, once
// its handles are closed; rank 0 renames and tells the outcome. Only durable files on several nodes
// need more: each node is synced once all its ranks have written.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "access/move.hpp"
#include "file/chunks/chunk_packer.hpp"
#include "file/define/definitions.hpp"
#include "file/meet/part_exchange.hpp"
#include "file/move/transfer_set.hpp"
#include "file/session/session.hpp"
#include "file/write/gathered.hpp"
#include "file/write/metadata.hpp"
#include "file/write/new_file.hpp"

namespace stria::file {

class WriteSession : public Session {
 public:
  /// Creates the temporary file. Collective: yes; the same outcome everywhere.
  static Result<std::shared_ptr<WriteSession>> create(Environment environment, const std::string& path,
                                                      const CreateOptions& options);
  ~WriteSession() override;

  // Definitions: recorded on every rank, carried out by rank 0 at the commit. An error fails the
  // next collective call as well.
  Result<int> create_dataset(const container::DatasetSpec& spec, const DatasetOptions& options);
  /// `content` is empty on a rank that leaves it out; that of rank 0 counts.
  Status create_table(container::DatasetSpec spec, std::span<const std::byte> content);
  Status set_attribute(container::AttributeSpec attribute);
  /// Says that a definition can't be made on this rank.
  Status refuse(const Status& status);

  Status flush() override;
  Status commit() override;
  Status abandon() override;
  void leave(std::string_view reason) noexcept override;

 private:
  WriteSession(Environment environment, const std::string& path, const CreateOptions& options,
               std::shared_ptr<RollCall> roll_call);

  Result<access::RequestShape> agree_on_pending(Call call);
  bool has_chunks() const;
  /// Takes the puts of datasets in chunks out of those that are pending; with a copy of their
  /// memory if that may change before the commit.
  Status set_chunked_aside(bool memory_may_change);
  /// Makes chunks of them, which are pending in their place. Collective: yes, the error
  /// is agreed on.
  Result<access::RequestShape> pack_chunks(const access::RequestShape& shape);
  void put_chunks(int dataset, int64_t before);
  Status define_checksums();
  /// Moves what is pending, and makes the metadata when it is the `last` time. The outcome is
  /// this rank's own.
  Status move(const access::RequestShape& shape, bool last);
  Status prepare(const access::Plan& plan, const access::StorageUse& use, bool last);
  Status transfer(access::AsPlanned planned, const Status& ready, access::AbortSignal& signal, bool last);
  Status keep(TransferSet& set);
  Status hand_in(const Status& mine);

  // Publication.
  Status complete(Status mine);
  Status write_row_sums();
  Status sync_other_nodes(const Status& mine);
  void finish_parts();
  Status write_metadata();
  Status collect(const Status& mine);
  Status publish();
  Status share_outcome(const Status& mine);
  Status fail(const Status& status);
  void discard() noexcept;

  CreateOptions options_;
  std::unique_ptr<container::Layout> layout_;
  Definitions definitions_;
  std::vector<RowTable> row_tables_;  // known at the commit
  std::vector<Transfer> chunked_;     // puts that wait for the commit
  std::vector<PackedChunks> packed_;
  Gathered gathered_;
  PartExchange parts_;                  // brings what all have gathered to rank 0
  std::unique_ptr<Metadata> metadata_;  // rank 0
  NewFile file_;
};

}  // namespace stria::file
