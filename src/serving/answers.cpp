#include "serving/answers.h"

#include <utility>

#include "serving/stage.h"

namespace simgrad::serving {

Answers::Answers(const models::Transformer& model, const models::Problem& problem, int pipeline, int tensor,
                 std::vector<double> w, std::vector<Tokens> prompts, std::function<std::string(const Tokens&)> text)
    : prompts_(std::move(prompts)), answers_(prompts_.size()), text_(std::move(text)) {
  const models::TransformerShape shape = model.options.shape(problem.vocabulary);
  for (int stage = 0; stage < pipeline; ++stage)
    stages_.push_back(
        std::make_unique<models::StageDecoder>(model, problem, chunk_of(shape, stage, pipeline, tensor), w));
}

void Answers::pass(int stage, const Iteration& iteration, Passing& passing) {
  passing.numbers.resize(iteration.slices.size());
  passing.chosen.resize(iteration.slices.size(), -1);
  models::StageDecoder& decoder = *stages_[static_cast<std::size_t>(stage)];
  for (std::size_t s = 0; s < iteration.slices.size(); ++s) {
    const Slice& slice = iteration.slices[s];
    Tokens tokens;
    const Tokens &prompt = prompts_[slice.request], &answer = answers_[slice.request];
    for (std::int64_t i = slice.first; i < slice.first + slice.tokens; ++i) {
      const auto at = static_cast<std::size_t>(i);
      tokens.push_back(at < prompt.size() ? prompt[at] : answer[at - prompt.size()]);
    }
    auto& kept = kept_[slice.request];
    kept.resize(stages_.size());
    decoder.pass(tokens, kept[static_cast<std::size_t>(stage)], passing.numbers[s]);
    if (slice.answers && static_cast<std::size_t>(stage) + 1 == stages_.size())
      passing.chosen[s] = decoder.next_token(passing.numbers[s]);
  }
}

void Answers::take(const Iteration& iteration, const Passing& passing) {
  for (std::size_t s = 0; s < iteration.slices.size(); ++s)
    if (iteration.slices[s].answers) answers_[iteration.slices[s].request].push_back(passing.chosen[s]);
}

void Answers::forget(std::size_t request) { kept_.erase(request); }

}  // namespace simgrad::serving
