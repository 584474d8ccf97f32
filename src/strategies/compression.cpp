#include "strategies/compression.h"

#include <fmt/format.h>

#include "strategies/circumstances.h"

namespace simgrad::strategies {

void describe_compression(base::Describer& d, Compression& compression) {
  d.component("compression", compression, "how gradients are compressed before they are sent");
}

void describe_parameter_compression(base::Describer& d, std::string_view key, Compression& compression,
                                    std::string_view meaning) {
  d.component(key, compression, meaning);
  if (!compression->keeps_parameters())
    d.refuse(key,
             fmt::format("{} = \"{}\" would leave out most of the parameters; take float32, float16, bfloat16, int8 or "
                         "qsgd",
                         key, compression.kind()));
  else if (compression->error_feedback)
    d.refuse(key,
             "error_feedback adds what one message leaves out to the next, but each message of parameters is whole by "
             "itself; leave it out");
}

void describe_move_compression(base::Describer& d, Compression& compression) {
  d.component("compression", compression, "how a replica's move is compressed before it is sent");
  if (!compression->says_how_far())
    d.refuse("compression",
             "scale = \"majority\" says in which direction and not how far, but replicas' moves are averaged; "
             "set scale = \"l1_mean\"");
}

void refuse_unused_algorithm(base::Describer& d, std::string_view algorithm, const training::Compressor& compressor) {
  if (algorithm == "ring" || algorithm == "auto" || compressor.sums()) return;
  d.refuse("algorithm",
           fmt::format("algorithm = \"{}\" sums vectors on their way, but the codes of this compression cannot be "
                       "summed and are gathered around a ring instead; leave algorithm out, or take a compression "
                       "whose codes can be summed (float32, float16, bfloat16, random_k, power_sgd)",
                       algorithm));
}

std::optional<Refusal> compression_refusal(const Compression& compression, const Circumstances& circumstances,
                                           std::string_view key) {
  const training::Compressor& code = *compression;
  // An exact code suits every model; nothing is asked of a large one.
  std::string why = code.exact() ? "" : code.refusal(circumstances.parameters, circumstances.layers());
  const double wire = training::number_bytes(circumstances.precision, circumstances.wire).wire;
  if (circumstances.wire != training::Wire::as_precision && code.sparse())
    why =
        "a sparse code has numbers and places of its own formats, while training.wire says how uncompressed numbers "
        "travel; leave training.wire out, or take another compression";
  else if (circumstances.wire != training::Wire::as_precision && !code.exact() && code.bytes_per_number(9.0) < 9.0 &&
           code.bytes_per_number(9.0) > wire)
    why = fmt::format(
        "numbers of {} bytes, but training.wire sends all numbers in {}; leave compression out, or take a shorter one",
        code.bytes_per_number(9.0), wire);
  if (why.empty()) return {};
  return Refusal{std::string(key), fmt::format("{} = \"{}\": {}", key, compression.kind(), why)};
}

}  // namespace simgrad::strategies
