/// The numbers of answers: prompts out of the data, and the model cut as the ranks have it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/transformer.h"
#include "models/transformer_decoder.h"
#include "serving/replica.h"

namespace simgrad::serving {

/// The tokens of an iteration on their way through the stages.
struct Passing {
  std::vector<std::vector<double>> numbers;  ///< by slice: (tokens x hidden)
  std::vector<std::int64_t> chosen;          ///< by slice; -1: none was
};

class Answers {
 public:
  using Tokens = std::vector<std::int64_t>;
  /// w: the model's parameters.  prompts: one a request.  text: tokens as people read them.
  Answers(const models::Transformer& model, const models::Problem& problem, int pipeline, int tensor,
          std::vector<double> w, std::vector<Tokens> prompts, std::function<std::string(const Tokens&)> text);

  /// Passes the slices through a stage. Takes no virtual time.
  void pass(int stage, const Iteration& iteration, Passing& passing);
  /// The tokens that were chosen stand behind their requests'.
  void take(const Iteration& iteration, const Passing& passing);
  /// The request's keys and values are not needed any more.
  void forget(std::size_t request);
  std::string prompt(std::size_t request) const { return text_(prompts_[request]); }
  /// The answer so far.
  std::string answer(std::size_t request) const { return text_(answers_[request]); }

 private:
  std::vector<std::unique_ptr<models::StageDecoder>> stages_;
  std::vector<Tokens> prompts_, answers_;
  std::function<std::string(const Tokens&)> text_;
  std::map<std::size_t, std::vector<models::KeysAndValues>> kept_;  ///< by request, then stage
};

}  // namespace simgrad::serving
