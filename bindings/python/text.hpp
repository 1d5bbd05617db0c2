// Strings between Python and the library: UTF-8, with the other bytes as os.fsdecode() has them.
//
// A name in a file needn't be UTF-8. Each of its bytes that isn't becomes one of the surrogates
// U+DC80 to U+DCFF, and turns into the byte again on its way back ("surrogateescape").
// Included in place of nanobind/stl/string.h.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    PyObject* const bytes =
        PyUnicode_Check(source.ptr()) ? PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape") : nullptr;
    if (bytes == nullptr) {
      PyErr_Clear();
      return false;
    }
    value.assign(PyBytes_AsString(bytes), static_cast<size_t>(PyBytes_Size(bytes)));
    Py_DECREF(bytes);
    return true;
  }

  static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  }
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)
