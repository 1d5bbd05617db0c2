#include "file/meet/part_exchange.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "base/check.hpp"

namespace stria::file {

namespace {

constexpr int kTag = 32030;
constexpr int64_t kNoMemory = -1;  // instead of a size: the sender has run out of memory

}  // namespace

void PartExchange::start(Comm& comm, std::vector<std::byte> part) {
  STRIA_CHECK(!started());
  comm_ = &comm;
  if (comm.rank() == 0) {
    make_room(0, 0);
    if (status_.ok()) {
      parts_[0] = std::move(part);
    }
    return;
  }
  part_ = std::move(part);
  part_bytes_ = static_cast<int64_t>(part_.size());
  try {
    sends_.reserve((part_.size() + kMessageBytes - 1) / kMessageBytes);
  } catch (const std::bad_alloc&) {
    part_.clear();
    part_bytes_ = kNoMemory;
  }
  size_send_ = comm.send(std::as_bytes(std::span(&part_bytes_, 1)), 0, kTag);
  for (size_t at = 0; at < part_.size(); at += kMessageBytes) {
    sends_.push_back(comm.send(std::span(part_).subspan(at, std::min(kMessageBytes, part_.size() - at)), 0, kTag));
  }
}

void PartExchange::finish() {
  STRIA_CHECK(started());
  if (comm_->rank() == 0) {
    for (int from = 1; from < comm_->size(); ++from) {
      receive_part(from);
    }
    return;
  }
  comm_->wait(*size_send_);
  for (const auto& send : sends_) {
    comm_->wait(*send);
  }
}

// Receives its size, then the part in messages.
void PartExchange::receive_part(int from) {
  int64_t left_bytes = 0;
  comm_->wait(*comm_->receive(std::as_writable_bytes(std::span(&left_bytes, 1)), from, kTag));
  if (left_bytes == kNoMemory) {
    note_no_memory(from);
    return;
  }
  STRIA_CHECK(left_bytes >= 0, left_bytes, from);
  make_room(from, left_bytes);
  while (left_bytes > 0) {
    std::array<std::byte, kMessageBytes> message;
    const auto arriving = std::span(message).first(std::min(static_cast<size_t>(left_bytes), message.size()));
    comm_->wait(*comm_->receive(arriving, from, kTag));
    if (status_.ok()) {
      std::vector<std::byte>& part = parts_[static_cast<size_t>(from)];
      part.insert(part.end(), arriving.begin(), arriving.end());
    }
    left_bytes -= static_cast<int64_t>(arriving.size());
  }
}

void PartExchange::make_room(int from, int64_t bytes) {
  try {
    parts_.resize(static_cast<size_t>(comm_->size()));
    parts_[static_cast<size_t>(from)].reserve(static_cast<size_t>(bytes));
  } catch (const std::bad_alloc&) {
    note_no_memory(0);
  }
}

void PartExchange::note_no_memory(int rank) {
  if (status_.ok()) {
    status_ = Status(ErrorCode::kResourceExhausted, "rank " + std::to_string(rank) + ": out of memory for what was gathered");
  }
}

Result<std::vector<std::vector<std::byte>>> PartExchange::take() {
  if (!status_.ok()) {
    return status_;
  }
  STRIA_CHECK(started() && parts_.size() == static_cast<size_t>(comm_->size()), parts_.size());
  return std::move(parts_);
}

}  // namespace stria::file
