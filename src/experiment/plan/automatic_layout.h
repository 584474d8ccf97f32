/// The layouts of a scenario's model on its cluster, and the one that [parallel] automatic takes.
#pragma once

#include <cstddef>

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

/// Where `automatic` is set: gives the options that are not written the values of the best layout.  settings: checked,
/// up to the fitness of strategies.  Adds a fault where no layout is possible.
void choose_layout(Settings& settings, const scenario::Document& document, scenario::Faults& faults);

/// "tensor 4 x pipeline 2 x data 8, 16 micro-batches, stages of 7 and 5 units"
std::string layout_text(const strategies::PredictedLayout& layout);

}  // namespace simgrad::experiment
