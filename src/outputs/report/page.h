/// The page of the report without its data: one HTML file that holds its style and its program (analysis/report/).
#pragma once

#include <string_view>

namespace simgrad::outputs {

/// Returns the page. It holds "@simgrad-data@" exactly once, in the place of the data, which are JSON without any "<".
/// Empty if simgrad was built without Node. analysis/report/embed.cmake writes this function during the build.
std::string_view page();

}  // namespace simgrad::outputs
