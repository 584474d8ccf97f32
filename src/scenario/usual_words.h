/// Words by which users of PyTorch, Hugging Face, MPI and Slurm know what a scenario says with a key.
#pragma once

#include <span>
#include <string_view>

namespace simgrad::scenario {

struct UsualWord {
  std::string_view word;
  std::string_view key;  ///< without its section
};

std::span<const UsualWord> usual_words();

/// Returns the key for such a word: "workers" for "world_size"; empty for a word that is none of them.
std::string_view key_for_word(std::string_view word);

}  // namespace simgrad::scenario
