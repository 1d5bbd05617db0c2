// Traces in the formats of other viewers. Each throws stria::Error when it can't write.
#pragma once

#include <string>

#include "trace/format/trace_file.hpp"

namespace stria::tool {

/// Chrome's trace JSON, which Perfetto opens: one process per rank, one track per lane, arguments
/// with every field.
void export_chrome(const trace::TraceFile& trace, const std::string& path);

/// Writes an OTF2 archive in directory `path`, with I/O operations: the anchor file is
/// PATH/trace.otf2. kUnsupported in a build without OTF2.
void export_otf2(const trace::TraceFile& trace, const std::string& path);

/// Writes one Parquet table with a row for each rank and file and a column for each counter; also
/// through Python.
void export_counters_parquet(const trace::TraceFile& trace, const std::string& path);

/// Writes one Parquet table with one row per event, through Python and pyarrow. The interpreter is
/// the one that STRIA_PYTHON names, else python3.
void export_parquet(const trace::TraceFile& trace, const std::string& path);

}  // namespace stria::tool
