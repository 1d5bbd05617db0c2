// Conversion to and from the data representation "external32" (MPI 3.1, section 13.5.2).
//
// Method: items are packed as they are, then the elements of the packed stream are rewritten run by
// run of the type signature: most types hold one kind of number, which is one pass. Integers that
// are shorter in the file keep their low bits, as in C's conversions. long double is written as
// IEEE binary128.
#pragma once

#include <memory>

#include "mpiio/representation/representation.hpp"

namespace stria::mpiio {

Outcome make_external32_converter(std::shared_ptr<const Representation> representation, MPI_Datatype type,
                                  std::unique_ptr<Converter>& made);

}  // namespace stria::mpiio
