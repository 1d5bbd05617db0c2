// Makes chunks of the puts of all ranks, on the ranks that have their data.
//
// Problem: HDF5's parallel filters take a collective write of each dataset, in which every rank
// hears of every chunk.
// Method: whoever alone has parts of a chunk assembles it. Of a chunk that several ranks have parts
// of, one of these gets the others' parts. Variables that lie interleaved in memory are packed
// together, chunk by chunk; shuffling, deflating and summing find a chunk in the cache. With
// several threads, some chunks are packed first, and deflated side by side. Chunks that don't
// shrink (chunk_trials.hpp), and are whole rows of one put, stay in the memory of that put.
// Cost: the memory that the packed chunks take, and that of parts that travel; with several threads
// that of a few chunks for each.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "container/chunks/filter_pipeline.hpp"
#include "file/chunks/chunk_batch.hpp"
#include "file/chunks/chunk_parts.hpp"
#include "file/chunks/chunk_trials.hpp"
#include "file/chunks/packed_chunks.hpp"
#include "file/move/transfer_set.hpp"

namespace stria::file {

/// This rank's puts of datasets in chunks.
struct PutsOfChunks {
  const Catalog& catalog;
  std::span<const Transfer> transfers;
  TransferSet& set;  ///< the set that these are in
};

class ChunkPacker {
 public:
  /// Fills a chunk with what the file has of it already.
  using Before = std::function<Status(int dataset, int64_t chunk, std::span<std::byte> out)>;

  /// `before` is asked for chunks with old rows. `threads` pass chunks through the filters.
  ChunkPacker(Comm& comm, const PutsOfChunks& puts, int threads = 1, Before before = {});

  /// Packs all chunks; `packed` gets, of each dataset of the catalog, those of this rank by
  /// increasing number. Collective: yes, the error is agreed on; a rank that has no packer calls
  /// Comm::agree() instead.
  Status pack(PackedFile& packed);

 private:
  /// A chunk that this rank assembles. Those of datasets that are cut alike come together.
  struct Work {
    int shape = 0;  ///< the first dataset that is cut so
    int64_t number = 0;
    int dataset = 0;
  };
  /// A part that another rank has sent.
  struct ReceivedPart {
    int64_t chunk_id = 0;
    int64_t offset = 0;
    std::span<const std::byte> bytes;
  };
  /// The bytes of a chunk, once its streams are packed; none where nobody puts any.
  struct Content {
    std::span<const std::byte> bytes;
    ChunkPart whole{.transfer = -1};  ///< the part of the one put that has all of them, if one has
    bool is_straight = false;         ///< they are its memory
    bool is_raw = false;              ///< they are stored as they are
    bool stays = false;               ///< true: they are only packed when they are written
  };
  std::vector<int> shapes() const;
  void divide(const std::vector<SharedChunks>& shared);
  Comm::Messages pack_for_others(const std::vector<SharedChunks>& shared);
  /// The same chunk of several datasets, packed in one pass.
  void pack_parts(std::span<const Work> batch, const std::vector<SharedChunks>& shared, std::map<int, FieldWriter>& messages);
  void receive(Comm::Messages incoming);
  Status pack_own(PackedFile& packed);
  /// Returns how many chunks of `works` from the `first` on are in memory together: those of one
  /// number, and `wanted` where there are so many.
  size_t batch_size(std::span<const Work> works, size_t first, size_t wanted) const;
  Status assemble(std::span<const Work> batch, PackedFile& packed);
  /// Packs the same chunk of several datasets in one pass: those of a batch from the `first` on.
  Result<size_t> find_contents(std::span<const Work> batch, size_t first);
  Result<Content> find_content(const Work& work, std::span<std::byte> chunk);
  bool wants_sample(const Work& work, const Content& content) const;
  /// Decides which contents from the `first` on are stored as they are, of those that one put has
  /// as a whole: by samples of its memory, before they are packed.
  void judge_by_memory(std::span<const Work> batch, size_t first);
  /// The same of the others, once their chunks are assembled.
  void judge_assembled(std::span<const Work> batch, size_t first);
  void judge(const Work& work, std::span<const std::byte> sample, Content& content);
  ChunkSample sample_of(const Work& work) const;
  bool may_stay(const Work& work, const Content& content) const;
  Status store(std::span<const Work> batch, PackedFile& packed);
  bool has_old_rows(const Work& work) const;
  SummedChunk encode(const Work& work, const Content& content, int thread, std::vector<std::byte>& out);

  Comm& comm_;
  const Catalog& catalog_;
  std::span<const Transfer> transfers_;
  TransferSet& set_;
  Before before_;
  ChunkParts parts_;
  std::vector<container::FilterPipeline> pipelines_;  // the pipelines of each thread
  ChunkRanges touched_;
  std::vector<Work> works_;
  std::vector<Work> others_;  // this rank has parts of them for others
  Comm::Messages incoming_;
  std::vector<ReceivedPart> received_;  // those of incoming_, by chunk

  std::vector<ChunkPart> found_;  // the parts of one chunk
  std::vector<access::StreamPart> streams_;
  std::vector<Content> contents_;  // the contents of a batch
  ChunkTrials trials_;
  std::vector<std::byte> samples_;
  struct Encoded {
    SummedChunk chunk;
    std::vector<std::byte> bytes;
  };
  std::vector<Encoded> encoded_;  // the same with several threads, else one
  ChunkBatch batch_;
};

}  // namespace stria::file
