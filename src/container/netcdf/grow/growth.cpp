#include "container/netcdf/grow/growth.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/byte_range.hpp"
#include "container/netcdf/grow/records_writer.hpp"

namespace stria::container::netcdf {

namespace {

// A disk writes a sector whole.
constexpr int64_t kSectorBytes = 512;
constexpr int64_t kPieceBytes = 1 << 20;

}  // namespace

NetcdfGrowth::NetcdfGrowth(std::unique_ptr<NetcdfReader> reader) : reader_(std::move(reader)) {
  fixed_end_ = header().bytes;
  bool has_records = false;
  for (const FoundVariable& variable : header().variables) {
    if (!variable.is_record) {
      fixed_end_ = std::max(fixed_end_, variable.begin + variable.row_bytes);
    } else if (!has_records || variable.begin < records_begin_) {
      records_begin_ = variable.begin;
      has_records = true;
    }
  }
  const int64_t records_end = has_records ? records_begin_ + header().record_count * header().record_bytes : 0;
  end_ = align_up(std::max(fixed_end_, records_end), kUnitBytes);
}

Result<std::unique_ptr<NetcdfGrowth>> NetcdfGrowth::open(storage::File& file) {
  STRIA_ASSIGN_OR_RETURN(auto reader, NetcdfReader::open(file));
  reader->keep_places();
  std::unique_ptr<NetcdfGrowth> growth(new NetcdfGrowth(std::move(reader)));
  growth->first_bytes_.resize(static_cast<size_t>(std::min(growth->header().bytes, kSectorBytes)));
  const storage::ReadSegment first{0, growth->first_bytes_.data(), static_cast<int64_t>(growth->first_bytes_.size())};
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, file.read({&first, 1}));
  return bytes == first.bytes ? Result<std::unique_ptr<NetcdfGrowth>>(std::move(growth))
                              : Status(ErrorCode::kCorrupted, file.path() + ": the file is cut short");
}

// Tells whether there is anything but zeros from the end on.
Result<bool> NetcdfGrowth::has_more() const {
  std::vector<std::byte> bytes;
  for (int64_t at = end_; at < reader_->file_bytes(); at += kPieceBytes) {
    bytes.resize(static_cast<size_t>(std::min(kPieceBytes, reader_->file_bytes() - at)));
    STRIA_RETURN_IF_ERROR(reader_->read(at, bytes));
    if (std::any_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte != std::byte{0}; })) {
      return true;
    }
  }
  return false;
}

// Records that the header doesn't count: another program has not come to it. What a killed program
// has left of records that have sums is no such thing.
Status NetcdfGrowth::check_count() const {
  const int64_t more = (reader_->file_bytes() - end_) / header().record_bytes;
  if (more < 1 || reader_->is_summed()) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const bool has_content, has_more());
  const int count_end = header().version == Version::kCdf5 ? 12 : 8;
  return has_content
             ? Status(ErrorCode::kUnsupported,
                      fmt::format("its header counts {} records, and the file has {} more behind them, which would be lost: to "
                                  "keep them, write {} as the count (bytes 4 to {}, the highest first); else cut the file to "
                                  "{} bytes (truncate -s {} FILE)",
                                  header().record_count, more, header().record_count + more, count_end - 1, end_, end_))
             : Status();
}

Status NetcdfGrowth::check() const {
  if (header().record_bytes == 0) {
    return Status();  // attributes may be changed
  }
  if (!reader_->remarks().empty()) {
    return Status(ErrorCode::kUnsupported, "it ends before its data do: a record behind them would be read in their place");
  }
  STRIA_RETURN_IF_ERROR(header().tells_records ? check_count() : Status());
  if (!header().tells_records) {
    return Status(ErrorCode::kUnsupported, "its header doesn't say how many records it has");
  }
  return fixed_end_ <= records_begin_
             ? Status()
             : Status(ErrorCode::kUnsupported, "it has other data behind its records, which can't grow");
}

Result<std::unique_ptr<Writer>> NetcdfGrowth::make_writer(const Layout& /*layout*/) const {
  return std::unique_ptr<Writer>(std::make_unique<RecordsWriter>(*this));
}

}  // namespace stria::container::netcdf
