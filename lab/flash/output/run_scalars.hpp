// A run's options and scalars as the lists of a FLASH file, and back.
#pragma once

#include "format/flash_file.hpp"
#include "sedov/sedov_run.hpp"

namespace stria::flash {

/// Everything that a restart needs besides the blocks, under FLASH's names where there are any.
ScalarLists lists_of_run(const SedovRun& run, int checkpoint_number, int plot_number, bool corners);

/// Returns the options that the lists were made with. Throws stria::Error (kFormat), which names
/// what is missing.
SedovOptions options_from_lists(const FlashHeader& header);
RunScalars scalars_from_lists(const ScalarLists& lists);

}  // namespace stria::flash
