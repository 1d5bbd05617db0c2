#include "server/objects/part_place.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/check.hpp"
#include "base/hash.hpp"

namespace stria::server {

namespace {

constexpr off_t kPlaceOffset = 64;  // in the first page, behind the head

struct Note {
  std::array<char, 8> title{'S', 'T', 'R', 'P', 'L', 'A', 'C', '1'};
  int64_t stripe_bytes = 0;
  int64_t slot_count = 0;
  int64_t slot = 0;
  uint64_t sum = 0;  // the sum of all before

  uint64_t sum_of() const { return hash_bytes({reinterpret_cast<const std::byte*>(this), sizeof *this - sizeof sum}); }
};

}  // namespace

wire::Striped noted_place(const std::string& sums_path) {
  const int descriptor = ::open(sums_path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return {};
  }
  const wire::Striped place = noted_place(descriptor);
  ::close(descriptor);
  return place;
}

wire::Striped noted_place(int sums_descriptor) {
  Note note;
  const ssize_t bytes = pread(sums_descriptor, &note, sizeof note, kPlaceOffset);
  const bool good = bytes == sizeof note && note.title == Note().title && note.sum == note.sum_of() &&
                    wire::Layout{note.stripe_bytes, note.slot_count}.valid() && note.slot >= 0 && note.slot < note.slot_count;
  return good ? wire::Striped{note.stripe_bytes, note.slot_count, note.slot} : wire::Striped{};
}

Status note_place(int sums_descriptor, const std::string& sums_path, const wire::Striped& place) {
  const wire::Layout layout{place.stripe_bytes, place.slot_count};
  STRIA_CHECK(layout.valid() && 0 <= place.slot && place.slot < place.slot_count, place.stripe_bytes, place.slot_count,
              place.slot);
  Note note;
  note.stripe_bytes = place.stripe_bytes;
  note.slot_count = place.slot_count;
  note.slot = place.slot;
  note.sum = note.sum_of();
  const ssize_t written = pwrite(sums_descriptor, &note, sizeof note, kPlaceOffset);
  return written == sizeof note ? Status()
                                : Status::from_errno(written < 0 ? errno : ENOSPC, "note in '" + sums_path + "' on the server");
}

}  // namespace stria::server
