// stria join and stria compact: write a file anew, as one without parts or without unused space.
#include <fmt/format.h>

#include "command.hpp"
#include "file/rewrite/joining.hpp"
#include "report/text.hpp"

namespace stria::tool {

namespace {

double megabytes(int64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

int join(Ranks& ranks, const std::string& path, const std::string& target, const Hints& hints) {
  file::Rewritten joined;
  on_root(ranks, [&] { joined = file::join_file(path, target, hints); });
  print(ranks, fmt::format("{}: {:.1f} MB of {} are in one file\n", target, megabytes(joined.file_bytes),
                           counted_text(joined.part_count, "part")));
  return kDone;
}

int compact(Ranks& ranks, const std::string& path, const std::string& target, const Hints& hints) {
  file::Rewritten compacted;
  on_root(ranks, [&] { compacted = file::compact_file(path, target, hints); });
  print(ranks,
        fmt::format("{}: {:.3f} MB, of {:.3f} MB\n", target, megabytes(compacted.file_bytes), megabytes(compacted.old_bytes)));
  return kDone;
}

using Rewrite = int(Ranks&, const std::string& path, const std::string& target, const Hints&);

/// Adds what both commands take; without an output the file itself is replaced.
void add_options(Command command, const char* file, const char* output_help, Rewrite* rewrite, Action& action) {
  auto path = std::make_shared<std::string>();
  auto output = std::make_shared<std::string>();
  auto entries = std::make_shared<std::vector<std::string>>();
  command.add_option("file", *path, file).required().check(not_empty());
  command.add_option("-o,--output", *output, output_help).check(not_empty());
  command.add_option("--hint", *entries, "a hint for the new file, as name=value; may be repeated");
  command.callback([=, &action] {
    action = [=](Ranks& ranks) {
      return rewrite(ranks, *path, output->empty() ? *path : *output, parse_hints(ranks, *entries));
    };
  });
}

}  // namespace

void add_join(Command app, Action& action) {
  add_options(app.add_subcommand("join", "make one plain file of one that is kept in parts"), "the file that names the parts",
              "the new file; without it the file replaces FILE, and the parts are removed", join, action);
}

void add_compact(Command app, Action& action) {
  add_options(app.add_subcommand("compact", "write an HDF5 file anew, without the space that additions have left unused"),
              "the file", "the new file; without it the file replaces FILE", compact, action);
}

}  // namespace stria::tool
