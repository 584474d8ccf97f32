/// Who is ahead: the best case of each strategy, the fastest first.
#pragma once

#include <vector>

#include "outputs/report/why.h"

namespace simgrad::outputs::report {

/// Time to the target where a case reached it with every seed, else throughput.
Measure best_measure(const View& view);

/// Of each strategy its best case by the measure, the best first.  With one strategy: all its cases.  Strategies
/// without the measure are left out.
std::vector<const Case*> ranking(const View& view, Measure measure);

}  // namespace simgrad::outputs::report
