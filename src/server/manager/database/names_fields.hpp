// Values of columns that more than one table has.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.hpp"
#include "wire/form/codec.hpp"

namespace stria::server {

inline int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

inline std::vector<std::byte> encode_servers(const std::vector<int64_t>& servers) {
  std::vector<std::byte> bytes;
  wire::Writer writer(bytes);
  for (const int64_t server : servers) {
    STRIA_CHECK(0 <= server && server <= UINT32_MAX, server);
    writer.fixed(static_cast<uint32_t>(server));
  }
  return bytes;
}

inline std::vector<int64_t> decode_servers(std::span<const std::byte> bytes) {
  std::vector<int64_t> servers;
  wire::Reader reader(bytes);
  for (size_t i = 0; i < bytes.size() / sizeof(uint32_t); ++i) {
    servers.push_back(reader.fixed<uint32_t>());
  }
  return servers;
}

}  // namespace stria::server
