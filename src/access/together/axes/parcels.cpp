#include "access/together/axes/parcels.hpp"

#include <cstring>

#include "base/check.hpp"

namespace stria::access {

namespace {

bool is_possible(const ParcelHeader& header, size_t left_bytes, int rank_count, int column_count) {
  const auto left = static_cast<int64_t>(left_bytes);
  return header.origin >= 0 && header.origin < rank_count && header.column >= 0 && header.column < column_count &&
         header.description_bytes >= 0 && header.payload_bytes >= 0 && header.description_bytes <= left &&
         header.payload_bytes <= left - header.description_bytes;
}

}  // namespace

size_t append_parcel(const ParcelHeader& header, std::span<const std::byte> description, std::vector<std::byte>& message) {
  STRIA_CHECK(header.description_bytes == static_cast<int64_t>(description.size()) && header.payload_bytes >= 0,
              header.description_bytes, description.size(), header.payload_bytes);
  const auto numbers = std::as_bytes(std::span(&header, 1));
  message.insert(message.end(), numbers.begin(), numbers.end());
  message.insert(message.end(), description.begin(), description.end());
  const size_t payload = message.size();
  message.resize(payload + static_cast<size_t>(header.payload_bytes));
  return payload;
}

Result<std::vector<Parcel>> parcels_of(std::span<std::byte> message, int rank_count, int column_count) {
  std::vector<Parcel> parcels;
  while (!message.empty()) {
    Parcel parcel;
    if (message.size() < sizeof parcel.header) {
      return Status(ErrorCode::kFormat, "a parcel between ranks is cut short");
    }
    std::memcpy(&parcel.header, message.data(), sizeof parcel.header);
    if (!is_possible(parcel.header, message.size() - sizeof parcel.header, rank_count, column_count)) {
      return Status(ErrorCode::kFormat, "a parcel between ranks names an impossible rank or size");
    }
    const auto description_bytes = static_cast<size_t>(parcel.header.description_bytes);
    const auto payload_bytes = static_cast<size_t>(parcel.header.payload_bytes);
    parcel.description = message.subspan(sizeof parcel.header, description_bytes);
    parcel.payload = message.subspan(sizeof parcel.header + description_bytes, payload_bytes);
    parcel.whole = message.first(sizeof parcel.header + description_bytes + payload_bytes);
    message = message.subspan(parcel.whole.size());
    parcels.push_back(parcel);
  }
  return parcels;
}

}  // namespace stria::access
