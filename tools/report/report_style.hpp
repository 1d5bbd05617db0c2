// The style of the report.
#pragma once

namespace stria::tool {

/// CSS, for light and dark.
extern const char kReportStyle[];

}  // namespace stria::tool
