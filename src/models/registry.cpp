/// The models a scenario can name.
#include "models/least_squares.h"
#include "models/logistic_regression.h"
#include "models/model.h"
#include "models/perceptron.h"
#include "models/softmax_regression.h"

namespace simgrad::models {

const base::Registry<Model>& registry() {
  static const base::Registry<Model> models({
      base::entry<Model, LeastSquares>(),
      base::entry<Model, LogisticRegression>(),
      base::entry<Model, SoftmaxRegression>(),
      base::entry<Model, Perceptron>(),
  });
  return models;
}

}  // namespace simgrad::models
