/// Checks the contents of a model's file against the model's own kind.
///
/// The checksum of such a file has no key, so that a file with any contents can be made. Models and the readers of
/// further rows take lengths and places as they are written: whatever they rely on is checked here, once.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/encoding.h"
#include "models/model.h"

namespace simgrad::experiment {

/// The options in the [model] of a file, before they are read: the reason why no training leaves such a file, or empty.
/// Options that name files are refused, so that nothing but the model's own file is opened.
std::string options_fault(const nlohmann::ordered_json& options);

/// The reason why no model of this kind has so many parameters for this problem, or empty.  layers: as the file has
/// them: names, places, and shapes of matrices.
std::string shape_fault(const models::Model& model, const models::Problem& problem,
                        const std::vector<models::Layer>& layers, std::int64_t parameters);

/// The reason why the encoding is not that of rows on which the model was trained, or empty.
std::string encoding_fault(const models::Model& model, const models::Problem& problem, const data::Encoding& encoding);

}  // namespace simgrad::experiment
