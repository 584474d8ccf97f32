/// The report's page without its data: one HTML file with its style and its program in it (analysis/report/).
#pragma once

#include <string_view>

namespace simgrad::outputs {

/// The page. It holds "@simgrad-data@" exactly once, where the data belong as JSON without any "<".
/// Empty where simgrad was built without Node: analysis/report/embed.cmake writes this function while simgrad is built.
std::string_view page();

}  // namespace simgrad::outputs
