// The functions of libzfp.
//
// Problem: few programs compress with a loss, and a program linked with libzfp needs it installed.
// Method: it is loaded when a chunk or dataset first asks for it; its header gives the types.
#pragma once

#include <zfp.h>

#include "stria/status.hpp"

// clang-format off
#define STRIA_LIBZFP_FUNCTIONS(of) \
  of(stream_open)                  \
  of(stream_close)                 \
  of(zfp_stream_open)              \
  of(zfp_stream_close)             \
  of(zfp_stream_set_mode)          \
  of(zfp_stream_maximum_size)      \
  of(zfp_field_1d)                 \
  of(zfp_field_2d)                 \
  of(zfp_field_3d)                 \
  of(zfp_field_4d)                 \
  of(zfp_field_free)               \
  of(zfp_stream_set_bit_stream)    \
  of(zfp_compress)                 \
  of(zfp_decompress)
// clang-format on

namespace stria::container {

struct Libzfp {
#define STRIA_LIBZFP_MEMBER(name) decltype(&::name) name = nullptr;
  STRIA_LIBZFP_FUNCTIONS(STRIA_LIBZFP_MEMBER)
#undef STRIA_LIBZFP_MEMBER

  /// Loads the library on the first call. kUnsupported where it isn't installed.
  static Result<const Libzfp*> load();
};

}  // namespace stria::container
