#include "peers/hdf5_file.hpp"

#include <cstring>

#include "limits/plain_file.hpp"

namespace stria::bench {
namespace {

using flash::timed;

hid_t hdf5_type(const flash::MetadataList& list) {
  return list.is_integer ? H5T_NATIVE_INT32 : H5T_NATIVE_DOUBLE;
}

int64_t value_bytes(const flash::MetadataList& list) {
  return list.is_integer ? 4 : 8;
}

void write_variable_names(hid_t file, hid_t transfer, const RankData& data) {
  std::string labels;
  for (int64_t variable = 0; variable < data.unk.parameters().nvar; ++variable) {
    labels += flash::variable_label(variable);
  }
  const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose, "make a string type");
  require(H5Tset_size(type, 4) >= 0, "HDF5: cannot size a string type");
  const hsize_t shape[2] = {static_cast<hsize_t>(data.unk.parameters().nvar), 1};
  const Hdf5Id space(H5Screate_simple(2, shape, nullptr), H5Sclose, "make a dataspace");
  const Hdf5Id dataset(H5Dcreate2(file, "unknown names", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
                       "create the variables' names");
  require(H5Dwrite(dataset, type, space, space, transfer, labels.data()) >= 0, "HDF5: cannot write the variables' names");
}

}  // namespace

BlockRows::BlockRows(const flash::BlockPartition& partition, const std::vector<int64_t>& entry_shape) {
  all.push_back(static_cast<hsize_t>(partition.total));
  start.push_back(static_cast<hsize_t>(partition.first));
  count.push_back(static_cast<hsize_t>(partition.local));
  for (const int64_t extent : entry_shape) {
    all.push_back(static_cast<hsize_t>(extent));
    start.push_back(0);
    count.push_back(static_cast<hsize_t>(extent));
  }
}

Hdf5Id BlockRows::file_space() const {
  const hid_t space = H5Screate_simple(static_cast<int>(all.size()), all.data(), nullptr);
  require(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0,
          "HDF5: cannot select blocks");
  return {space, H5Sclose, "make a dataspace"};
}

Hdf5Id BlockRows::memory_space() const {
  return {H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose, "make a dataspace"};
}

Hdf5Id transfer_list(bool collective) {
  const hid_t list = H5Pcreate(H5P_DATASET_XFER);
  require(H5Pset_dxpl_mpio(list, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT) >= 0,
          "HDF5: cannot choose the transfer");
  return {list, H5Pclose, "make a transfer list"};
}

Hdf5Id mpio_access(MPI_Comm comm) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  require(H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL) >= 0, "HDF5: cannot choose MPI-IO");
  return {access, H5Pclose, "make an access list"};
}

Hdf5Id interleaved_space(const flash::Unk& unk, int64_t variable) {
  const auto& p = unk.parameters();
  const auto side = static_cast<hsize_t>(p.padded_side());
  const auto inner = static_cast<hsize_t>(p.nxb);
  const auto guard = static_cast<hsize_t>(p.guard_cells);
  const hsize_t all[5] = {static_cast<hsize_t>(unk.allocated_blocks()), side, side, side, static_cast<hsize_t>(p.nvar)};
  const hsize_t start[5] = {0, guard, guard, guard, static_cast<hsize_t>(variable)};
  const hsize_t count[5] = {static_cast<hsize_t>(unk.blocks()), inner, inner, inner, 1};
  const hid_t space = H5Screate_simple(5, all, nullptr);
  require(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0, "HDF5: cannot select a variable");
  return {space, H5Sclose, "make a dataspace"};
}

void write_hdf5_file(Round& r, hid_t transfer, Source source, const std::function<void(hid_t file)>& write_variables) {
  double start_s = flash::now_s();
  const Hdf5Id access = mpio_access(r.comm);
  Hdf5Id file(H5Fcreate(r.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "create " + r.path);
  r.times.open_s += flash::now_s() - start_s;
  start_s = flash::now_s();
  write_hdf5_lists(file, transfer, r.data);
  r.times.transfer_s += flash::now_s() - start_s;
  if (source == Source::kOnePass) {
    require(timed(&r.times.pack_s, [&] { return r.data.limit.prepare_packed(); }));
  }
  write_variables(file);
  if (r.sync) {
    const herr_t flushed = timed(&r.times.sync_s, [&] { return H5Fflush(file, H5F_SCOPE_GLOBAL); });
    require(flushed >= 0, "HDF5: cannot flush " + r.path);
  }
  start_s = flash::now_s();
  file.close();
  r.times.close_s += flash::now_s() - start_s;
}

void read_hdf5_file(Round& r, const std::function<void(hid_t file)>& read_variables) {
  double start_s = flash::now_s();
  const Hdf5Id access = mpio_access(r.comm);
  Hdf5Id file(H5Fopen(r.path.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "open " + r.path);
  r.times.open_s += flash::now_s() - start_s;
  read_variables(file);
  start_s = flash::now_s();
  file.close();
  r.times.close_s += flash::now_s() - start_s;
}

void write_hdf5_lists(hid_t file, hid_t transfer, const RankData& data) {
  for (const flash::MetadataList& list : metadata_lists(data.table)) {
    const BlockRows rows(data.unk.partition(), list.entry_shape);
    const Hdf5Id file_space = rows.file_space();
    const Hdf5Id dataset(
        H5Dcreate2(file, list.hdf5_name.c_str(), hdf5_type(list), file_space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
        "create '" + list.hdf5_name + "'");
    require(H5Dwrite(dataset, hdf5_type(list), rows.memory_space(), file_space, transfer, list.data) >= 0,
            "HDF5: cannot write '" + list.hdf5_name + "'");
  }
  write_variable_names(file, transfer, data);
}

std::string check_hdf5_lists(const std::string& path, const RankData& data) {
  const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open " + path);
  for (const flash::MetadataList& list : metadata_lists(data.table)) {
    const BlockRows rows(data.unk.partition(), list.entry_shape);
    const Hdf5Id dataset(H5Dopen2(file, list.hdf5_name.c_str(), H5P_DEFAULT), H5Dclose, "open '" + list.hdf5_name + "'");
    std::vector<char> found(static_cast<size_t>(list.values * value_bytes(list)));
    require(H5Dread(dataset, hdf5_type(list), rows.memory_space(), rows.file_space(), H5P_DEFAULT, found.data()) >= 0,
            "HDF5: cannot read '" + list.hdf5_name + "'");
    if (std::memcmp(found.data(), list.data, found.size()) != 0) {
      return path + ": the list '" + list.hdf5_name + "' is not what was written";
    }
  }
  return {};
}

flash::FileRuns hdf5_file_runs(const std::string& path, const RankData& data, const std::vector<int64_t>& variables,
                               int64_t element_bytes) {
  flash::FileRuns runs{path, variables, {}, element_bytes, false};
  const Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open " + path);
  const int64_t first_byte = data.unk.partition().first * data.unk.parameters().cells_per_block() * element_bytes;
  for (const int64_t variable : variables) {
    const std::string name = flash::variable_label(variable);
    const Hdf5Id dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "open '" + name + "'");
    const haddr_t offset = H5Dget_offset(dataset);
    require(offset != HADDR_UNDEF, "HDF5: no raw data in '" + name + "'");
    runs.offsets_bytes.push_back(static_cast<int64_t>(offset) + first_byte);
  }
  return runs;
}

}  // namespace stria::bench
