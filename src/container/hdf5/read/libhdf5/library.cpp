#include "container/hdf5/read/libhdf5/library.hpp"

#include <cstdlib>

namespace stria::container::h5 {

namespace {

// Its destructor is trivial, so that scopes may end while the process exits.
constinit std::mutex library_mutex;

struct Innermost {
  bool found = false;
  hid_t major = H5I_INVALID_HID;
  hid_t minor = H5I_INVALID_HID;
  std::string words;
};

herr_t keep_innermost(unsigned depth, const H5E_error2_t* error, void* data) {
  if (depth == 0) {
    auto* innermost = static_cast<Innermost*>(data);
    innermost->found = true;
    innermost->major = error->maj_num;
    innermost->minor = error->min_num;
    innermost->words = error->desc != nullptr ? error->desc : "";
  }
  return 0;
}

ErrorCode code_of(const Innermost& error, ErrorCode otherwise) {
  if (!error.found) {
    return otherwise;
  }
  if (error.minor == H5E_NOTFOUND && error.major == H5E_SYM) {
    return ErrorCode::kNotFound;
  }
  if (error.minor == H5E_EXISTS || error.minor == H5E_ALREADYEXISTS) {
    return ErrorCode::kAlreadyExists;
  }
  if (error.minor == H5E_NOTHDF5) {
    return ErrorCode::kFormat;
  }
  // A version of a message that this release doesn't know. libhdf5 reports it by the number of
  // damage, H5E_CANTLOAD or another, so only its words tell the two apart.
  const bool of_message = error.major == H5E_OHDR || error.major == H5E_DATATYPE;
  if (error.minor == H5E_NOFILTER || (of_message && error.words.find("version number") != std::string::npos)) {
    return ErrorCode::kUnsupported;
  }
  if (error.major == H5E_RESOURCE && (error.minor == H5E_NOSPACE || error.minor == H5E_CANTALLOC)) {
    return otherwise == ErrorCode::kCorrupted ? otherwise : ErrorCode::kResourceExhausted;
  }
  return otherwise;
}

// A call of libhdf5 1.10 that fails on damaged bytes may leak memory. When it closes itself at the
// end of the process it then prints "infinite loop closing library", unless printing is switched
// off. Functions that are registered last run first, so this one runs before that of libhdf5.
void stay_silent_at_exit() {
  static const int registered = std::atexit([] { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); });
  static_cast<void>(registered);
}

}  // namespace

LibraryScope::LibraryScope() : lock_(library_mutex) {
  H5Eauto_is_v2(H5E_DEFAULT, &uses_v2_);
#ifndef H5_NO_DEPRECATED_SYMBOLS
  if (uses_v2_ == 0) {
    H5Eget_auto1(&print_v1_, &print_data_);
    H5Eset_auto1(nullptr, nullptr);
    return;
  }
#endif
  H5Eget_auto2(H5E_DEFAULT, &print_v2_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

LibraryScope::~LibraryScope() {
#ifndef H5_NO_DEPRECATED_SYMBOLS
  if (uses_v2_ == 0) {
    H5Eset_auto1(print_v1_, print_data_);
    return;
  }
#endif
  H5Eset_auto2(H5E_DEFAULT, print_v2_, print_data_);
}

void Id::reset() {
  if (id_ >= 0) {
    H5Idec_ref(id_);
    id_ = H5I_INVALID_HID;
  }
}

Status last_error(ErrorCode code, const std::string& what) {
  stay_silent_at_exit();
  Innermost innermost;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &innermost);
  H5Eclear2(H5E_DEFAULT);
  std::string words = innermost.words.empty() ? "libhdf5 gave no reason" : innermost.words;
  if (innermost.found && innermost.minor == H5E_TRUNCATED) {
    words = "the file is cut short (" + words + ")";
  }
  return Status(code_of(innermost, code), what + ": " + words);
}

}  // namespace stria::container::h5
