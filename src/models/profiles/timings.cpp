#include "models/profiles/timings.h"

#include "models/profiles/bert_large.h"
#include "models/profiles/dlrm.h"
#include "models/profiles/image_networks.h"
#include "models/profiles/layer_profile.h"
#include "models/profiles/operator_graph.h"

namespace simgrad::models {

namespace {

class TimedAsItself final : public ProfiledModel {
 public:
  static constexpr base::About about{
      .kind = timed_as_itself, .summary = "The run's own model.", .cost = "", .source = ""};
  void describe(base::Describer&) override {}
  std::vector<Layer> profile() const override { return {}; }

 protected:
  std::string_view kind() const override { return about.kind; }
};

}  // namespace

const base::Registry<Model>& timings() {
  static const base::Registry<Model> models({
      base::entry<Model, TimedAsItself>(),
      base::entry<Model, ResNet50>(),
      base::entry<Model, ResNet152>(),
      base::entry<Model, InceptionV3>(),
      base::entry<Model, Vgg16>(),
      base::entry<Model, AlexNet>(),
      base::entry<Model, BertLarge>(),
      base::entry<Model, Dlrm>(),
      base::entry<Model, LayerProfile>(),
      base::entry<Model, OperatorGraph>(),
  });
  return models;
}

}  // namespace simgrad::models
