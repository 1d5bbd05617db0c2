#include "file/chunks/chunk_packer.hpp"

#include <algorithm>
#include <tuple>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/out_of_memory.hpp"
#include "base/parallel.hpp"
#include "container/fill_value.hpp"

namespace stria::file {

ChunkPacker::ChunkPacker(Comm& comm, const PutsOfChunks& puts, int threads, Before before)
    : comm_(comm),
      catalog_(puts.catalog),
      transfers_(puts.transfers),
      set_(puts.set),
      before_(std::move(before)),
      parts_(puts.transfers, puts.catalog),
      pipelines_(static_cast<size_t>(threads)),
      trials_(static_cast<size_t>(puts.catalog.size())) {}

Status ChunkPacker::pack(PackedFile& packed) {
  STRIA_RETURN_IF_ERROR(comm_.agree(or_out_of_memory([&] {
    packed.datasets.resize(static_cast<size_t>(catalog_.size()));
    touched_ = parts_.touched();
    return Status();
  })));
  STRIA_ASSIGN_OR_RETURN(const auto shared, find_shared_chunks(comm_, touched_, parts_.numbers().count()));
  int64_t any[] = {static_cast<int64_t>(shared.size())};
  if (comm_.size() > 1) {
    comm_.all_reduce(any, ReduceOp::kMax);
  }
  Comm::Messages messages;
  Status mine = or_out_of_memory([&] {
    divide(shared);
    messages = pack_for_others(shared);
    return Status();
  });
  if (any[0] > 0) {
    STRIA_RETURN_IF_ERROR(comm_.agree(mine));
    mine = or_out_of_memory([&] {
      receive(comm_.sparse_exchange(messages));
      return Status();
    });
    messages.clear();
  }
  if (mine.ok()) {
    mine = or_out_of_memory([&] { return pack_own(packed); });
  }
  return comm_.agree(mine);
}

// Returns the first dataset that is cut like each one.
std::vector<int> ChunkPacker::shapes() const {
  std::map<std::tuple<std::vector<int64_t>, std::vector<int64_t>, int64_t>, int> known;
  std::vector<int> shapes;
  for (int i = 0; i < catalog_.size(); ++i) {
    const container::DatasetSpec& spec = catalog_[i].spec;
    shapes.push_back(catalog_[i].is_packed()
                         ? known.emplace(std::tuple(spec.dims, spec.chunking->dims, spec.element.bytes), i).first->second
                         : i);
  }
  return shapes;
}

// Decides who assembles what this rank has parts of.
void ChunkPacker::divide(const std::vector<SharedChunks>& shared) {
  const std::vector<int> shape_of = shapes();
  for (const ByteRange& range : touched_) {
    for (int64_t id = range.begin; id < range.end; ++id) {
      const ChunkOfDataset chunk = parts_.numbers().chunk(id);
      const int owner = owner_of(shared, id);
      std::vector<Work>& to = owner < 0 || owner == comm_.rank() ? works_ : others_;
      to.push_back({shape_of[static_cast<size_t>(chunk.dataset)], chunk.number, chunk.dataset});
    }
  }
  for (std::vector<Work>* const works : {&works_, &others_}) {
    std::sort(works->begin(), works->end(), [](const Work& a, const Work& b) {
      return std::tie(a.shape, a.number, a.dataset) < std::tie(b.shape, b.number, b.dataset);
    });
  }
}

// A message is a row of parts: chunk, offset, bytes.
Comm::Messages ChunkPacker::pack_for_others(const std::vector<SharedChunks>& shared) {
  std::map<int, FieldWriter> messages;
  for (size_t first = 0; first < others_.size();) {
    const size_t count = batch_size(others_, first, 1);
    pack_parts(std::span(others_).subspan(first, count), shared, messages);
    first += count;
  }
  Comm::Messages outgoing;
  for (auto& [rank, message] : messages) {
    outgoing.emplace_back(rank, message.take());
  }
  return outgoing;
}

void ChunkPacker::pack_parts(std::span<const Work> batch, const std::vector<SharedChunks>& shared,
                             std::map<int, FieldWriter>& messages) {
  batch_.prepare(batch.size(), parts_.numbers().grid(batch[0].dataset).chunk_bytes());
  found_.clear();
  streams_.clear();
  std::vector<size_t> ends;  // the ends of the parts of each chunk
  for (size_t i = 0; i < batch.size(); ++i) {
    const size_t begin = found_.size();
    parts_.find({batch[i].dataset, batch[i].number}, found_);
    for (const ChunkPart& part : std::span(found_).subspan(begin)) {
      streams_.push_back({part.transfer, part.begin, part.begin + part.bytes, batch_.chunk(i).data() + part.offset});
    }
    ends.push_back(found_.size());
  }
  set_.pack(streams_);
  for (size_t i = 0, part = 0; i < batch.size(); ++i) {
    const int64_t id = parts_.numbers().id_of({batch[i].dataset, batch[i].number});
    for (; part < ends[i]; ++part) {
      FieldWriter& message = messages[owner_of(shared, id)];
      message.number(id);
      message.number(found_[part].offset);
      message.bytes({streams_[part].packed, static_cast<size_t>(found_[part].bytes)});
    }
  }
}

void ChunkPacker::receive(Comm::Messages incoming) {
  incoming_ = std::move(incoming);
  for (const auto& sent : incoming_) {
    FieldReader fields(sent.second);
    while (!fields.done() && fields.well()) {
      const int64_t id = fields.number();
      const int64_t offset = fields.number();
      received_.push_back({id, offset, fields.bytes()});
      STRIA_CHECK(0 <= id && id < parts_.numbers().count(), id, parts_.numbers().count(), sent.first);
    }
    STRIA_CHECK(fields.is_whole(), sent.first, sent.second.size());
  }
  std::stable_sort(received_.begin(), received_.end(),
                   [](const ReceivedPart& a, const ReceivedPart& b) { return a.chunk_id < b.chunk_id; });
}

size_t ChunkPacker::batch_size(std::span<const Work> works, size_t first, size_t wanted) const {
  const size_t most = ChunkBatch::most(parts_.numbers().grid(works[first].dataset).chunk_bytes());
  size_t last = first;
  while (last < works.size() && last - first < most && works[last].shape == works[first].shape &&
         (works[last].number == works[first].number || last - first < wanted)) {
    ++last;
  }
  return last - first;
}

Status ChunkPacker::pack_own(PackedFile& packed) {
  constexpr size_t kChunksForAThread = 4;
  const size_t wanted = pipelines_.size() > 1 ? kChunksForAThread * pipelines_.size() : 1;
  for (size_t first = 0; first < works_.size();) {
    const size_t count = batch_size(works_, first, wanted);
    STRIA_RETURN_IF_ERROR(assemble(std::span(works_).subspan(first, count), packed));
    first += count;
  }
  return Status();
}

Status ChunkPacker::assemble(std::span<const Work> batch, PackedFile& packed) {
  batch_.prepare(batch.size(), parts_.numbers().grid(batch[0].dataset).chunk_bytes());
  contents_.clear();
  for (size_t done = 0; done < batch.size();) {
    STRIA_ASSIGN_OR_RETURN(const size_t found, find_contents(batch, done));
    done += found;
  }
  return store(batch, packed);
}

Result<size_t> ChunkPacker::find_contents(std::span<const Work> batch, size_t first) {
  streams_.clear();
  size_t i = first;
  for (; i < batch.size() && batch[i].number == batch[first].number; ++i) {
    STRIA_ASSIGN_OR_RETURN(const Content content, find_content(batch[i], batch_.chunk(i)));
    contents_.push_back(content);
  }
  judge_by_memory(batch, first);
  for (size_t at = first; at < i; ++at) {
    const Content& content = contents_[at];
    if (content.whole.transfer >= 0 && !content.is_straight && !content.stays) {
      streams_.push_back(
          {content.whole.transfer, content.whole.begin, content.whole.begin + content.whole.bytes, batch_.chunk(at).data()});
    }
  }
  set_.pack(streams_);
  judge_assembled(batch, first);
  return i - first;
}

bool ChunkPacker::wants_sample(const Work& work, const Content& content) const {
  return !content.bytes.empty() && trials_.wants_sample(work.dataset, catalog_[work.dataset].spec, sample_of(work));
}

void ChunkPacker::judge_by_memory(std::span<const Work> batch, size_t first) {
  std::vector<size_t> sampled;
  for (size_t i = first; i < contents_.size(); ++i) {
    if (contents_[i].whole.transfer >= 0 && wants_sample(batch[i], contents_[i])) {
      sampled.push_back(i);
    }
  }
  if (sampled.empty()) {
    return;
  }
  const ChunkSample sample = sample_of(batch[first]);  // all are cut alike
  const auto bytes = static_cast<size_t>(sample.bytes());
  samples_.resize(sampled.size() * bytes);
  std::vector<access::StreamPart> stretches;
  std::byte* to = samples_.data();
  for (const size_t i : sampled) {
    const ChunkPart& part = contents_[i].whole;
    for (int64_t stretch = 0; stretch < ChunkSample::kStretches; ++stretch, to += sample.stretch_bytes()) {
      const int64_t begin = part.begin + sample.begin(stretch);
      stretches.push_back({part.transfer, begin, begin + sample.stretch_bytes(), to});
    }
  }
  set_.sample(stretches);
  for (size_t at = 0; at < sampled.size(); ++at) {
    judge(batch[sampled[at]], std::span(samples_).subspan(at * bytes, bytes), contents_[sampled[at]]);
  }
}

void ChunkPacker::judge_assembled(std::span<const Work> batch, size_t first) {
  const ChunkSample sample = sample_of(batch[first]);
  for (size_t i = first; i < contents_.size(); ++i) {
    if (contents_[i].whole.transfer >= 0 || !wants_sample(batch[i], contents_[i])) {
      continue;
    }
    samples_.clear();
    for (int64_t stretch = 0; stretch < ChunkSample::kStretches; ++stretch) {
      const std::byte* const from = contents_[i].bytes.data() + sample.begin(stretch);
      samples_.insert(samples_.end(), from, from + sample.stretch_bytes());
    }
    judge(batch[i], samples_, contents_[i]);
  }
}

void ChunkPacker::judge(const Work& work, std::span<const std::byte> sample, Content& content) {
  const bool shrinks = pipelines_[0].shrinks(catalog_[work.dataset].spec, sample);
  content.is_raw = trials_.stays_raw(work.dataset, shrinks);
  content.stays = content.is_raw && may_stay(work, content);
}

ChunkSample ChunkPacker::sample_of(const Work& work) const {
  return {parts_.numbers().grid(work.dataset).chunk_bytes(), catalog_[work.dataset].spec.element.bytes};
}

// Whole rows, whose sums are gathered when they are written. Beside chunks that shrink, variables
// that lie interleaved would be packed one by one.
bool ChunkPacker::may_stay(const Work& work, const Content& content) const {
  if (content.whole.transfer < 0 || catalog_[work.dataset].spec.chunking->filters.fletcher32) {
    return false;
  }
  const DatasetEntry& dataset = catalog_[work.dataset];
  const Transfer& put = transfers_[static_cast<size_t>(content.whole.transfer)];
  const int64_t rows_bytes = parts_.numbers().grid(work.dataset).rows(work.number).size() * dataset.row_bytes();
  const bool has_rows = put.whole_rows && content.whole.bytes == rows_bytes;
  const bool is_summed_so = set_.sums(static_cast<size_t>(content.whole.transfer)) == nullptr || summed_by_rows(put, dataset);
  return has_rows && is_summed_so && (content.is_straight || !trials_.has_compressed(work.dataset));
}

// Memory that has all of the chunk as it is, or the chunk, with notes of what is to be packed into
// it and with what was received. What nobody puts is as before, or has the
// fill value.
Result<ChunkPacker::Content> ChunkPacker::find_content(const Work& work, std::span<std::byte> chunk) {
  found_.clear();
  const ChunkOfDataset here{work.dataset, work.number};
  parts_.find(here, found_);
  const int64_t id = parts_.numbers().id_of(here);
  const auto [first, last] =
      std::equal_range(received_.begin(), received_.end(), ReceivedPart{id, 0, {}},
                       [](const ReceivedPart& a, const ReceivedPart& b) { return a.chunk_id < b.chunk_id; });
  if (first == last && found_.empty()) {
    return Content{};
  }
  const bool is_one = first == last && found_.size() == 1 && found_[0].bytes == static_cast<int64_t>(chunk.size());
  if (is_one) {
    const std::byte* const straight = set_.straight_source(found_[0].transfer);
    const std::byte* const bytes = straight != nullptr ? straight + found_[0].begin : chunk.data();
    return Content{.bytes = {bytes, chunk.size()}, .whole = found_[0], .is_straight = straight != nullptr};
  }
  int64_t covered = 0;  // from the beginning, without a gap
  for (const ChunkPart& part : found_) {
    covered += part.offset == covered ? part.bytes : 0;
  }
  if (has_old_rows(work)) {
    STRIA_RETURN_IF_ERROR(before_(work.dataset, work.number, chunk));
  } else if (covered < static_cast<int64_t>(chunk.size())) {
    container::lay_fill_value(catalog_[work.dataset].spec.fill_value, chunk);
  }
  for (auto part = first; part != last; ++part) {
    STRIA_CHECK(0 <= part->offset && part->bytes.size() <= chunk.size() - static_cast<size_t>(part->offset), part->offset,
                part->bytes.size(), chunk.size(), id);
    std::copy(part->bytes.begin(), part->bytes.end(), chunk.begin() + part->offset);
  }
  for (const ChunkPart& part : found_) {
    STRIA_ASSERT(0 <= part.offset && part.bytes <= static_cast<int64_t>(chunk.size()) - part.offset, part.offset, part.bytes,
                 chunk.size(), id);
    streams_.push_back({part.transfer, part.begin, part.begin + part.bytes, chunk.data() + part.offset});
  }
  return Content{.bytes = chunk};
}

// Passes the contents through the filters, and keeps what comes out in their order.
Status ChunkPacker::store(std::span<const Work> batch, PackedFile& packed) {
  const bool side_by_side = pipelines_.size() > 1;
  encoded_.resize(std::max(encoded_.size(), side_by_side ? batch.size() : 1));
  const auto encode_into = [&](Encoded& to, int thread, size_t i) {
    to.bytes.clear();
    if (!contents_[i].bytes.empty() && !contents_[i].stays) {
      to.chunk = encode(batch[i], contents_[i], thread, to.bytes);
    }
  };
  if (side_by_side) {
    STRIA_RETURN_IF_ERROR(share_work(static_cast<int>(pipelines_.size()), batch.size(), [&](int thread, size_t i) {
      encode_into(encoded_[i], thread, i);
      return Status();
    }));
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    const Content& content = contents_[i];
    if (content.bytes.empty()) {
      continue;
    }
    PackedChunks& chunks = packed.datasets[static_cast<size_t>(batch[i].dataset)];
    const int64_t end = content.whole.begin + content.whole.bytes;
    if (content.stays) {
      const auto skipped = container::FilterPipeline::skipped_by_raw(catalog_[batch[i].dataset].spec.chunking->filters);
      set_.leave_out(content.whole.transfer, content.whole.begin, end);
      chunks.add_raw({.place = {.number = batch[i].number, .bytes = content.whole.bytes, .skipped = skipped}},
                     content.whole.transfer, content.whole.begin);
      continue;
    }
    if (content.is_straight) {
      set_.passed_straight(content.whole.transfer, content.whole.begin, end);
    }
    Encoded& encoded = encoded_[side_by_side ? i : 0];
    if (!side_by_side) {
      encode_into(encoded, 0, i);
    }
    chunks.add(encoded.chunk, packed.memory.keep(encoded.bytes));
    if (!content.is_raw) {
      trials_.note(batch[i].dataset, static_cast<int64_t>(content.bytes.size()), encoded.chunk.place.bytes);
    }
  }
  return Status();
}

bool ChunkPacker::has_old_rows(const Work& work) const {
  return parts_.numbers().grid(work.dataset).rows(work.number).begin < catalog_[work.dataset].old_rows;
}

SummedChunk ChunkPacker::encode(const Work& work, const Content& content, int thread, std::vector<std::byte>& out) {
  const DatasetEntry& dataset = catalog_[work.dataset];
  // Elements that have lost something once are not to lose more.
  const auto skipped = pipelines_[static_cast<size_t>(thread)].encode(dataset.spec, content.bytes, out,
                                                                      {.exact = has_old_rows(work), .raw = content.is_raw});
  return {.place = {.number = work.number, .offset = 0, .bytes = static_cast<int64_t>(out.size()), .skipped = skipped},
          .sum = std::max<uint64_t>(hash_bytes(out), 1)};
}

}  // namespace stria::file
