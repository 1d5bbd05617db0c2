#include "mpiio/file/view.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "datatype/cursor.hpp"
#include "mpiio/types/committed.hpp"
#include "mpiio/types/decode.hpp"
#include "mpiio/types/type_contents.hpp"

namespace stria::mpiio {

namespace {

constexpr int64_t kOffsetLimit = int64_t{1} << 62;

void release(MPI_Datatype& type) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0 && type != MPI_DATATYPE_NULL && !is_basic(combiner_of(type))) {
    MPI_Type_free(&type);
  }
  type = MPI_DATATYPE_NULL;
}

Result<Datatype> decode_for(const Representation& representation, MPI_Datatype type) {
  if (representation.is_native()) {
    return decode(type);
  }
  return decode_as(type, [&](MPI_Datatype basic) { return representation.element_bytes(basic); });
}

// MPI 3.1, section 13.3: the displacements of an etype and of a filetype are not negative and never
// decrease, and regions don't overlap where the file may be written. The pieces are walked only
// where the type's tree doesn't show it.
Outcome check_displacements(const Datatype& type, const std::string& what, bool for_writing) {
  if (type.size() == 0) {
    return {};
  }
  if (type.true_lower_bound() < 0) {
    return {MPI_ERR_IO, "the view's " + what + " has negative displacements"};
  }
  if (type.is_sorted()) {
    return {};
  }
  ByteRange before{0, 0};
  for (Cursor cursor(type); !cursor.done(); cursor.advance(before.size())) {
    if (cursor.piece().begin < before.begin) {
      return {MPI_ERR_IO, "the view's " + what + " has decreasing displacements"};
    }
    if (for_writing && cursor.piece().begin < before.end) {
      return {MPI_ERR_IO, "the view's " + what + " has overlapping regions, and the file is not open for reading only"};
    }
    before = cursor.piece();
  }
  return {};
}

// Keeps a type alive when the program frees it. In some MPIs a duplicate would copy a long list; a
// new type of zero items only refers to it.
MPI_Datatype hold(MPI_Datatype type) {
  MPI_Datatype holder = type;
  if (!is_basic(combiner_of(type))) {
    MPI_Type_contiguous(0, type, &holder);
  }
  return holder;
}

MPI_Datatype new_handle_of(MPI_Datatype holder) {
  if (is_basic(combiner_of(holder))) {
    return holder;
  }
  int count = 0;
  MPI_Aint none = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_get_contents(holder, 1, 0, 1, &count, &none, &type);
  MPI_Type_commit(&type);
  return type;
}

}  // namespace

View::View() : filetype_(Datatype::bytes(1)) {
  static_cast<void>(find_representation("native", representation_).ok());
}

View::~View() {
  for (MPI_Datatype* held : {&held_etype_, &held_filetype_}) {
    if (*held != MPI_DATATYPE_NULL && *held != MPI_BYTE) {
      release(*held);
    }
  }
}

View::View(View&& other) noexcept : View() {
  *this = std::move(other);
}

View& View::operator=(View&& other) noexcept {
  std::swap(displacement_bytes_, other.displacement_bytes_);
  std::swap(etype_bytes_, other.etype_bytes_);
  std::swap(filetype_, other.filetype_);
  std::swap(is_contiguous_, other.is_contiguous_);
  std::swap(is_sorted_, other.is_sorted_);
  std::swap(representation_, other.representation_);
  std::swap(held_etype_, other.held_etype_);
  std::swap(held_filetype_, other.held_filetype_);
  return *this;
}

Outcome View::create(const Arguments& arguments, View& made) {
  if (arguments.etype == MPI_DATATYPE_NULL || arguments.filetype == MPI_DATATYPE_NULL) {
    return {MPI_ERR_TYPE, "the view's etype or filetype is MPI_DATATYPE_NULL"};
  }
  if (arguments.displacement_bytes < 0 || arguments.displacement_bytes >= kOffsetLimit) {
    return {MPI_ERR_ARG, "the view's displacement is " + std::to_string(arguments.displacement_bytes)};
  }
  for (MPI_Datatype type : {arguments.etype, arguments.filetype}) {
    if (!is_committed(type)) {
      return {MPI_ERR_TYPE, "the view's etype or filetype has not been committed: call MPI_Type_commit"};
    }
  }
  STRIA_ASSIGN_OR_RETURN(const Datatype etype, decode_for(*arguments.representation, arguments.etype));
  STRIA_ASSIGN_OR_RETURN(const Datatype filetype, decode_for(*arguments.representation, arguments.filetype));
  if (etype.size() == 0 || filetype.size() % etype.size() != 0) {
    return {MPI_ERR_ARG, "the view's filetype has " + std::to_string(filetype.size()) +
                             " bytes, not a multiple of its etype's " + std::to_string(etype.size())};
  }
  STRIA_MPIIO_RETURN_IF_ERROR(check_displacements(etype, "etype", arguments.for_writing));
  STRIA_MPIIO_RETURN_IF_ERROR(check_displacements(filetype, "filetype", arguments.for_writing));
  View view;
  view.displacement_bytes_ = arguments.displacement_bytes;
  view.etype_bytes_ = etype.size();
  view.filetype_ = filetype;
  view.is_contiguous_ = filetype.size() > 0 && filetype.is_contiguous();
  view.is_sorted_ = filetype.size() == 0 ||
                    (filetype.is_sorted() && filetype.extent() >= filetype.true_upper_bound() - filetype.true_lower_bound());
  view.representation_ = arguments.representation;
  view.held_etype_ = hold(arguments.etype);
  view.held_filetype_ = hold(arguments.filetype);
  made = std::move(view);
  return {};
}

MPI_Datatype View::new_etype_handle() const {
  return new_handle_of(held_etype_);
}

MPI_Datatype View::new_filetype_handle() const {
  return new_handle_of(held_filetype_);
}

int64_t View::offset_of(int64_t position) const {
  if (is_contiguous_) {
    return displacement_bytes_ + position;
  }
  if (filetype_.size() == 0) {
    return displacement_bytes_;
  }
  Cursor cursor(filetype_, displacement_bytes_ + position / filetype_.size() * filetype_.extent());
  cursor.seek(position % filetype_.size());
  return cursor.piece().begin;
}

int64_t View::position_of(int64_t offset) const {
  STRIA_ASSERT(is_sorted());
  if (filetype_.size() == 0 || offset <= displacement_bytes_ + filetype_.true_lower_bound()) {
    return 0;
  }
  if (is_contiguous_) {
    return offset - displacement_bytes_;
  }
  const int64_t first = displacement_bytes_ + filetype_.true_lower_bound();
  const int64_t tile = (offset - first) / std::max<int64_t>(filetype_.extent(), 1);
  const int64_t place = displacement_bytes_ + tile * filetype_.extent();
  return tile * filetype_.size() + cut(filetype_, place, {place + filetype_.true_lower_bound(), offset}).end;
}

void View::for_each_piece(int64_t position, int64_t bytes, const std::function<void(ByteRange, int64_t)>& visit) const {
  for (int64_t done = 0; done < bytes;) {
    const int64_t at = position + done;
    Cursor cursor(filetype_, displacement_bytes_ + at / filetype_.size() * filetype_.extent());
    for (cursor.seek(at % filetype_.size()); !cursor.done() && done < bytes;) {
      ByteRange piece = cursor.piece();
      piece.end = std::min(piece.end, piece.begin + (bytes - done));
      visit(piece, done);
      done += piece.size();
      cursor.advance(piece.size());
    }
  }
}

Status View::check_reach(int64_t position, int64_t bytes) const {
  if (bytes == 0 || filetype_.size() == 0) {
    return {};
  }
  int64_t last = 0;
  if (position < 0 || !checked_add(position, bytes - 1, &last) || last >= kOffsetLimit) {
    return Status(ErrorCode::kInvalidArgument, "an access beyond 2^62 bytes of the view");
  }
  int64_t end = 0;
  const bool reaches = is_contiguous_ ? checked_add(displacement_bytes_, last, &end)
                                      : checked_multiply(last / filetype_.size() + 1, filetype_.extent(), &end) &&
                                            checked_add(end, displacement_bytes_, &end);
  if (!reaches || end >= kOffsetLimit) {
    return Status(ErrorCode::kInvalidArgument, "an access beyond offset 2^62 of the file");
  }
  return {};
}

Result<access::Stream> View::stream(int64_t position, int64_t bytes) const {
  access::Stream stream;
  if (bytes == 0 || filetype_.size() == 0) {
    return stream;
  }
  STRIA_RETURN_IF_ERROR(check_reach(position, bytes));
  stream.granule_bytes = etype_bytes_;
  if (is_contiguous_) {
    stream.file_type = Datatype::bytes(bytes);
    stream.displacement = displacement_bytes_ + position;
    return stream;
  }
  const int64_t first_tile = position / filetype_.size();
  const int64_t last_tile = (position + bytes - 1) / filetype_.size();
  STRIA_ASSIGN_OR_RETURN(stream.file_type, Datatype::contiguous(last_tile - first_tile + 1, filetype_));
  stream.displacement = displacement_bytes_ + first_tile * filetype_.extent();
  stream.skip_bytes = position % filetype_.size();
  stream.bytes = bytes;
  return stream;
}

}  // namespace stria::mpiio
