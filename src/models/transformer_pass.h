/// The forward and backward passes of a transformer over rows of tokens.
#pragma once

#include <span>

#include "models/model.h"
#include "models/transformer.h"
#include "models/transformer_shape.h"
#include "values/wire_format.h"

namespace simgrad::models {

/// Some five hundred tokens, or one sequence, are passed at a time, so that memory does not grow with the rows. For
/// each of these tokens about layers x (8 hidden + 2 feed_forward + heads x sequence) numbers are kept. Numbers are
/// double in float64, else float; in a half-precision format they are rounded to it, too.

/// Loss and metric of the rows: the sums over rows of the means over a row's tokens.  w: (parameters).
Score transformer_score(const TransformerShape& shape, const Samples& rows, std::span<const double> w,
                        values::Format format);
/// The probabilities of the token behind each token of the rows: (rows, sequence, vocabulary).
void transformer_predict(const TransformerShape& shape, const Samples& rows, std::span<const double> w,
                         values::Format format, std::span<double> predictions);
/// The loads of experts in a gradient's forward pass.
std::vector<ExpertLoad> transformer_expert_loads(const TransformerShape& shape, const Samples& rows,
                                                 std::span<const double> w, values::Format format);
/// Adds scale times the gradient of the sum of the rows' losses to `gradient`.  w, gradient: (parameters).
void add_transformer_gradient(const TransformerShape& shape, const Samples& rows, std::span<const double> w,
                              double scale, values::Format format, std::span<double> gradient);

}  // namespace simgrad::models
