/// A model given by a table of its layers, for timing-only runs.
#pragma once

#include <string>

#include "models/profiles/layer_table.h"
#include "models/profiles/profiled_model.h"

namespace simgrad::models {

class LayerProfile final : public ProfiledModel {
 public:
  static constexpr base::About about{
      .kind = "profile",
      .summary = "Any model as a CSV file of its layers, timing only: parameters, flops or seconds, activation bytes.",
      .cost = "as the file says",
      .source =
          "A. Harlap et al., PipeDream: Fast and Efficient Pipeline Parallel DNN Training, 2018 (profiles by layer)"};

  std::string path;

  void describe(base::Describer& d) override;
  std::vector<std::string> files() const override;
  std::vector<Layer> profile() const override { return table_.layers; }
  using ProfiledModel::refusal;
  std::string refusal(const Problem& problem) const override;

 protected:
  double entrance_bytes(const std::vector<Layer>& layers, std::size_t layer) const override;
  std::string_view kind() const override { return about.kind; }

 private:
  std::string path_read_;  ///< the file whose layers these are
  LayerTable table_;
};

}  // namespace simgrad::models
