#include "comm/simulated/message_collectives.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "base/check.hpp"
#include "comm/reduced.hpp"

namespace stria {

namespace {

constexpr int kCollectiveTag = -1;

}  // namespace

void MessageCollectives::send_now(std::span<const std::byte> data, int to) {
  const std::unique_ptr<CommRequest> request = send(data, to, kCollectiveTag);
  wait(*request);
}

void MessageCollectives::receive_now(std::span<std::byte> data, int from) {
  const std::unique_ptr<CommRequest> request = receive(data, from, kCollectiveTag);
  wait(*request);
}

void MessageCollectives::exchange(std::span<const std::byte> sent, int to, std::span<std::byte> received, int from) {
  const std::unique_ptr<CommRequest> receiving = receive(received, from, kCollectiveTag);
  const std::unique_ptr<CommRequest> sending = send(sent, to, kCollectiveTag);
  wait(*receiving);
  wait(*sending);
}

void MessageCollectives::barrier() {
  for (int distance = 1; distance < size(); distance *= 2) {
    exchange({}, (rank() + distance) % size(), {}, (rank() - distance + size()) % size());
  }
}

void MessageCollectives::broadcast(std::span<std::byte> data, int root) {
  const int place = (rank() - root + size()) % size();
  int reach = 1;  // the lowest bit set of this rank's place, or past the end for the root
  while (reach < size() && (place & reach) == 0) {
    reach *= 2;
  }
  if (place != 0) {
    receive_now(data, (place - reach + root) % size());
  }
  for (int distance = reach / 2; distance >= 1; distance /= 2) {
    if (place + distance < size()) {
      send_now(data, (place + distance + root) % size());
    }
  }
}

void MessageCollectives::all_reduce(std::span<int64_t> values, ReduceOp op) {
  std::vector<int64_t> other(values.size());
  for (int distance = 1; distance < size(); distance *= 2) {
    if ((rank() & distance) != 0) {
      send_now(std::as_bytes(values), rank() - distance);
      break;
    }
    if (rank() + distance < size()) {
      receive_now(std::as_writable_bytes(std::span(other)), rank() + distance);
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = reduced(values[i], other[i], op);
      }
    }
  }
  broadcast(std::as_writable_bytes(values), 0);
}

void MessageCollectives::exclusive_scan(std::span<int64_t> values) {
  // The sum over the `distance` ranks up to this one.
  std::vector<int64_t> covered(values.begin(), values.end());
  std::vector<int64_t> other(values.size());
  std::fill(values.begin(), values.end(), 0);
  for (int distance = 1; distance < size(); distance *= 2) {
    std::unique_ptr<CommRequest> sending;
    const std::vector<int64_t> sent = covered;
    if (rank() + distance < size()) {
      sending = send(std::as_bytes(std::span(sent)), rank() + distance, kCollectiveTag);
    }
    if (rank() >= distance) {
      receive_now(std::as_writable_bytes(std::span(other)), rank() - distance);
      std::transform(values.begin(), values.end(), other.begin(), values.begin(), std::plus<>());
      std::transform(covered.begin(), covered.end(), other.begin(), covered.begin(), std::plus<>());
    }
    if (sending != nullptr) {
      wait(*sending);
    }
  }
}

void MessageCollectives::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  STRIA_CHECK(all.size() == static_cast<size_t>(size()) * mine.size(), all.size(), mine.size());
  const size_t bytes = mine.size();
  std::vector<std::byte> shares(all.size());  // those of this rank, of the next, and so on around
  std::copy(mine.begin(), mine.end(), shares.begin());
  for (int have = 1; have < size(); have *= 2) {
    const size_t moved = bytes * static_cast<size_t>(std::min(have, size() - have));
    exchange(std::span(shares).first(moved), (rank() - have + size()) % size(),
             std::span(shares).subspan(bytes * static_cast<size_t>(have), moved), (rank() + have) % size());
  }
  const int64_t first = static_cast<int64_t>(bytes) * (size() - rank());
  std::rotate_copy(shares.begin(), shares.begin() + first, shares.end(), all.begin());
}

void MessageCollectives::gather(std::span<const std::byte> mine, int root, const PieceTaker& take) {
  STRIA_CHECK(mine.size() <= kGatherBytesMax, mine.size());
  int64_t bytes = static_cast<int64_t>(mine.size());
  if (rank() != root) {
    send_now(std::as_bytes(std::span(&bytes, 1)), root);
    send_now(mine, root);
    return;
  }
  std::array<std::byte, kGatherBytesMax> piece;
  for (int from = 0; from < size(); ++from) {
    if (from == root) {
      take(root, mine);
      continue;
    }
    receive_now(std::as_writable_bytes(std::span(&bytes, 1)), from);
    const auto received = std::span(piece).first(static_cast<size_t>(bytes));
    receive_now(received, from);
    take(from, received);
  }
}

}  // namespace stria
