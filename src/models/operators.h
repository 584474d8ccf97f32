/// Models as operators of a dataflow graph: units, and the outputs that each of them reads.
///
/// A model that can be cut is a chain of its units. A model that has branches says itself who reads which output. All
/// others are one operator.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "models/cut_model.h"
#include "models/model.h"

namespace simgrad::models {

/// One unit of a model.
struct ModelOperator {
  std::string name;
  std::size_t first_layer = 0, layers = 0;  ///< of the model's layers in forward order, as it is cut
  std::vector<std::size_t> inputs = {};     ///< operators before this one whose outputs it reads
  double output_numbers = 0.0;              ///< of a sample, in the format of activations; 0: the loss is here
  double output_bytes = 0.0;                ///< of a sample, beside them, whatever that format is
};

/// A model whose units are no chain. Where runs compute numbers, a unit reads one output.
class Dataflow {
 public:
  virtual ~Dataflow() = default;
  /// By unit, each behind those that it reads.
  virtual std::vector<ModelOperator> operators(const Problem& problem) const = 0;
};

/// The model cut between its operators: the model itself, where it can be cut.  The result must not outlive the model.
std::shared_ptr<const CutModel> cut_into_operators(const Model& model);

/// The operators of a model, by unit; one for a model that can neither be cut nor has branches.
std::vector<ModelOperator> operators_of(const Model& model, const Problem& problem);

}  // namespace simgrad::models
