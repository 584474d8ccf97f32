#include "scenario/usual_words.h"

#include <algorithm>
#include <array>

namespace simgrad::scenario {

namespace {

constexpr std::array words{
    UsualWord{"nodes", "workers"},
    UsualWord{"machines", "workers"},
    UsualWord{"gpus", "workers"},
    UsualWord{"ranks", "workers"},
    UsualWord{"world_size", "workers"},
    UsualWord{"ntasks", "workers"},
    UsualWord{"gpu", "device"},
    UsualWord{"accelerator", "device"},
    UsualWord{"delay", "latency"},
    UsualWord{"net", "bandwidth"},
    UsualWord{"network", "bandwidth"},
    UsualWord{"throughput", "bandwidth"},
    UsualWord{"flops", "speed"},
    UsualWord{"rows", "samples"},
    UsualWord{"records", "samples"},
    UsualWord{"columns", "features"},
    UsualWord{"dimensions", "features"},
    UsualWord{"input_size", "features"},
    UsualWord{"iterations", "steps"},
    UsualWord{"iters", "steps"},
    UsualWord{"updates", "steps"},
    UsualWord{"passes", "epochs"},
    UsualWord{"duration", "time"},
    UsualWord{"target", "loss"},
    UsualWord{"target_loss", "loss"},
    UsualWord{"minibatch", "batch_size"},
    UsualWord{"global_batch", "batch_size"},
    UsualWord{"per_device_train_batch_size", "batch_size_per_worker"},
    UsualWord{"per_device_batch_size", "batch_size_per_worker"},
    UsualWord{"batch_size_per_gpu", "batch_size_per_worker"},
    UsualWord{"batch_size_per_device", "batch_size_per_worker"},
    UsualWord{"micro_batch_size", "batch_size_per_worker"},
    UsualWord{"train_micro_batch_size_per_gpu", "batch_size_per_worker"},
    UsualWord{"eta", "learning_rate"},
    UsualWord{"step_size", "learning_rate"},
    UsualWord{"momentum", "optimizer"},
    UsualWord{"weight_decay", "optimizer"},
    UsualWord{"betas", "optimizer"},
    UsualWord{"scheduler", "schedule"},
    UsualWord{"grad_clip", "clip_norm"},
    UsualWord{"max_grad_norm", "clip_norm"},
    UsualWord{"dtype", "precision"},
    UsualWord{"gradient_checkpointing", "recompute"},
    UsualWord{"activation_checkpointing", "recompute"},
    UsualWord{"tensor_parallel", "tensor"},
    UsualWord{"tp", "tensor"},
    UsualWord{"tp_size", "tensor"},
    UsualWord{"pipeline_parallel", "pipeline"},
    UsualWord{"pp", "pipeline"},
    UsualWord{"pp_size", "pipeline"},
    UsualWord{"data_parallel", "data"},
    UsualWord{"dp", "data"},
    UsualWord{"dp_size", "data"},
    UsualWord{"cp", "context"},
    UsualWord{"ep", "expert"},
    UsualWord{"gradient_accumulation_steps", "micro_batches"},
    UsualWord{"gradient_accumulation", "micro_batches"},
    UsualWord{"num_microbatches", "micro_batches"},
    UsualWord{"hidden_size", "hidden"},
    UsualWord{"d_model", "hidden"},
    UsualWord{"n_layer", "layers"},
    UsualWord{"n_head", "heads"},
    UsualWord{"seq_len", "sequence"},
    UsualWord{"max_length", "sequence"},
};

}  // namespace

std::span<const UsualWord> usual_words() { return words; }

std::string_view key_for_word(std::string_view word) {
  const auto found = std::ranges::find(words, word, &UsualWord::word);
  return found == words.end() ? std::string_view() : found->key;
}

}  // namespace simgrad::scenario
