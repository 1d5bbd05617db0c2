#include "file/part_exchange.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <string>
#include <utility>

namespace stria::file {

namespace {

constexpr int kTag = 32030;
constexpr int64_t kNoMemory = -1;  // instead of a size: the sender has run out of memory

}  // namespace

void PartExchange::start(Comm& comm, std::vector<std::byte> part) {
  comm_ = &comm;
  if (comm.rank() == 0) {
    make_room();
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

bool PartExchange::test() {
  return advance(false);
}

void PartExchange::finish() {
  advance(true);
}

bool PartExchange::advance(bool wait) {
  return comm_->rank() == 0 ? receive_parts(wait) : end_sends(wait);
}

bool PartExchange::is_done(CommRequest& request, bool wait) {
  if (wait) {
    comm_->wait(request);
    return true;
  }
  return request.test();
}

bool PartExchange::end_sends(bool wait) {
  while (!sends_.empty() && is_done(*sends_.back(), wait)) {
    sends_.pop_back();
  }
  return sends_.empty() && is_done(*size_send_, wait);
}

// Takes what is there, or everything: of each rank the size of its part, then the part.
bool PartExchange::receive_parts(bool wait) {
  while (from_ < comm_->size()) {
    if (arriving_ == nullptr) {
      const auto place =
          size_known_ ? std::span(message_).first(message_bytes()) : std::as_writable_bytes(std::span(&part_bytes_, 1));
      arriving_ = comm_->receive(place, from_, kTag);
    }
    if (!is_done(*arriving_, wait)) {
      return false;
    }
    arriving_.reset();
    if (size_known_) {
      keep_message();
    } else {
      size_known_ = true;
      left_bytes_ = std::max<int64_t>(part_bytes_, 0);
      part_bytes_ == kNoMemory ? note_no_memory(from_) : make_room();
    }
    if (left_bytes_ == 0) {
      size_known_ = false;
      ++from_;
    }
  }
  return true;
}

size_t PartExchange::message_bytes() const {
  return static_cast<size_t>(std::min(left_bytes_, static_cast<int64_t>(kMessageBytes)));
}

// For all parts, and for the one that is coming.
void PartExchange::make_room() {
  try {
    parts_.resize(static_cast<size_t>(comm_->size()));
    if (size_known_) {
      parts_[static_cast<size_t>(from_)].reserve(static_cast<size_t>(left_bytes_));
    }
  } catch (const std::bad_alloc&) {
    note_no_memory(0);
  }
}

void PartExchange::note_no_memory(int rank) {
  if (status_.ok()) {
    status_ = Status(ErrorCode::kResourceExhausted, "rank " + std::to_string(rank) + ": out of memory for what was gathered");
  }
}

void PartExchange::keep_message() {
  if (status_.ok()) {
    std::vector<std::byte>& part = parts_[static_cast<size_t>(from_)];
    part.insert(part.end(), message_.begin(), message_.begin() + static_cast<std::ptrdiff_t>(message_bytes()));
  }
  left_bytes_ -= static_cast<int64_t>(message_bytes());
}

Result<std::vector<std::vector<std::byte>>> PartExchange::take() {
  if (!status_.ok()) {
    return status_;
  }
  return std::move(parts_);
}

}  // namespace stria::file
