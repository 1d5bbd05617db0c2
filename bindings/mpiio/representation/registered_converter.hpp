// Conversion by the functions that a program registered with MPI_Register_datarep.
#pragma once

#include <memory>

#include "mpiio/representation/representation.hpp"

namespace stria::mpiio {

Outcome make_registered_converter(std::shared_ptr<const Representation> representation, MPI_Datatype type,
                                  std::unique_ptr<Converter>& made);

}  // namespace stria::mpiio
