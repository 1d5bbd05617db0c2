// Plain MPI-IO, each call a known number of times. usage: mpi_calls FILE
#include <mpi.h>

#include <string>
#include <vector>

namespace {

// Calls that have no open file, most of which fail.
void without_a_file(const std::string& name) {
  const std::string absent = name + ".absent";
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_WORLD, absent.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_File_open(MPI_COMM_WORLD, absent.c_str(), MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_delete(absent.c_str(), MPI_INFO_NULL);
  MPI_File_sync(MPI_FILE_NULL);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_get_errhandler(MPI_FILE_NULL, &handler);
  MPI_File_set_errhandler(MPI_FILE_NULL, handler);
  MPI_Errhandler_free(&handler);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<double> values(1000, rank);
  MPI_File file = MPI_FILE_NULL;
  if (argc != 2 ||
      MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const MPI_Offset begin = rank * 8000;
  for (int i = 0; i < 2; ++i) {
    MPI_File_write_at(file, begin, values.data(), 1000, MPI_DOUBLE, MPI_STATUS_IGNORE);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_File_iwrite_at(file, begin, values.data(), 500, MPI_DOUBLE, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_set_view(file, begin, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
  for (int i = 0; i < 3; ++i) {
    MPI_File_write_at_all(file, 100, values.data(), 100, MPI_DOUBLE, MPI_STATUS_IGNORE);
  }
  MPI_File_write_at_all_begin(file, 0, values.data(), 10, MPI_DOUBLE);
  MPI_File_write_at_all_end(file, values.data(), MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_File_read_all(file, values.data(), 1000, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  without_a_file(argv[1]);
  MPI_Finalize();
  return 0;
}
