/// A data set as models see it.
#pragma once

#include "data/dataset.h"
#include "models/model.h"

namespace simgrad::training {

inline models::Samples samples_of(const data::Dataset& set) {
  const data::SparseRows& sparse = set.sparse;
  return {.features = set.features.data(),
          .targets = set.targets.data(),
          .columns = set.columns,
          .count = set.rows,
          .starts = sparse.any() ? sparse.starts.data() : nullptr,
          .keys = sparse.keys.data(),
          .values = sparse.values.empty() ? nullptr : sparse.values.data()};
}

}  // namespace simgrad::training
