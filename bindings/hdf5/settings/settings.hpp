// Describes what the user says by environment variables. Each is read once, but for STRIA_HDF5,
// which a program may change: tests do, which compare a connector with HDF5 itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stria::hdf5 {

/// Parses a number of bytes: digits, and K, M or G behind them, with "iB" or without. No value
/// where the text is anything else.
std::optional<int64_t> parse_bytes(std::string_view text);

/// Tells whether there is STRIA_HDF5=off.
bool is_turned_off();

/// Returns how many bytes, by STRIA_HDF5_BUFFER, a transfer may be packed in.
int64_t most_buffer_bytes();

/// STRIA_HDF5_DEFER: how many bytes may be held; 0 without it.
int64_t most_held_bytes();
/// "STRIA_HDF5_DEFER=256M,background": what is held is written while the program goes on.
bool travels_in_background();

}  // namespace stria::hdf5
