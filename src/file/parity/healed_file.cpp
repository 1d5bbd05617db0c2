#include "file/parity/healed_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/out_of_memory.hpp"
#include "storage/messages.hpp"

namespace stria::file {

HealedFile::HealedFile(std::shared_ptr<ParitySet> set, const std::string& name, std::string path)
    : set_(std::move(set)), path_(std::move(path)), bytes_(set_->bytes_of_file(name)) {
  const ParityHead& head = set_->head();
  for (int member = 0; member < head.member_count(); ++member) {
    if (head.members[static_cast<size_t>(member)].name == name) {
      members_.push_back(member);
    }
  }
  if (storage::File* const file = set_->file_at(path_)) {
    capabilities_ = file->capabilities();
  }
  capabilities_.native_types = false;
  capabilities_.direct_align_bytes = 0;
}

Result<storage::Identity> HealedFile::identity() {
  storage::File* const file = set_->file_at(path_);
  return file != nullptr ? file->identity() : storage::File::identity();
}

Status HealedFile::no_writing() const {
  return Status(ErrorCode::kUnsupported, fmt::format("'{}' is read by its parity, and can't be written", path_));
}

Status HealedFile::write(std::span<const storage::WriteSegment> /*segments*/) {
  return no_writing();
}

Status HealedFile::resize(int64_t /*bytes*/) {
  return no_writing();
}

Status HealedFile::preallocate(int64_t /*bytes*/) {
  return no_writing();
}

Result<int64_t> HealedFile::read_in_unit(const storage::ReadSegment& segment) {
  const ParityHead& head = set_->head();
  for (const int number : members_) {
    const ParityMember& member = head.members[static_cast<size_t>(number)];
    const int64_t within = segment.offset - member.begin;
    if (within < 0 || within >= member.bytes) {
      continue;
    }
    const Unit wanted{.stripe = within / head.unit_bytes, .member = number};
    if (wanted != unit_) {
      content_.resize(static_cast<size_t>(head.unit_bytes));
      unit_ = {};
      STRIA_RETURN_IF_ERROR(set_->read_unit(wanted.stripe, number, content_.data()));
      unit_ = wanted;
    }
    const int64_t skipped = within % head.unit_bytes;
    const int64_t bytes = std::min(segment.bytes, head.bytes_of(wanted.stripe, number) - skipped);
    std::copy_n(content_.data() + skipped, bytes, segment.data);
    return bytes;
  }
  return 0;  // behind the end
}

Result<int64_t> HealedFile::read(std::span<const storage::ReadSegment> segments) {
  STRIA_RETURN_IF_ERROR(storage::check_segments("read", path_, segments));
  return or_out_of_memory([&]() -> Result<int64_t> {
    int64_t total = 0;
    for (storage::ReadSegment rest : segments) {
      while (rest.bytes > 0) {
        STRIA_ASSIGN_OR_RETURN(const int64_t bytes, read_in_unit(rest));
        if (bytes == 0) {
          break;
        }
        rest = {rest.offset + bytes, rest.data + bytes, rest.bytes - bytes};
        total += bytes;
      }
    }
    return total;
  });
}

}  // namespace stria::file
