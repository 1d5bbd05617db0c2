// Datatypes that the program has not committed: every call that takes a datatype returns
// MPI_ERR_TYPE, moves nothing and changes nothing. Once the type is committed, no call may refuse
// it, however it was made.

#include <array>
#include <vector>

#include "mpiio/support/calls.hpp"
#include "mpiio/support/naive_file.hpp"
#include "mpiio/support/suite.hpp"

namespace {

using namespace mpiio;

constexpr int kInts = 2;
constexpr int kSpanInts = 3;  // with the gap between the two

MPI_Datatype new_type() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(kInts, 1, 2, MPI_INT, &type);
  return type;
}

MPI_File open(const Suite& suite) {
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, suite.path("types").c_str(),
                           MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  return file;
}

MPI_Offset file_bytes(MPI_File file) {
  MPI_Offset bytes = -1;
  EXPECT_MPI(MPI_File_get_size(file, &bytes));
  return bytes;
}

// Returns each rank's own place, in bytes, for calls that take an offset.
Transfer transfer(const Suite& suite, std::array<int, kSpanInts>& memory, MPI_Datatype type) {
  return {static_cast<MPI_Offset>(suite.rank()) * kInts * static_cast<MPI_Offset>(sizeof(int)), memory.data(), 1, type};
}

void refuses(const Suite& suite, const Call& call) {
  MPI_File file = open(suite);
  MPI_Datatype type = new_type();
  std::array<int, kSpanInts> memory{1, 2, 3};
  MPI_Status status;
  EXPECT_MPI_ERROR(perform(call, true, file, transfer(suite, memory, type), &status), MPI_ERR_TYPE);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(file_bytes(file) == 0, "it wrote ", file_bytes(file), " bytes");
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_MPI(MPI_Type_commit(&type));
  EXPECT_MPI(perform(call, true, file, transfer(suite, memory, type), &status));
  MPI_Barrier(MPI_COMM_WORLD);
  const MPI_Offset all = call.pointer == Pointer::kIndividual ? kInts : MPI_Offset{kInts} * suite.rank_count();
  EXPECT(file_bytes(file) == all * static_cast<MPI_Offset>(sizeof(int)), "the file has ", file_bytes(file), " bytes");
  MPI_Type_free(&type);
  // Most MPIs use the handle again, for a type that is not committed.
  type = new_type();
  EXPECT_MPI_ERROR(perform(call, false, file, transfer(suite, memory, type), &status), MPI_ERR_TYPE);
  EXPECT(memory[0] == 1 && memory[1] == 2 && memory[2] == 3, "the buffer was changed");
  MPI_Type_free(&type);
  EXPECT_MPI(MPI_File_close(&file));
}

void refuses_on_one_rank(const Suite& suite, const Call& call) {
  MPI_File file = open(suite);
  MPI_Datatype type = new_type();
  const bool mine = suite.rank() == suite.rank_count() - 1;
  if (!mine) {
    MPI_Type_commit(&type);
  }
  std::array<int, kSpanInts> memory{1, 2, 3};
  MPI_Status status;
  const int code = perform(call, true, file, transfer(suite, memory, type), &status);
  EXPECT(!mine || error_class(code) == MPI_ERR_TYPE, "the rank gets ", error_text(code));
  MPI_Type_free(&type);
  EXPECT_MPI(MPI_File_close(&file));
}

void view_needs_committed_types(const Suite& suite) {
  MPI_File file = open(suite);
  MPI_Datatype etype = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1, MPI_INT, &etype);
  MPI_Datatype filetype = new_type();
  const auto set = [&](MPI_Datatype elementary, MPI_Datatype tile) {
    return MPI_File_set_view(file, 8, elementary, tile, "native", MPI_INFO_NULL);
  };
  EXPECT_MPI_ERROR(set(MPI_INT, filetype), MPI_ERR_TYPE);
  EXPECT_MPI_ERROR(set(etype, MPI_INT), MPI_ERR_TYPE);
  EXPECT_MPI(MPI_Type_commit(&filetype));
  EXPECT_MPI_ERROR(set(etype, filetype), MPI_ERR_TYPE);
  MPI_Offset displacement = -1;
  MPI_Datatype old_etype = MPI_DATATYPE_NULL;
  MPI_Datatype old_filetype = MPI_DATATYPE_NULL;
  char representation[MPI_MAX_DATAREP_STRING] = "";
  EXPECT_MPI(MPI_File_get_view(file, &displacement, &old_etype, &old_filetype, representation));
  EXPECT(displacement == 0, "the view was changed");
  EXPECT_MPI(MPI_Type_commit(&etype));
  EXPECT_MPI(set(etype, filetype));
  MPI_Type_free(&etype);
  MPI_Type_free(&filetype);
  // The handles that get_view returns are committed.
  EXPECT_MPI(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
  EXPECT_MPI(set(etype, filetype));
  MPI_Type_free(&etype);
  MPI_Type_free(&filetype);
  EXPECT_MPI(MPI_File_close(&file));
}

void extent_needs_a_committed_type(const Suite& suite) {
  MPI_File file = open(suite);
  MPI_Datatype type = new_type();
  MPI_Aint extent = 0;
  EXPECT_MPI_ERROR(MPI_File_get_type_extent(file, type, &extent), MPI_ERR_TYPE);
  MPI_Type_commit(&type);
  EXPECT_MPI(MPI_File_get_type_extent(file, type, &extent));
  EXPECT(extent == kSpanInts * static_cast<MPI_Aint>(sizeof(int)), "the extent is ", extent);
  MPI_Type_free(&type);
  EXPECT_MPI(MPI_File_close(&file));
}

// Committed types, however they were made, and those that are committed from the start.
std::vector<MPI_Datatype> committed_types() {
  MPI_Datatype type = new_type();
  MPI_Type_commit(&type);
  MPI_Datatype duplicate = MPI_DATATYPE_NULL;
  MPI_Type_dup(type, &duplicate);
  MPI_Datatype resized = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(type, 0, 64, &resized);
  MPI_Type_commit(&resized);
  MPI_Datatype of_uncommitted = MPI_DATATYPE_NULL;
  MPI_Datatype inner = new_type();
  MPI_Type_contiguous(1, inner, &of_uncommitted);
  MPI_Type_commit(&of_uncommitted);
  MPI_Type_free(&inner);
  return {type, duplicate, resized, of_uncommitted};
}

void accepts_committed_types(const Suite& suite) {
  MPI_File file = open(suite);
  std::array<int, 64> memory{};
  MPI_Status status;
  MPI_Datatype with_precision = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_real(6, 30, &with_precision);
  std::vector<MPI_Datatype> basic{MPI_INT, with_precision};
  if (suite.is_stria()) {  // MPICH's own MPI-IO ends the program over pairs
    basic.insert(basic.end(), {MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT});
  }
  for (MPI_Datatype type : basic) {
    EXPECT_MPI(MPI_File_write_at(file, 0, memory.data(), 1, type, &status));
  }
  for (MPI_Datatype type : committed_types()) {
    EXPECT_MPI(MPI_File_write_at(file, 0, memory.data(), 1, type, &status));
    EXPECT_MPI(MPI_File_read_at(file, 0, memory.data(), 1, type, &status));
    EXPECT_MPI(MPI_File_write_at_all(file, 0, memory.data(), 1, type, &status));
    EXPECT_MPI(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL));
    EXPECT_MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Type_free(&type);
  }
  EXPECT_MPI(MPI_File_close(&file));
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv);
  for (const Call& call : all_calls()) {
    suite.run(text("uncommitted ", call_name(call, true)), [&] { refuses(suite, call); });
    // A native library may wait for the rank for ever.
    if (call.collective && suite.is_stria()) {
      suite.run(text("uncommitted on one rank ", call_name(call, true)), [&] { refuses_on_one_rank(suite, call); });
    }
  }
  suite.run("uncommitted types of a view", [&] { view_needs_committed_types(suite); });
  suite.run("uncommitted type's extent", [&] { extent_needs_a_committed_type(suite); });
  suite.run("committed types", [&] { accepts_committed_types(suite); });
  return suite.finish();
}
