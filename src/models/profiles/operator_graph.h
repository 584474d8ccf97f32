/// A model given as a dataflow graph of operators, for timing-only runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/operators.h"
#include "models/profiles/operator_table.h"
#include "models/profiles/profiled_model.h"

namespace simgrad::models {

/// Operators are layers and units, in an order in which each stands behind its inputs. Strategies that know layers
/// alone do them one after the other; between two stages of a pipeline go the outputs that operators behind the border
/// read.
class OperatorGraph final : public ProfiledModel, public Dataflow {
 public:
  static constexpr base::About about{
      .kind = "operator_graph",
      .summary = "A dataflow graph of operators, timing only: tables of the scenario, or a TOML or CSV file.",
      .cost = "as the operators say; a backward operator for each forward one",
      .source = "M. Abadi et al., TensorFlow: Large-Scale Machine Learning on Heterogeneous Distributed Systems, 2015"};

  std::string path;  ///< a CSV file, or a TOML file of such tables; empty: the tables
  std::vector<GraphOperator> tables;

  void describe(base::Describer& d) override;
  std::vector<std::string> files() const override;
  std::vector<Layer> profile() const override;
  std::vector<ModelOperator> operators(const Problem& problem) const override;
  using ProfiledModel::refusal;
  std::string refusal(const Problem& problem) const override;

  /// True while `path` names a TOML file whose tables are not here. This folder does not read TOML: who has read the
  /// scenario gives them.
  bool lacks_tables() const;
  void give_tables(std::vector<GraphOperator> of_file);
  /// The reason why the operators are no graph. That of a CSV file is told by describe().
  const std::optional<GraphFault>& fault() const { return graph_.fault; }

 protected:
  double entrance_bytes(const std::vector<Layer>& layers, std::size_t layer) const override;
  std::string_view kind() const override { return about.kind; }

 private:
  const std::vector<GraphOperator>& table() const { return path.empty() ? tables : read_; }

  std::string path_read_;  ///< the file whose operators these are
  std::vector<GraphOperator> read_;
  OrderedGraph graph_;
};

}  // namespace simgrad::models
