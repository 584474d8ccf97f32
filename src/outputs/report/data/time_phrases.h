/// The parts of a worker's time in words.
#pragma once

#include <optional>
#include <string_view>

#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

/// Returns a part in plain words, to be translated: "waiting for a gradient".
std::string_view phrase(record::TimePart part);
/// Returns a part of a gradient: "products".
std::string_view phrase(record::GradientPart part);

/// Seconds of the gradients by kind of work: means over the workers and the seeds; nothing if a run does not know them.
std::optional<record::GradientTimes> gradient_of(const Case& one);

/// Returns means over the workers and the seeds; nothing if a run has no parts.
std::optional<record::TimeParts> parts_of(const Case& one);

/// Returns the largest part of an activity if it is at least half of the activity's time.
std::optional<record::TimePart> main_part(const Case& one, record::Activity activity);

}  // namespace simgrad::outputs::report
