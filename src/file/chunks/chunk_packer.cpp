#include "file/chunks/chunk_packer.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "base/hash.hpp"
#include "base/out_of_memory.hpp"

namespace stria::file {

ChunkPacker::ChunkPacker(Comm& comm, const Catalog& catalog, std::span<const Transfer> transfers, TransferSet& set,
                         Before before)
    : comm_(comm), catalog_(catalog), set_(set), before_(std::move(before)), parts_(transfers, catalog) {}

Status ChunkPacker::pack(std::vector<PackedChunks>& packed) {
  STRIA_RETURN_IF_ERROR(comm_.agree(or_out_of_memory([&] {
    packed.resize(static_cast<size_t>(catalog_.size()));
    touched_ = parts_.touched();
    return Status();
  })));
  STRIA_ASSIGN_OR_RETURN(const auto shared, find_shared_chunks(comm_, touched_, parts_.chunk_count()));
  int64_t any[] = {static_cast<int64_t>(shared.size())};
  if (comm_.size() > 1) {
    comm_.all_reduce(any, ReduceOp::kMax);
  }
  Comm::Messages messages;
  const Status divided = or_out_of_memory([&] {
    divide(shared);
    messages = pack_for_others(shared);
    return Status();
  });
  Comm::Messages incoming;
  if (any[0] > 0) {
    STRIA_RETURN_IF_ERROR(comm_.agree(divided));
    incoming = comm_.sparse_exchange(messages);
    messages.clear();
  }
  const Status done = divided.ok() ? or_out_of_memory([&] {
    receive(incoming);
    return pack_own(packed);
  })
                                   : divided;
  return comm_.agree(done);
}

// The first dataset that is cut like each one.
std::vector<int> ChunkPacker::shapes() const {
  std::map<std::tuple<std::vector<int64_t>, std::vector<int64_t>, int64_t>, int> known;
  std::vector<int> shapes;
  for (int i = 0; i < catalog_.size(); ++i) {
    const container::DatasetSpec& spec = catalog_[i].spec;
    shapes.push_back(catalog_[i].is_chunked()
                         ? known.emplace(std::tuple(spec.dims, spec.chunking->dims, spec.element.bytes), i).first->second
                         : i);
  }
  return shapes;
}

// Who assembles what this rank has parts of.
void ChunkPacker::divide(const std::vector<SharedChunks>& shared) {
  const std::vector<int> shape_of = shapes();
  auto next = shared.begin();
  for (const ByteRange& range : touched_) {
    for (int64_t id = range.begin; id < range.end; ++id) {
      while (next != shared.end() && next->chunks.end <= id) {
        ++next;
      }
      if (next != shared.end() && next->chunks.contains(id) && next->owner(id) != comm_.rank()) {
        others_.push_back(id);
      } else {
        const ChunkOfDataset chunk = parts_.chunk(id);
        works_.push_back({shape_of[static_cast<size_t>(chunk.dataset)], chunk.number, chunk.dataset});
      }
    }
  }
  std::sort(works_.begin(), works_.end(), [](const Work& a, const Work& b) {
    return std::tie(a.shape, a.number, a.dataset) < std::tie(b.shape, b.number, b.dataset);
  });
}

// A message is a row of parts: chunk, offset, bytes.
Comm::Messages ChunkPacker::pack_for_others(const std::vector<SharedChunks>& shared) {
  std::map<int, FieldWriter> messages;
  auto next = shared.begin();
  std::vector<std::byte> bytes;
  for (const int64_t id : others_) {
    while (next->chunks.end <= id) {
      ++next;
    }
    found_.clear();
    parts_.find(parts_.chunk(id), found_);
    for (const ChunkPart& part : found_) {
      bytes.resize(static_cast<size_t>(part.bytes));
      const access::StreamPart stream{part.transfer, part.begin, part.begin + part.bytes, bytes.data()};
      set_.pack(std::span(&stream, 1));
      FieldWriter& message = messages[next->owner(id)];
      message.number(id);
      message.number(part.offset);
      message.bytes(bytes);
    }
  }
  Comm::Messages outgoing;
  for (auto& [rank, message] : messages) {
    outgoing.emplace_back(rank, message.take());
  }
  return outgoing;
}

void ChunkPacker::receive(const Comm::Messages& incoming) {
  for (const auto& sent : incoming) {
    FieldReader fields(sent.second);
    while (!fields.done() && fields.well()) {
      const int64_t id = fields.number();
      const int64_t offset = fields.number();
      received_.push_back({id, offset, fields.bytes()});
    }
  }
  std::stable_sort(received_.begin(), received_.end(),
                   [](const ReceivedPart& a, const ReceivedPart& b) { return a.chunk_id < b.chunk_id; });
}

Status ChunkPacker::pack_own(std::vector<PackedChunks>& packed) {
  for (size_t first = 0; first < works_.size();) {
    const size_t most = ChunkBatch::most(parts_.grid(works_[first].dataset).chunk_bytes());
    size_t last = first;
    while (last < works_.size() && last - first < most && works_[last].shape == works_[first].shape &&
           works_[last].number == works_[first].number) {
      ++last;
    }
    STRIA_RETURN_IF_ERROR(assemble(std::span(works_).subspan(first, last - first), packed));
    first = last;
  }
  return Status();
}

// The same chunk of several datasets.
Status ChunkPacker::assemble(std::span<const Work> batch, std::vector<PackedChunks>& packed) {
  batch_.prepare(batch.size(), parts_.grid(batch[0].dataset).chunk_bytes());
  streams_.clear();
  contents_.clear();
  for (size_t i = 0; i < batch.size(); ++i) {
    STRIA_ASSIGN_OR_RETURN(const Content content, find_content(batch[i], batch_.chunk(i)));
    contents_.push_back(content);
  }
  set_.pack(streams_);
  for (size_t i = 0; i < batch.size(); ++i) {
    const Content& content = contents_[i];
    if (content.straight.transfer >= 0) {
      set_.passed_direct(content.straight.transfer, content.straight.begin, content.straight.begin + content.straight.bytes);
    }
    if (!content.bytes.empty()) {
      store(batch[i], content.bytes, packed[static_cast<size_t>(batch[i].dataset)]);
    }
  }
  return Status();
}

// Memory that has all of the chunk as it is, or the chunk, with notes of what is to be packed into
// it and with what was received. What nobody puts is as before, or zero.
Result<ChunkPacker::Content> ChunkPacker::find_content(const Work& work, std::span<std::byte> chunk) {
  found_.clear();
  const ChunkOfDataset here{work.dataset, work.number};
  parts_.find(here, found_);
  const int64_t id = parts_.id_of(here);
  const auto [first, last] =
      std::equal_range(received_.begin(), received_.end(), ReceivedPart{id, 0, {}},
                       [](const ReceivedPart& a, const ReceivedPart& b) { return a.chunk_id < b.chunk_id; });
  if (first == last && found_.empty()) {
    return Content{};
  }
  const bool is_one = first == last && found_.size() == 1 && found_[0].bytes == static_cast<int64_t>(chunk.size());
  const std::byte* const straight = is_one ? set_.straight_source(found_[0].transfer) : nullptr;
  if (straight != nullptr) {
    return Content{.bytes = {straight + found_[0].begin, chunk.size()}, .straight = found_[0]};
  }
  int64_t covered = 0;  // from the beginning, without a gap
  for (const ChunkPart& part : found_) {
    covered += part.offset == covered ? part.bytes : 0;
  }
  if (parts_.grid(work.dataset).rows(work.number).begin < catalog_[work.dataset].old_rows) {
    STRIA_RETURN_IF_ERROR(before_(work.dataset, work.number, chunk));
  } else if (covered < static_cast<int64_t>(chunk.size())) {
    std::memset(chunk.data(), 0, chunk.size());
  }
  for (auto part = first; part != last; ++part) {
    std::copy(part->bytes.begin(), part->bytes.end(), chunk.begin() + part->offset);
  }
  for (const ChunkPart& part : found_) {
    streams_.push_back({part.transfer, part.begin, part.begin + part.bytes, chunk.data() + part.offset});
  }
  return Content{.bytes = chunk};
}

void ChunkPacker::store(const Work& work, std::span<const std::byte> chunk, PackedChunks& packed) {
  const container::DatasetSpec& spec = catalog_[work.dataset].spec;
  const int64_t begin = packed.size();
  const auto skipped = pipeline_.encode(spec.chunking->filters, spec.element.bytes, chunk, packed.bytes);
  const std::span<const std::byte> stored = std::span(packed.bytes).subspan(static_cast<size_t>(begin));
  packed.chunks.push_back(
      {.place = {.number = work.number, .offset = begin, .bytes = static_cast<int64_t>(stored.size()), .skipped = skipped},
       .sum = std::max<uint64_t>(hash_bytes(stored), 1)});
}

}  // namespace stria::file
