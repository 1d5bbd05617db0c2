#include "file/chunks/chunk_owners.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "file/meet/message_fields.hpp"

namespace stria::file {

namespace {

using Fields = std::map<int, FieldWriter>;

Comm::Messages to_messages(Fields& fields) {
  Comm::Messages messages;
  for (auto& [rank, writer] : fields) {
    messages.emplace_back(rank, writer.take());
  }
  return messages;
}

// Tells each rank in charge which of its chunks this rank has parts of.
Fields announce(const ChunkRanges& mine, int64_t chunks_a_rank) {
  Fields fields;
  for (ByteRange range : mine) {
    while (!range.empty()) {
      const int64_t rank = range.begin / chunks_a_rank;
      const int64_t end = std::min(range.end, (rank + 1) * chunks_a_rank);
      STRIA_ASSERT(range.begin >= 0 && range.begin < end, range.begin, range.end, chunks_a_rank);
      FieldWriter& writer = fields[static_cast<int>(rank)];
      writer.number(range.begin);
      writer.number(end);
      range.begin = end;
    }
  }
  return fields;
}

/// Says where a rank's part of the chunks begins or ends.
struct Edge {
  int64_t chunk = 0;
  int rank = 0;
  bool begins = false;
};

std::vector<SharedChunks> find_overlaps(const Comm::Messages& announced) {
  std::vector<Edge> edges;
  for (const auto& [rank, message] : announced) {
    FieldReader fields(message);
    while (!fields.done() && fields.well()) {
      edges.push_back({fields.number(), rank, true});
      edges.push_back({fields.number(), rank, false});
    }
    STRIA_CHECK(fields.is_whole(), rank, message.size());
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.chunk < b.chunk; });
  std::vector<SharedChunks> shared;
  std::set<int> ranks;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (i > 0 && edges[i].chunk > edges[i - 1].chunk && ranks.size() > 1) {
      shared.push_back({{edges[i - 1].chunk, edges[i].chunk}, {ranks.begin(), ranks.end()}});
    }
    // A rank's ranges don't meet, so that the order of the edges of one chunk is of no matter.
    if (edges[i].begins) {
      ranks.insert(edges[i].rank);
    } else {
      ranks.erase(edges[i].rank);
    }
  }
  return shared;
}

Fields answer(const std::vector<SharedChunks>& shared) {
  Fields fields;
  for (const SharedChunks& some : shared) {
    for (const int to : some.ranks) {
      FieldWriter& writer = fields[to];
      writer.number(some.chunks.begin);
      writer.number(some.chunks.end);
      writer.bytes(std::as_bytes(std::span(some.ranks)));
    }
  }
  return fields;
}

std::vector<SharedChunks> read_answers(const Comm::Messages& answers) {
  std::vector<SharedChunks> shared;
  for (const auto& answered : answers) {
    FieldReader fields(answered.second);
    while (!fields.done() && fields.well()) {
      SharedChunks& some = shared.emplace_back();
      some.chunks.begin = fields.number();
      some.chunks.end = fields.number();
      fields.append_to(some.ranks);
      STRIA_CHECK(some.ranks.size() > 1 && !some.chunks.empty(), some.ranks.size(), some.chunks.begin, some.chunks.end);
    }
    STRIA_CHECK(fields.is_whole(), answered.first, answered.second.size());
  }
  STRIA_ASSERT(std::adjacent_find(shared.begin(), shared.end(), [](const SharedChunks& a, const SharedChunks& b) {
                 return a.chunks.end > b.chunks.begin;
               }) == shared.end());
  return shared;  // in order, because the senders are
}

}  // namespace

int owner_of(const std::vector<SharedChunks>& shared, int64_t chunk) {
  const auto some = std::upper_bound(shared.begin(), shared.end(), chunk,
                                     [](int64_t number, const SharedChunks& each) { return number < each.chunks.end; });
  return some != shared.end() && some->chunks.contains(chunk) ? some->owner(chunk) : -1;
}

void tidy(ChunkRanges& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (const ByteRange& range : ranges) {
    if (kept > 0 && range.begin <= ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

Result<std::vector<SharedChunks>> find_shared_chunks(Comm& comm, const ChunkRanges& mine, int64_t chunk_count) {
  STRIA_ASSERT(std::is_sorted(mine.begin(), mine.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; }));
  STRIA_ASSERT(mine.empty() || (mine.front().begin >= 0 && mine.back().end <= chunk_count), mine.front().begin, mine.back().end,
               chunk_count);
  if (comm.size() == 1 || chunk_count == 0) {
    return std::vector<SharedChunks>();
  }
  Comm::Messages messages;
  STRIA_RETURN_IF_ERROR(comm.agree(or_out_of_memory([&] {
    Fields fields = announce(mine, (chunk_count + comm.size() - 1) / comm.size());
    messages = to_messages(fields);
    return Status();
  })));
  STRIA_RETURN_IF_ERROR(comm.agree(or_out_of_memory([&] {
    Fields fields = answer(find_overlaps(comm.sparse_exchange(messages)));
    messages = to_messages(fields);
    return Status();
  })));
  std::vector<SharedChunks> shared;
  STRIA_RETURN_IF_ERROR(comm.agree(or_out_of_memory([&] {
    shared = read_answers(comm.sparse_exchange(messages));
    return Status();
  })));
  return shared;
}

}  // namespace stria::file
