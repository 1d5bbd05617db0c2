#include "tracing/trace_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "stria/status.hpp"
#include "trace/format/part_reader.hpp"

namespace stria::tool {

namespace {

std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> text((std::istreambuf_iterator<char>(file)), {});
  if (file.fail() && !file.eof()) {
    Status::from_errno(errno == 0 ? EIO : errno, fmt::format("read '{}'", path.string())).throw_if_error();
  }
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Returns the whole sections of a part, without the file's header; empty for bytes that are no
/// part.
std::span<const std::byte> whole_sections(std::span<const std::byte> part) {
  if (!trace::has_header(part)) {
    return {};
  }
  size_t end = trace::kHeaderBytes;
  while (const auto section = trace::section_at(part, end)) {
    end += trace::kSectionHeaderBytes + section->payload.size();
  }
  return part.subspan(trace::kHeaderBytes, end - trace::kHeaderBytes);
}

std::vector<std::filesystem::path> parts_in(const std::string& directory) {
  std::vector<std::filesystem::path> parts;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".part") {
      parts.push_back(entry.path());
    }
  }
  if (error) {
    Status::from_errno(error.value(), fmt::format("read the directory '{}'", directory)).throw_if_error();
  }
  if (parts.empty()) {
    throw Error(ErrorCode::kNotFound, fmt::format("no *.part in '{}'", directory));
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

/// Makes NAME.stria-trace of NAME.stria-trace.parts.
std::string merged_name(std::string directory) {
  while (directory.size() > 1 && directory.back() == '/') {
    directory.pop_back();
  }
  const std::string suffix = ".parts";
  return directory.ends_with(suffix) ? directory.substr(0, directory.size() - suffix.size()) : directory + ".stria-trace";
}

std::string merge(const std::string& directory, std::string output) {
  output = output.empty() ? merged_name(directory) : output;
  std::vector<std::byte> bytes;
  trace::append_header(bytes);
  for (const std::filesystem::path& path : parts_in(directory)) {
    const std::vector<std::byte> part = read_bytes(path);
    const auto sections = whole_sections(part);
    if (sections.size() + trace::kHeaderBytes < part.size() || sections.empty()) {
      warn(alone(), fmt::format("'{}' is cut off after {} of {} bytes", path.string(), sections.size(), part.size()));
    }
    bytes.insert(bytes.end(), sections.begin(), sections.end());
  }
  trace::TraceFile::parse(bytes).status().with_context(fmt::format("'{}'", directory)).throw_if_error();
  write_text(alone(), output, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  return output;
}

}  // namespace

trace::TraceFile read_trace(const std::string& path) {
  trace::TraceFile trace = trace::TraceFile::read(path).value();
  for (const std::string& warning : trace.warnings) {
    warn(alone(), fmt::format("'{}': {}", path, warning));
  }
  return trace;
}

void add_trace_merge(Command group, Action& action) {
  auto directory = std::make_shared<std::string>();
  auto output = std::make_shared<std::string>();
  Command command = group.add_subcommand("merge", "make one trace of the parts that a killed program left");
  command.add_option("directory", *directory, "NAME.stria-trace.parts").required();
  command.add_option("-o,--output", *output, "the file to write; default: NAME.stria-trace");
  command.callback([=, &action] {
    action = [=](Ranks& ranks) {
      on_root(ranks, [&] { print(alone(), merge(*directory, *output) + "\n"); });
      return kDone;
    };
  });
}

void add_trace_tools(Command group, Action& action) {
  add_trace_stats(group, action);
  add_trace_diff(group, action);
  add_trace_export(group, action);
  add_trace_import(group, action);
  add_trace_merge(group, action);
}

}  // namespace stria::tool
