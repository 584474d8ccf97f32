/// The models a scenario can name.
#include "models/factorization_machine.h"
#include "models/k_means.h"
#include "models/least_squares.h"
#include "models/logistic_regression.h"
#include "models/matrix_factorization.h"
#include "models/model.h"
#include "models/multimodal_perceptron.h"
#include "models/multitask_perceptron.h"
#include "models/perceptron.h"
#include "models/profiles/bert_large.h"
#include "models/profiles/dlrm.h"
#include "models/profiles/image_networks.h"
#include "models/profiles/layer_profile.h"
#include "models/profiles/operator_graph.h"
#include "models/softmax_regression.h"
#include "models/sparse_logistic.h"
#include "models/transformer.h"
#include "models/wide_and_deep.h"

namespace simgrad::models {

const base::Registry<Model>& registry() {
  static const base::Registry<Model> models({
      base::entry<Model, LeastSquares>(),
      base::entry<Model, LogisticRegression>(),
      base::entry<Model, SoftmaxRegression>(),
      base::entry<Model, Perceptron>(),
      base::entry<Model, MatrixFactorization>(),
      base::entry<Model, KMeans>(),
      base::entry<Model, MultitaskPerceptron>(),
      base::entry<Model, MultimodalPerceptron>(),
      base::entry<Model, SparseLogistic>(),
      base::entry<Model, FactorizationMachine>(),
      base::entry<Model, WideAndDeep>(),
      base::entry<Model, Transformer>(),
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
