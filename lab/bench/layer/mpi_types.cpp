#include "layer/mpi_types.hpp"

#include <fmt/format.h>

#include <climits>

#include "stria/status.hpp"

namespace stria::bench {

namespace {

int as_int(int64_t value) {
  if (value > INT_MAX) {
    throw Error(ErrorCode::kUnsupported, fmt::format("MPI-IO's calls take no count of {}: choose a smaller size", value));
  }
  return static_cast<int>(value);
}

std::vector<int> as_ints(const std::vector<int64_t>& values) {
  std::vector<int> out;
  for (const int64_t value : values) {
    out.push_back(as_int(value));
  }
  return out;
}

}  // namespace

void require_mpi(int code, const std::string& what) {
  if (code != MPI_SUCCESS) {
    char words[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, words, &length);
    throw Error(ErrorCode::kIo, fmt::format("MPI-IO: {}: {}", what, words));
  }
}

MpiTypes::~MpiTypes() {
  for (MPI_Datatype& type : owned_) {
    MPI_Type_free(&type);
  }
}

// Committing leaves the handle as it is, in both MPIs.
MPI_Datatype MpiTypes::keep(MPI_Datatype type) {
  MPI_Type_commit(&type);
  owned_.push_back(type);
  return type;
}

MPI_Datatype MpiTypes::element(int64_t bytes) {
  if (bytes == 1 || bytes == 4 || bytes == 8) {
    return bytes == 1 ? MPI_BYTE : bytes == 4 ? MPI_INT : MPI_DOUBLE;
  }
  MPI_Datatype& type = elements_.try_emplace(bytes, MPI_DATATYPE_NULL).first->second;
  if (type == MPI_DATATYPE_NULL) {
    const bool doubles = bytes % 8 == 0;
    MPI_Type_contiguous(as_int(doubles ? bytes / 8 : bytes), doubles ? MPI_DOUBLE : MPI_BYTE, &type);
    keep(type);
  }
  return type;
}

MPI_Datatype MpiTypes::selected(const Selection& selection, int64_t element_bytes) {
  const MPI_Datatype one = element(element_bytes);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (!selection.places.empty()) {
    std::vector<MPI_Aint> places;
    for (const int64_t place : selection.places) {
      places.push_back(place * element_bytes);
    }
    MPI_Type_create_hindexed_block(as_int(selection.elements()), 1, places.data(), one, &type);
    return keep(type);
  }
  if (selection.is_box() && selection.dims[0] <= INT_MAX) {
    std::vector<int64_t> size;
    for (size_t d = 0; d < selection.dims.size(); ++d) {
      size.push_back(selection.along(d));
    }
    const std::vector<int> dims = as_ints(selection.dims);
    const std::vector<int> sizes = as_ints(size);
    const std::vector<int> starts = as_ints(selection.start);
    MPI_Type_create_subarray(static_cast<int>(dims.size()), dims.data(), sizes.data(), starts.data(), MPI_ORDER_C, one, &type);
    return keep(type);
  }
  MPI_Type_create_hvector(as_int(selection.count[0]), as_int(selection.block[0]), selection.stride[0] * element_bytes, one,
                          &type);
  return selection.start[0] == 0 ? keep(type) : together({keep(type)}, {selection.start[0] * element_bytes});
}

MPI_Datatype MpiTypes::together(const std::vector<MPI_Datatype>& types, const std::vector<MPI_Aint>& places) {
  if (types.size() == 1 && places[0] == 0) {
    return types[0];
  }
  const std::vector<int> ones(types.size(), 1);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(as_int(static_cast<int64_t>(types.size())), ones.data(), places.data(), types.data(), &type);
  return keep(type);
}

MPI_Datatype MpiTypes::file_type(const Workload& workload, const Call& call) {
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Aint> places;
  for (const Part& part : call.parts) {
    types.push_back(selected(part.file, workload.arrays[part.array].element_bytes));
    places.push_back(workload.place(part.array));
  }
  return together(types, places);
}

MPI_Datatype MpiTypes::memory_type(const Workload& workload, const Call& call) {
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Aint> places;
  for (const Part& part : call.parts) {
    types.push_back(selected(part.memory, workload.arrays[part.array].element_bytes));
    places.push_back(part.memory_bytes);
  }
  return together(types, places);
}

MPI_Datatype MpiTypes::resized(MPI_Datatype type, int64_t extent_bytes) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(type, 0, extent_bytes, &made);
  return keep(made);
}

}  // namespace stria::bench
