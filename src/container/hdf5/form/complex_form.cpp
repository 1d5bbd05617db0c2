#include "container/hdf5/form/complex_form.hpp"

#include "container/hdf5/form/sizes.hpp"

namespace stria::container::h5 {

Status fold_complex(ElementSpec& element, std::vector<int64_t>& dims) {
  if (element.kind != ElementSpec::Kind::kNumber || element.meaning != Meaning::kComplex) {
    return Status();
  }
  const bool is_float = element.number == ElementType::kFloat32 || element.number == ElementType::kFloat64;
  if (!is_float || dims.empty() || dims.back() != 2) {
    return Status(ErrorCode::kInvalidArgument,
                  "complex numbers are pairs of floating-point numbers: the last dimension has a length of 2");
  }
  element = ElementSpec::of_complex(element);
  dims.pop_back();
  return Status();
}

Status fold_complex(DatasetSpec& spec) {
  const bool folds = spec.element.meaning == Meaning::kComplex;
  STRIA_RETURN_IF_ERROR(fold_complex(spec.element, spec.dims));
  if (folds && spec.chunking) {
    if (spec.chunking->dims.size() != spec.dims.size() + 1 || spec.chunking->dims.back() != 2) {
      return Status(ErrorCode::kInvalidArgument,
                    "a chunk of complex numbers has both parts of each: it ends with a length of 2");
    }
    spec.chunking->dims.pop_back();
  }
  return Status();
}

bool is_complex(const ElementSpec& element) {
  if (element.kind != ElementSpec::Kind::kCompound || element.members.size() != 2) {
    return false;
  }
  const ElementSpec::Member& real = element.members[0];
  const ElementSpec::Member& imaginary = element.members[1];
  const auto is_float = [](const ElementSpec& part) {
    return part.kind == ElementSpec::Kind::kNumber && part.meaning == Meaning::kNumber &&
           (part.number == ElementType::kFloat32 || part.number == ElementType::kFloat64);
  };
  return real.name == "r" && imaginary.name == "i" && is_float(real.element) && is_float(imaginary.element) &&
         real.element.number == imaginary.element.number && real.element.big_endian == imaginary.element.big_endian &&
         real.offset_bytes == 0 && imaginary.offset_bytes == real.element.bytes && element.bytes == 2 * real.element.bytes;
}

void unfold_complex(ElementSpec& element, std::vector<int64_t>& dims) {
  if (is_complex(element) && dims.size() < kMostDimensions) {
    ElementSpec part = element.members[0].element;
    part.meaning = Meaning::kComplex;
    element = part;
    dims.push_back(2);
  }
}

}  // namespace stria::container::h5
