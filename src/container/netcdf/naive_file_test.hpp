// A naive reader of classic netCDF files in memory, for comparison: it trusts everything, and reads
// one element at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace stria::container::test {

class NaiveFile {
 public:
  struct Dimension {
    std::string name;
    int64_t length;
  };
  struct Attribute {
    std::string name;
    int type;
    std::vector<double> values;  // characters are their codes
  };
  struct Variable {
    std::string name;
    std::vector<int> dimensions;
    std::vector<Attribute> attributes;
    int type;
    int64_t stored_bytes;
    int64_t begin;
  };

  explicit NaiveFile(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {
    if (text(3) != "CDF") {
      throw std::runtime_error("no netCDF file");
    }
    version = static_cast<int>(number(1));
    records = count();
    for (int64_t left = list(0x0a); left > 0; --left) {
      std::string name = padded_name();
      dimensions.push_back({name, count()});
    }
    attributes = attribute_list();
    for (int64_t left = list(0x0b); left > 0; --left) {
      Variable variable{padded_name(), {}, {}, 0, 0, 0};
      for (int64_t dims = count(); dims > 0; --dims) {
        variable.dimensions.push_back(static_cast<int>(count()));
      }
      variable.attributes = attribute_list();
      variable.type = static_cast<int>(number(4));
      variable.stored_bytes = count();
      variable.begin = number(version == 1 ? 4 : 8);
      variables.push_back(variable);
    }
    header_bytes = at_;
  }

  static int64_t width(int type) {
    constexpr int64_t kWidths[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return kWidths[type];
  }
  const Variable& variable(const std::string& name) const {
    for (const Variable& one : variables) {
      if (one.name == name) {
        return one;
      }
    }
    throw std::runtime_error("no variable " + name);
  }
  bool is_record(const Variable& variable) const { return !variable.dimensions.empty() && length(variable, 0) == 0; }
  int64_t length(const Variable& variable, size_t dimension) const {
    return dimensions[static_cast<size_t>(variable.dimensions[dimension])].length;
  }
  int64_t row_values(const Variable& variable) const {
    int64_t values = 1;
    for (size_t i = is_record(variable) ? 1 : 0; i < variable.dimensions.size(); ++i) {
      values *= length(variable, i);
    }
    return values;
  }
  int64_t record_bytes() const {
    int64_t sum = 0;
    int64_t exact = 0;
    int count = 0;
    for (const Variable& one : variables) {
      if (is_record(one)) {
        exact = row_values(one) * width(one.type);
        sum += (exact + 3) / 4 * 4;
        ++count;
      }
    }
    return count == 1 ? exact : sum;
  }
  std::vector<double> values(const std::string& name) {
    const Variable& wanted = variable(name);
    const int64_t rows = is_record(wanted) ? records : 1;
    const int64_t stride = is_record(wanted) ? record_bytes() : 0;
    std::vector<double> all;
    for (int64_t row = 0; row < rows; ++row) {
      at_ = wanted.begin + row * stride;
      for (int64_t i = 0; i < row_values(wanted); ++i) {
        all.push_back(value(wanted.type));
      }
    }
    return all;
  }

  int version = 0;
  int64_t records = 0;
  int64_t header_bytes = 0;
  std::vector<Dimension> dimensions;
  std::vector<Attribute> attributes;
  std::vector<Variable> variables;

 private:
  uint64_t raw(int64_t bytes) {
    uint64_t value = 0;
    for (int64_t i = 0; i < bytes; ++i) {
      value = value * 256 + static_cast<uint64_t>(bytes_.at(static_cast<size_t>(at_++)));
    }
    return value;
  }
  int64_t number(int64_t bytes) { return static_cast<int64_t>(raw(bytes)); }
  int64_t count() { return number(version == 5 ? 8 : 4); }
  std::string text(int64_t bytes) {
    std::string result;
    for (int64_t i = 0; i < bytes; ++i) {
      result += static_cast<char>(raw(1));
    }
    return result;
  }
  std::string padded_name() {
    std::string result = text(count());
    at_ = (at_ + 3) / 4 * 4;
    return result;
  }
  int64_t list(int64_t tag) {
    const int64_t found = number(4);
    const int64_t size = count();
    if (found != (size == 0 ? 0 : tag)) {
      throw std::runtime_error("a list of another kind");
    }
    return size;
  }
  std::vector<Attribute> attribute_list() {
    std::vector<Attribute> result;
    for (int64_t left = list(0x0c); left > 0; --left) {
      Attribute attribute{padded_name(), 0, {}};
      attribute.type = static_cast<int>(number(4));
      for (int64_t values = count(); values > 0; --values) {
        attribute.values.push_back(value(attribute.type));
      }
      at_ = (at_ + 3) / 4 * 4;
      result.push_back(attribute);
    }
    return result;
  }
  double value(int type) {
    const uint64_t bits = raw(width(type));
    switch (type) {
      case 1:
        return static_cast<int8_t>(bits);
      case 3:
        return static_cast<int16_t>(bits);
      case 4:
        return static_cast<int32_t>(bits);
      case 5:
        return std::bit_cast<float>(static_cast<uint32_t>(bits));
      case 6:
        return std::bit_cast<double>(bits);
      case 10:
        return static_cast<double>(static_cast<int64_t>(bits));
      default:
        return static_cast<double>(bits);
    }
  }

  std::vector<std::byte> bytes_;
  int64_t at_ = 0;
};

}  // namespace stria::container::test
