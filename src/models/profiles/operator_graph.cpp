#include "models/profiles/operator_graph.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace simgrad::models {

namespace {

bool of_tables(const std::string& path) { return path.ends_with(".toml"); }

}  // namespace

void OperatorGraph::describe(base::Describer& d) {
  d.path("path", path,
         "a TOML file of [[operator]] tables; or a CSV file with a line for each operator: name, inputs (names with "
         "spaces between them), flops, output_bytes, and optionally backward_flops, parameters, activation_bytes; the "
         "numbers are per sample");
  d.list("operator", tables, "the operators, in place of a file");
  if (path.empty() == tables.empty())
    return d.refuse(path.empty() ? "kind" : "path",
                    path.empty() ? "kind = \"operator_graph\" needs operators; give path = \"...\" or "
                                   "[[model.operator]] tables"
                                 : "path contradicts [[model.operator]]; leave one of them out");
  if (of_tables(path)) {
    if (!lacks_tables()) return;
    path_read_.clear();
    read_.clear();
    graph_ = {};
    return;
  }
  try {
    if (path != path_read_ && !path.empty()) read_ = read_operators(path);
    path_read_ = path;
  } catch (const base::ScenarioError& error) {
    return d.refuse("path", error.what());
  }
  graph_ = ordered(table());
}

bool OperatorGraph::lacks_tables() const { return of_tables(path) && path != path_read_; }

void OperatorGraph::give_tables(std::vector<GraphOperator> of_file) {
  path_read_ = path;
  read_ = std::move(of_file);
  graph_ = ordered(read_);
}

std::vector<std::string> OperatorGraph::files() const {
  if (path.empty()) return {};
  return {path};
}

std::vector<Layer> OperatorGraph::profile() const {
  std::vector<Layer> layers;
  std::int64_t first = 0;
  for (const std::size_t number : graph_.order) {
    const GraphOperator& graph_operator = table()[number];
    Layer& layer = layers.emplace_back();
    layer.first = first;
    layer.count = graph_operator.parameters;
    layer.forward_flops = graph_operator.flops;
    layer.backward_flops =
        graph_operator.backward_flops.value_or((graph_operator.inputs.empty() ? 1.0 : 2.0) * graph_operator.flops);
    layer.name = graph_operator.name;
    layer.unit = static_cast<std::int64_t>(layers.size()) - 1;
    layer.kept.bytes = graph_operator.activation_bytes.value_or(graph_operator.output_bytes);
    first += layer.count;
  }
  return layers;
}

std::vector<ModelOperator> OperatorGraph::operators(const Problem&) const {
  std::vector<ModelOperator> all;
  for (std::size_t i = 0; i < graph_.order.size(); ++i) {
    const GraphOperator& graph_operator = table()[graph_.order[i]];
    all.push_back({.name = graph_operator.name,
                   .first_layer = i,
                   .layers = 1,
                   .inputs = graph_.inputs[i],
                   .output_bytes = graph_operator.output_bytes});
  }
  return all;
}

std::string OperatorGraph::refusal(const Problem&) const {
  if (totals(profile()).parameters > 0) return {};
  return "the operators have no parameters, so that there is nothing to train; expected at least one";
}

double OperatorGraph::entrance_bytes(const std::vector<Layer>&, std::size_t layer) const {
  std::vector<bool> crosses(layer, false);
  for (std::size_t i = layer; i < graph_.inputs.size(); ++i)
    for (const std::size_t input : graph_.inputs[i])
      if (input < layer) crosses[input] = true;
  double bytes = 0.0;
  for (std::size_t i = 0; i < layer; ++i)
    if (crosses[i]) bytes += table()[graph_.order[i]].output_bytes;
  return bytes;
}

}  // namespace simgrad::models
