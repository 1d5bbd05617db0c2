#include "container/netcdf/grow/growth.hpp"

#include <algorithm>

#include "base/byte_range.hpp"
#include "container/netcdf/grow/records_writer.hpp"

namespace stria::container::netcdf {

namespace {

// A disk writes a sector whole.
constexpr int64_t kSectorBytes = 512;

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

Status NetcdfGrowth::check() const {
  if (header().record_bytes == 0) {
    return Status();  // attributes may be changed
  }
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
