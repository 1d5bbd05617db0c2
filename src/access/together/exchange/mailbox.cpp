#include "access/together/exchange/mailbox.hpp"

#include <cstring>
#include <utility>

#include "base/check.hpp"

namespace stria::access {

void Mailbox::post(std::vector<Posted>& list, std::vector<std::byte>&& data, int to, int tag) {
  STRIA_ASSERT(0 <= to && to < comm_.size() && to != comm_.rank(), to, comm_.size(), tag);
  memory_.surely([&] { list.emplace_back(); });
  list.back().data = std::move(data);
  memory_.surely([&] { list.back().request = comm_.send(list.back().data, to, tag); });
}

void Mailbox::wait_for(std::vector<Posted>& list) {
  for (Posted& message : list) {
    comm_.wait(*message.request);
  }
  list.clear();
}

std::vector<std::byte> Mailbox::token_bytes(std::span<const int64_t> values) {
  auto data = memory_.surely([&] { return std::vector<std::byte>(values.size_bytes()); });
  std::memcpy(data.data(), values.data(), values.size_bytes());
  return data;
}

void Mailbox::post_numbers(int to, int tag, std::span<const int64_t> values) {
  post(posted_, token_bytes(values), to, tag);
}
void Mailbox::post_lasting_token(int to, int tag, int64_t value) {
  post(lasting_, token_bytes({&value, 1}), to, tag);
}
void Mailbox::post_bytes(std::vector<std::byte> data, int to, int tag) {
  post(posted_, std::move(data), to, tag);
}
void Mailbox::post_payload(std::unique_ptr<std::byte[]> data, int64_t bytes, int to, int tag) {
  STRIA_ASSERT(data != nullptr && bytes > 0 && 0 <= to && to < comm_.size(), bytes, to, tag);
  const std::span<const std::byte> whole(data.get(), static_cast<size_t>(bytes));
  memory_.surely([&] { posted_.emplace_back(); });
  posted_.back().payload = std::move(data);
  memory_.surely([&] { posted_.back().request = comm_.send(whole, to, tag); });
}
void Mailbox::post_kept_bytes(std::span<const std::byte> data, int to, int tag) {
  memory_.surely([&] { posted_.emplace_back(); });
  memory_.surely([&] { posted_.back().request = comm_.send(data, to, tag); });
}
void Mailbox::drain() {
  wait_for(posted_);
}
void Mailbox::finish() {
  wait_for(lasting_);
}

int64_t Mailbox::receive_token(int from, int tag) {
  int64_t value = 0;
  receive(std::as_writable_bytes(std::span(&value, 1)), from, tag);
  return value;
}

void Mailbox::receive(std::span<std::byte> data, int from, int tag) {
  STRIA_ASSERT(0 <= from && from < comm_.size() && from != comm_.rank(), from, comm_.size(), tag);
  auto request = memory_.surely([&] { return comm_.receive(data, from, tag); });
  comm_.wait(*request);
}

}  // namespace stria::access
