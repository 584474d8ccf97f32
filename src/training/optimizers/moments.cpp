#include "training/optimizers/moments.h"

#include "values/map.h"

namespace simgrad::training {

values::Tensor averaged(const values::Tensor& m, const values::Tensor& g, double decay) {
  return values::map<2>("average", {{decay}}, {m, g},
                        [decay](double m_i, double g_i) { return decay * m_i + (1.0 - decay) * g_i; });
}

values::Tensor squares_averaged(const values::Tensor& s, const values::Tensor& g, double decay) {
  return values::map<2>("average of squares", {{decay}}, {s, g},
                        [decay](double s_i, double g_i) { return decay * s_i + (1.0 - decay) * (g_i * g_i); });
}

}  // namespace simgrad::training
