/// An encoding of data as JSON, in the file of a model.
#pragma once

#include <nlohmann/json.hpp>

#include "data/encoding.h"

namespace simgrad::experiment {

nlohmann::ordered_json json_of(const data::Encoding& encoding);
/// Errors: EnvironmentError for members that are not there, or that are not what `json_of` writes.
data::Encoding encoding_of(const nlohmann::ordered_json& json);

}  // namespace simgrad::experiment
