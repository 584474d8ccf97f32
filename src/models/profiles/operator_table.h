/// Operators of a dataflow graph, as tables of a scenario or lines of a CSV file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"

namespace simgrad::models {

/// One [[model.operator]]. Numbers are those of a sample.
struct GraphOperator : base::Described {
  std::string name;
  std::vector<std::string> inputs;       ///< names of operators whose outputs it reads; none: it reads the samples
  double flops = 0.0;                    ///< of the forward operator
  std::optional<double> backward_flops;  ///< default: twice as many; as many where it has no inputs
  std::int64_t parameters = 0;
  double output_bytes = 0.0;               ///< sent to each device that reads the output
  std::optional<double> activation_bytes;  ///< kept for the backward operator; default: output_bytes

  void describe(base::Describer& d) override;
};

/// The reason why operators are no graph that can be run.
struct GraphFault {
  std::size_t at = 0;         ///< the operator at fault
  bool in_its_inputs = true;  ///< else in its name
  std::string text;
};

/// Operators in an order in which each stands behind those that it reads: of the operators that could come next, the
/// first one in the table.
struct OrderedGraph {
  std::vector<std::size_t> order = {};                ///< numbers in the table
  std::vector<std::vector<std::size_t>> inputs = {};  ///< by place in `order`: places of the operators that it reads
  std::optional<GraphFault> fault = {};               ///< too many parameters, an unknown or repeated name, or a cycle
};
OrderedGraph ordered(const std::vector<GraphOperator>& table);

/// The columns, in any order, in the file's first line: name, flops and output_bytes, and if wanted inputs (names with
/// spaces between them), backward_flops, parameters, activation_bytes; cells of the optional columns may be empty. A
/// line is an operator.
/// Errors: EnvironmentError for a file that cannot be read. ScenarioError `file:line:column: what was found, what was
/// expected` for columns and cells as read_layers has them, and for the faults of ordered().
std::vector<GraphOperator> read_operators(const std::string& path);

}  // namespace simgrad::models
