/// The layouts of a scenario's model on its cluster, and the one that [parallel] automatic takes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "experiment/plan/settings.h"
#include "scenario/document.h"
#include "strategies/automatic/layout_search.h"

namespace simgrad::experiment {

/// The options of [parallel] that the scenario leaves to the search.
strategies::FreeOptions free_options(const Settings& settings);

/// The best layouts for the first strategy, by their predicted steps; see search_layouts.  The cluster is built in a
/// process of its own, for its routes.
/// Errors: ScenarioError where the data are not known before they are read, where the schedule is asynchronous, and for
/// a cluster that cannot be built.
strategies::LayoutSearch best_layouts(const Settings& settings, const strategies::FreeOptions& free, std::size_t most);

/// Gives the options of [parallel] that are searched for the values of the best layout that `check` finds no fault
/// with, or of the best one, with its faults.  settings: checked, up to the fitness of strategies.  check: returns the
/// faults of a layout. Adds a fault where no layout is possible, or predicted.
void choose_layout(Settings& settings, const scenario::Document& document,
                   const std::function<scenario::Faults(Settings& settings)>& check, scenario::Faults& faults);

/// "28, 2 x 7": units of stages, those that follow each other with as many together.
std::string units_text(const std::vector<double>& stages);
/// "tensor 4 x pipeline 2 x data 8, micro_batches = 16, stages = [7, 5]"
std::string layout_text(const strategies::Parallel& parallel, std::int64_t workers);

}  // namespace simgrad::experiment
