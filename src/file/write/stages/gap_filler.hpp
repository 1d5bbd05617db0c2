// The fill value of elements that nobody puts.
//
// Problem: the raw data of a dataset in one piece begin as a hole in the file, which reads as
// zeros. No rank knows what the others put.
// Method: a dataset has no gap if its puts have as many bytes as it has, and the same sum of their
// places: what was put twice can't stand for what nobody put. Else the ranks share all of it and
// write the fill value, before anything is put there. Chunks are filled where they are packed.
// Cost: a sum over the ranks; a dataset with gaps is written once more.
#pragma once

#include <vector>

#include "file/session/open_file.hpp"
#include "file/write/target/new_file.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Says whether each dataset is put whole or was filled. The same on every rank.
using FilledDatasets = std::vector<char>;

/// Writes the fill value wherever datasets in one piece aren't put whole by the pending puts, once
/// for each dataset, before anything of it is moved; the `last` time of all. Keeps what is `full`
/// then. Collective: yes, the error is agreed on.
Status fill_gaps(OpenFile& file, NewFile& target, FilledDatasets& full, bool last);

}  // namespace stria::file
