#include "container/hdf5/read/types/number_types.hpp"

#include <bit>

#include "base/check.hpp"

namespace stria::container::h5 {

namespace {

constexpr bool kMachineIsBig = std::endian::native == std::endian::big;

// True when every bit of the number counts, as the engine's conversions and plain C++ types assume.
bool is_plain(hid_t type, size_t bytes) {
  return H5Tget_precision(type) == 8 * bytes && H5Tget_offset(type) == 0;
}

bool has_known_order(hid_t type) {
  const H5T_order_t order = H5Tget_order(type);
  return order == H5T_ORDER_LE || order == H5T_ORDER_BE;
}

ElementSpec native_number(ElementType number) {
  ElementSpec spec = ElementSpec::of_number(number);
  spec.big_endian = kMachineIsBig;
  return spec;
}

ElementSpec integer_of(size_t bytes, bool has_sign) {
  switch (bytes) {
    case 1:
      return native_number(has_sign ? ElementType::kInt8 : ElementType::kUint8);
    case 2:
      return native_number(has_sign ? ElementType::kInt16 : ElementType::kUint16);
    case 4:
      return native_number(has_sign ? ElementType::kInt32 : ElementType::kUint32);
    default:
      return native_number(has_sign ? ElementType::kInt64 : ElementType::kUint64);
  }
}

/// Says how wide the parts of a floating-point number are.
struct FloatBits {
  size_t exponent = 0, mantissa = 0;
  bool within(size_t exponent_max, size_t mantissa_max) const { return exponent <= exponent_max && mantissa <= mantissa_max; }
};

FloatBits float_bits(hid_t type) {
  FloatBits bits{SIZE_MAX, SIZE_MAX};
  size_t sign = 0, exponent_place = 0, mantissa_place = 0;
  if (H5Tget_fields(type, &sign, &exponent_place, &bits.exponent, &mantissa_place, &bits.mantissa) < 0) {
    H5Eclear2(H5E_DEFAULT);
    return {SIZE_MAX, SIZE_MAX};
  }
  return bits;
}

bool is_ieee(hid_t type, bool big) {
  return H5Tequal(type, big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE) > 0 || H5Tequal(type, big ? H5T_IEEE_F64BE : H5T_IEEE_F64LE) > 0;
}

}  // namespace

ElementSpec other_type(int64_t bytes) {
  ElementSpec spec;
  spec.kind = ElementSpec::Kind::kOther;
  spec.bytes = bytes;
  return spec;
}

hid_t native_type_of(ElementType number) {
  STRIA_ASSERT(number != ElementType::kByte);
  switch (number) {
    case ElementType::kInt8:
      return H5T_NATIVE_INT8;
    case ElementType::kUint8:
      return H5T_NATIVE_UINT8;
    case ElementType::kInt16:
      return H5T_NATIVE_INT16;
    case ElementType::kUint16:
      return H5T_NATIVE_UINT16;
    case ElementType::kInt32:
      return H5T_NATIVE_INT32;
    case ElementType::kUint32:
      return H5T_NATIVE_UINT32;
    case ElementType::kInt64:
      return H5T_NATIVE_INT64;
    case ElementType::kUint64:
      return H5T_NATIVE_UINT64;
    case ElementType::kFloat32:
      return H5T_NATIVE_FLOAT;
    default:
      return H5T_NATIVE_DOUBLE;
  }
}

bool is_reduced_integer(hid_t type, size_t bytes) {
  return bytes <= kNumberBytesMax && has_known_order(type) && !(is_plain(type, bytes) && std::has_single_bit(bytes));
}

ElementSpec describe_integer(hid_t type, size_t bytes) {
  if (bytes > kNumberBytesMax || !has_known_order(type)) {
    return other_type(static_cast<int64_t>(bytes));
  }
  ElementSpec spec = integer_of(std::bit_ceil(bytes), H5Tget_sign(type) == H5T_SGN_2);
  if (!is_reduced_integer(type, bytes)) {
    spec.big_endian = H5Tget_order(type) == H5T_ORDER_BE && bytes > 1;
  }
  return spec;
}

bool is_reduced_float(hid_t type, size_t bytes) {
  constexpr size_t kDoubleExponent = 11, kDoubleMantissa = 52;
  return bytes <= kNumberBytesMax && has_known_order(type) && !is_ieee(type, H5Tget_order(type) == H5T_ORDER_BE) &&
         float_bits(type).within(kDoubleExponent, kDoubleMantissa);
}

ElementSpec describe_float(hid_t type, size_t bytes) {
  constexpr size_t kFloatExponent = 8, kFloatMantissa = 23;
  const bool big = H5Tget_order(type) == H5T_ORDER_BE;
  if (is_ieee(type, big)) {
    ElementSpec spec = ElementSpec::of_number(bytes == sizeof(float) ? ElementType::kFloat32 : ElementType::kFloat64);
    spec.big_endian = big;
    return spec;
  }
  if (!is_reduced_float(type, bytes)) {
    return other_type(static_cast<int64_t>(bytes));
  }
  const bool is_single = float_bits(type).within(kFloatExponent, kFloatMantissa);
  return native_number(is_single ? ElementType::kFloat32 : ElementType::kFloat64);
}

bool is_half(hid_t type, size_t bytes) {
  size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  const H5T_order_t order = H5Tget_order(type);
  return bytes == 2 && is_plain(type, bytes) && (order == H5T_ORDER_LE || order == H5T_ORDER_BE) &&
         H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 && sign == 15 &&
         exponent == 10 && exponent_bits == 5 && mantissa == 0 && mantissa_bits == 10 && H5Tget_ebias(type) == 15 &&
         H5Tget_norm(type) == H5T_NORM_IMPLIED;
}

ElementSpec describe_half(hid_t type) {
  ElementSpec spec = ElementSpec::of_number(ElementType::kUint16);
  spec.meaning = Meaning::kHalf;
  spec.big_endian = H5Tget_order(type) == H5T_ORDER_BE;
  return spec;
}

Result<Id> copy_of(hid_t type) {
  Id copy(H5Tcopy(type));
  if (!copy.valid()) {
    return last_error(ErrorCode::kCorrupted, "a type can't be read");
  }
  return copy;
}

Result<Id> in_native_order(hid_t type) {
  STRIA_ASSIGN_OR_RETURN(Id copy, copy_of(type));
  const H5T_order_t order = H5Tget_order(type);
  const H5T_order_t machine = kMachineIsBig ? H5T_ORDER_BE : H5T_ORDER_LE;
  if ((order == H5T_ORDER_LE || order == H5T_ORDER_BE) && H5Tset_order(copy.get(), machine) < 0) {
    return last_error(ErrorCode::kInternal, "cannot make a number type");
  }
  return copy;
}

}  // namespace stria::container::h5
