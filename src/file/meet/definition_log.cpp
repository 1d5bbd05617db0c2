#include "file/meet/definition_log.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/out_of_memory.hpp"
#include "file/meet/message_fields.hpp"

namespace stria::file {

namespace {

constexpr int64_t kNowhere = std::numeric_limits<int64_t>::max();

/// Decodes the text that a rank sends; no call when it made fewer calls.
DefinitionText decode(std::span<const std::byte> message) {
  FieldReader fields(message);
  DefinitionText text;
  text.call = fields.text();
  for (int64_t left = fields.number(); left > 0 && fields.well(); --left) {
    std::string name = fields.text();
    text.arguments.emplace_back(std::move(name), fields.text());
  }
  STRIA_CHECK(fields.is_whole(), text.call, message.size());
  return text;
}

std::string compare(const DefinitionText& first, const DefinitionText& other, int rank) {
  if (first.call.empty() || other.call.empty()) {
    const bool by_first = other.call.empty();
    return fmt::format("{} is called by rank {} and not by rank {}", by_first ? first.call : other.call, by_first ? 0 : rank,
                       by_first ? rank : 0);
  }
  if (first.call != other.call) {
    return fmt::format("rank 0 calls {} where rank {} calls {}", first.call, rank, other.call);
  }
  for (size_t i = 0; i < first.arguments.size() && i < other.arguments.size(); ++i) {
    const auto& [name, value] = first.arguments[i];
    if (value != other.arguments[i].second) {
      return fmt::format("{}: {} is {} on rank 0 and {} on rank {}", first.call, name, value, other.arguments[i].second, rank);
    }
  }
  return fmt::format("{}: ranks 0 and {} differ", first.call, rank);
}

/// Broadcasts what `make` returns on rank `root`, also where memory is scarce: nothing, where it is
/// scarce there. Collective: yes.
template <typename Make>
Result<std::vector<std::byte>> tell_all(Comm& comm, int root, Make&& make) {
  std::vector<std::byte> message;
  Status outcome = or_out_of_memory([&] {
    if (comm.rank() == root) {
      message = make();
    }
    return Status();
  });
  outcome.update(or_out_of_memory([&] {
    broadcast_bytes(comm, message, root);
    return Status();
  }));
  return outcome.ok() ? Result<std::vector<std::byte>>(std::move(message)) : outcome;
}

}  // namespace

uint64_t combine_hashes(uint64_t seed, uint64_t value) {
  const std::array<uint64_t, 2> both = {seed, value};
  return hash_bytes(std::as_bytes(std::span(both)));
}

void DefinitionLog::add(uint64_t arguments, uint64_t content, Describe describe) {
  entries_.push_back({arguments, content});
  descriptions_.push_back(std::move(describe));
  hash_ = combine_hashes(hash_, arguments);
  content_hash_ = combine_hashes(content_hash_, content);
  has_all_contents_ = has_all_contents_ && content != 0;
}

int64_t DefinitionLog::first_difference(const std::vector<Entry>& expected) const {
  const size_t both = std::min(expected.size(), entries_.size());
  for (size_t i = 0; i < both; ++i) {
    const Entry &mine = entries_[i], &other = expected[i];
    const bool other_content = mine.content != 0 && other.content != 0 && mine.content != other.content;
    if (mine.arguments != other.arguments || other_content) {
      return static_cast<int64_t>(i);
    }
  }
  return expected.size() == entries_.size() ? kNowhere : static_cast<int64_t>(both);
}

std::vector<std::byte> DefinitionLog::told(int64_t number) const {
  DefinitionText text;
  if (number < static_cast<int64_t>(descriptions_.size())) {
    text = descriptions_[static_cast<size_t>(number)]();
  }
  FieldWriter fields;
  fields.text(text.call);
  fields.number(static_cast<int64_t>(text.arguments.size()));
  for (const auto& [name, value] : text.arguments) {
    fields.text(name);
    fields.text(value);
  }
  return fields.take();
}

// A rank without memory knows of no difference, and takes part in what tells others of it.
Status DefinitionLog::explain(Comm& comm) const {
  const auto message = tell_all(comm, 0, [this] {
    const auto own = std::as_bytes(std::span(entries_));
    return std::vector<std::byte>(own.begin(), own.end());
  });
  const Result<int64_t> difference = or_out_of_memory([&]() -> Result<int64_t> {
    STRIA_RETURN_IF_ERROR(message.status());
    STRIA_CHECK(message->size() % sizeof(Entry) == 0, message->size());
    std::vector<Entry> expected(message->size() / sizeof(Entry));
    if (!expected.empty()) {
      std::memcpy(expected.data(), message->data(), message->size());
    }
    return first_difference(expected);
  });
  std::array<int64_t, 1> number = {difference.ok() ? *difference : kNowhere};
  const int64_t mine = number[0];
  comm.all_reduce(std::span<int64_t>(number), ReduceOp::kMin);
  if (number[0] == kNowhere) {
    return difference.status();
  }
  std::array<int64_t, 1> rank = {mine == number[0] ? comm.rank() : kNowhere};
  comm.all_reduce(std::span<int64_t>(rank), ReduceOp::kMin);
  const auto other = static_cast<int>(rank[0]);
  const auto first_words = tell_all(comm, 0, [&] { return told(number[0]); });
  const auto other_words = tell_all(comm, other, [&] { return told(number[0]); });
  return or_out_of_memory([&]() -> Status {
    STRIA_RETURN_IF_ERROR(first_words.status());
    STRIA_RETURN_IF_ERROR(other_words.status());
    if (first_words->empty() || other_words->empty()) {
      return Status(ErrorCode::kResourceExhausted,
                    fmt::format("rank {} has no memory for its words", first_words->empty() ? 0 : other));
    }
    return Status(ErrorCode::kInvalidArgument, compare(decode(*first_words), decode(*other_words), other));
  });
}

}  // namespace stria::file
