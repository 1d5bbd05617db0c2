#include "server/connections/data_requests.hpp"

#include <algorithm>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "server/connections/move_requests.hpp"
#include "wire/region.hpp"

namespace stria::server {

namespace {

using wire::Kind;

/// A request for data, with the slot's bytes that it concerns.
struct Request {
  wire::Transfer transfer;
  wire::Region region;

  static Result<Request> decode(std::span<const std::byte> body) {
    Request request;
    wire::Reader reader(body);
    request.transfer.get(reader);
    if (reader.failed()) {
      return reader.finish("transfer");
    }
    STRIA_ASSIGN_OR_RETURN(request.region, wire::Region::decode(reader));
    return request;
  }
};

// The most memory that a decoded datatype takes per byte of its description, because lists
// share sub-trees.
constexpr int64_t kDescriptionFactor = 64;
constexpr int64_t kSmallDescriptionBytes = 256;

/// Returns the most memory that the datatype of a transfer takes, 0 where it hardly takes any;
/// `body` is that of the request.
int64_t memory_of_description(std::span<const std::byte> body) {
  wire::Reader reader(body);
  wire::Transfer().get(reader);
  const auto bytes = static_cast<int64_t>(body.size());
  return wire::Region::is_type(reader) && bytes > kSmallDescriptionBytes ? bytes * kDescriptionFactor : 0;
}

// Rows and blocks between their pieces: so many go to the object at once, however many a payload
// has. So many ranges of other servers are skipped. Then other connections have their turn.
constexpr int64_t kMostBlocks = 4096;
constexpr int64_t kMostLooks = 1 << 14;
// A run of so many bytes or more is sent as it lies in the system's cache.
constexpr int64_t kWorthViewBytes = int64_t{32} << 10;

/// Gives places of a slot as rows, in the request's order, up to where the slot's bytes end.
class Places {
 public:
  Places(const Request& request, int64_t end)
      : walk_(request.region, request.transfer.layout, request.transfer.slot), end_(end) {}
  bool done() const { return next_.count == 0 && walk_.done(); }

  /// False when only another step() will tell whether there are more.
  bool settled() const { return done() || next_.count > 0; }

  /// Moves at most `bytes` by one call of move(rows), fewer when that would take long. Sets
  /// `*moved`.
  template <typename Move>
  Status step(int64_t bytes, int64_t* moved, Move move) {
    STRIA_CHECK(bytes >= 0, bytes);
    *moved = 0;
    rows_.clear();
    int64_t looks = kMostLooks;
    int64_t blocks = kMostBlocks;
    find_next(looks);
    while (*moved < bytes && next_.count > 0 && blocks > 0) {
      const PieceRow now = take(bytes - *moved, blocks);
      append(rows_, now);
      *moved += now.bytes();
      blocks -= 1 + (now.count - 1) * now.stride / kBlockBytes;
      find_next(looks);
    }
    STRIA_CHECK(*moved <= bytes, *moved, bytes);  // there is memory for no more
    return rows_.empty() ? Status() : move(std::span<const PieceRow>(rows_));
  }

  /// Returns the next place, if it is as long as `least`, and at most `most` of it; otherwise
  /// empty, and nothing is taken. Afterwards it may not be settled.
  ByteRange take_long(int64_t least, int64_t most) {
    int64_t looks = kMostLooks;
    find_next(looks);
    if (next_.count == 0 || next_.piece_bytes - used_ < least) {
      return {};
    }
    const PieceRow taken = take(std::min(most, next_.piece_bytes - used_), kMostBlocks);
    find_next(looks);
    return {taken.begin, taken.end()};
  }

 private:
  void find_next(int64_t& looks) {
    if (next_.count == 0) {
      next_ = std::exchange(rest_, {});
    }
    while (next_.count == 0 && !walk_.done() && looks > 0) {
      next_ = walk_.next(&looks);
      if (next_.count > 0 && next_.end() > end_) {
        cut_at_end();
      }
    }
  }

  /// Only one of a row's pieces can lie across the end.
  void cut_at_end() {
    const int64_t room = std::max<int64_t>(end_ - next_.begin, 0);
    const int64_t begun = next_.count == 1 ? int64_t{room > 0} : (room + next_.stride - 1) / next_.stride;
    next_.count = std::min(next_.count, begun);
    if (const int64_t over = next_.count > 0 ? next_.end() - end_ : 0; over > 0) {
      --next_.count;
      rest_ = {next_.begin + next_.count * next_.stride, next_.piece_bytes - over, 0, 1};
    }
    if (next_.count == 0) {
      next_ = std::exchange(rest_, {});
    }
  }

  /// Takes whole pieces, or a part of one: at most `most` bytes, over at most `blocks` blocks.
  PieceRow take(int64_t most, int64_t blocks) {
    if (used_ > 0 || most < next_.piece_bytes) {
      const PieceRow part{next_.begin + used_, std::min(most, next_.piece_bytes - used_), 0, 1};
      used_ += part.piece_bytes;
      if (used_ == next_.piece_bytes) {
        drop(1);
      }
      return part;
    }
    PieceRow now = next_;
    if (now.count > 1) {
      now.count = std::min({now.count, most / now.piece_bytes, 1 + blocks * kBlockBytes / now.stride});
    }
    drop(now.count);
    return now;
  }
  void drop(int64_t pieces) {
    STRIA_ASSERT(0 < pieces && pieces <= next_.count, pieces, next_.count);
    next_.begin += pieces * next_.stride;
    next_.count -= pieces;
    used_ = 0;
  }

  wire::SlotWalk walk_;
  int64_t end_;
  PieceRow next_;
  int64_t used_ = 0;  // bytes of the first of them
  PieceRow rest_;     // the piece behind them that the end has cut
  std::vector<PieceRow> rows_;
};

/// Returns the run as it lies in the system's cache; none when it is empty, or must be read.
Status view_of(Object* object, ByteRange run, std::optional<BlockView>& view) {
  if (object == nullptr || run.empty()) {
    return {};
  }
  STRIA_ASSIGN_OR_RETURN(view, object->view(run));
  return {};
}

/// Writes the rows. Their client needs no right to make the part longer when it moves the part:
/// what it writes was allowed to others before.
Status write_rows(SharedState& shared, Object& object, const wire::Transfer& transfer, std::span<const PieceRow> rows,
                  const std::byte* data) {
  int64_t end = 0;
  for (const PieceRow& row : rows) {
    end = std::max(end, row.end());
  }
  const bool grows = end > object.bytes();
  if (grows && (transfer.ticket.rights & wire::kMayMove) == 0) {
    STRIA_RETURN_IF_ERROR(shared.growth.check(transfer.file));
  }
  const Status written = object.write(rows, data);
  shared.moving.changed(transfer.file, rows);
  if (grows) {
    shared.growth.changed(transfer.file);
  }
  return written;
}

/// Moves `bytes` of data, or as many as there are places for, by calls of move(rows, offset among
/// these bytes). Sets `*moved`. Afterwards it is known whether there are more places.
template <typename Move>
asio::awaitable<Status> move_all(Stream& stream, Places& places, int64_t bytes, int64_t* moved, Move move) {
  *moved = 0;
  while (true) {
    int64_t now = 0;
    const Status outcome =
        places.step(bytes - *moved, &now, [&](std::span<const PieceRow> some) { return move(some, *moved); });
    *moved += now;
    if (!outcome.ok() || places.done() || (*moved == bytes && places.settled())) {
      co_return outcome;
    }
    if (!stream.is_open()) {
      throw Error(ErrorCode::kAborted, "nobody waits for the answer");
    }
    co_await asio::post(asio::use_awaitable);
  }
}

/// Null when the file has no bytes here, and none are to be written.
Status find_object(Client& client, const wire::Transfer& transfer, uint8_t right, std::shared_ptr<Object>& object) {
  const uint64_t file = wire::file_of_part(transfer.file);
  STRIA_RETURN_IF_ERROR(client.shared->tickets.check(file, transfer.ticket, right, client.known_tickets));
  const wire::Striped place{transfer.layout.stripe_bytes, transfer.layout.slot_count, transfer.slot};
  const bool writes = right == wire::kMayWrite;
  const PartUse use{transfer.file, transfer.ticket, writes, writes ? place : wire::Striped()};
  STRIA_ASSIGN_OR_RETURN(object, find_part(*client.shared, use));
  return {};
}

// The rest of the stream is still taken after an error, so that the connection stays in step.
asio::awaitable<void> write_data(Client& client, std::byte* buffer) {
  SharedState& shared = *client.shared;
  Messages& messages = client.messages;
  const std::vector<std::byte> request_body = messages.take_body();
  const uint64_t number = messages.header().request;
  const auto request = Request::decode(request_body);
  Status outcome = request.status();
  std::shared_ptr<Object> object;
  std::optional<Places> places;
  if (outcome.ok()) {
    outcome = find_object(client, request->transfer, wire::kMayWrite, object);
    places.emplace(*request, INT64_MAX);
  }
  while (true) {
    co_await messages.receive_payload(buffer);
    const wire::Header header = messages.header();
    const std::span<const std::byte> payload(buffer, header.payload_bytes);
    if (outcome.ok() && !payload.empty() && hash_bytes(payload) != header.payload_sum) {
      outcome = Status(ErrorCode::kAborted, "data changed on their way to the server");
    }
    if (outcome.ok()) {
      int64_t moved = 0;
      outcome = co_await move_all(messages.stream(), *places, header.payload_bytes, &moved,
                                  [&](std::span<const PieceRow> some, int64_t offset) {
                                    return write_rows(shared, *object, request->transfer, some, buffer + offset);
                                  });
      shared.counters.written_bytes += moved;
      if (outcome.ok() && moved != header.payload_bytes) {
        outcome = Status(ErrorCode::kFormat, "more data than the request names");
      }
    }
    if (!header.more) {
      break;
    }
    co_await messages.receive(shared.patience.message);
    if (messages.header().kind != Kind::kData || messages.header().request != number) {
      throw Error(ErrorCode::kFormat, "a request in the middle of data");
    }
  }
  if (outcome.ok() && !places->done()) {
    outcome = Status(ErrorCode::kFormat, "less data than the request names");
  }
  if (outcome.ok()) {
    co_await messages.reply(wire::reply_to(Kind::kWrite), {});
  } else {
    co_await messages.refuse(outcome);
  }
}

asio::awaitable<void> read_data(Client& client, std::byte* buffer) {
  Messages& messages = client.messages;
  if (messages.header().payload_bytes != 0 || messages.header().more) {
    throw Error(ErrorCode::kFormat, "data where none belong");
  }
  const auto request = Request::decode(messages.body());
  Status outcome = request.status();
  std::shared_ptr<Object> object;
  if (outcome.ok()) {
    outcome = find_object(client, request->transfer, wire::kMayRead, object);
  }
  if (!outcome.ok()) {
    co_await messages.refuse(outcome);
    co_return;
  }
  const wire::Extent extent = object == nullptr ? wire::Extent() : wire::Extent{object->bytes(), 0};
  Places places(*request, extent.local_bytes);
  const std::vector<std::byte> extent_body = wire::encode(extent);
  std::span<const std::byte> body = extent_body;
  wire::Header header;
  header.kind = wire::reply_to(Kind::kRead);
  do {
    const ByteRange run = places.take_long(kWorthViewBytes, wire::kMaxPayloadBytes);
    std::optional<BlockView> view;
    outcome = view_of(object.get(), run, view);
    int64_t bytes = run.size();
    if (outcome.ok() && view == std::nullopt && !run.empty()) {
      const PieceRow whole{run.begin, run.size(), 0, 1};
      outcome = object->read({&whole, 1}, buffer);
    }
    if (outcome.ok()) {
      // The rest of the payload follows; after a run only what tells whether there is more.
      const int64_t rest = run.empty() ? static_cast<int64_t>(wire::kMaxPayloadBytes) : 0;
      int64_t moved = 0;
      outcome = co_await move_all(messages.stream(), places, rest, &moved, [&](std::span<const PieceRow> some, int64_t offset) {
        return object->read(some, buffer + offset);
      });
      bytes += moved;
    }
    if (!outcome.ok()) {
      co_await messages.refuse(outcome);
      co_return;
    }
    STRIA_CHECK(bytes <= static_cast<int64_t>(wire::kMaxPayloadBytes) && (run.empty() || bytes == run.size()), bytes,
                run.size());
    client.shared->counters.read_bytes += bytes;
    header.more = !places.done();
    Payload payload{{buffer, static_cast<size_t>(bytes)}, 0};
    if (view) {
      payload = {view->bytes, view->sum};
    } else if (bytes > 0) {
      payload.sum = hash_bytes(payload.data);
    }
    co_await messages.send(header, body, payload);
    if (view) {
      object->sent(*view);
    }
    header.kind = Kind::kData;
    body = {};
  } while (header.more);
}

}  // namespace

asio::awaitable<void> move_data(Client& client) {
  Messages& messages = client.messages;
  const int64_t description_bytes = memory_of_description(messages.body());
  const Budget::Share description = co_await messages.wait_for(client.shared->descriptions, description_bytes);
  const Budget::Share share = co_await messages.wait_for(client.shared->buffers.budget(), 1);
  Buffers::Lease lease = client.shared->buffers.take();
  if (messages.header().kind == Kind::kWrite) {
    co_await write_data(client, lease.data());
  } else {
    co_await read_data(client, lease.data());
  }
}

}  // namespace stria::server
