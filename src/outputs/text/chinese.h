/// The Chinese texts, by the places where they are read. The words are those of docs/*.zh.md and docs/lessons/zh.
#pragma once

#include <span>

#include "outputs/text/language.h"

namespace simgrad::outputs {

std::span<const Translation> words_in_chinese();      ///< used in several places
std::span<const Translation> table_in_chinese();      ///< the terminal
std::span<const Translation> sentences_in_chinese();  ///< the report's summary
std::span<const Translation> charts_in_chinese();     ///< the sentences of its charts
std::span<const Translation> plan_in_chinese();       ///< the answer of `simgrad plan`
std::span<const Translation> capacity_in_chinese();   ///< the answer of `simgrad capacity`
std::span<const Translation> predict_in_chinese();    ///< the answer of `simgrad predict`
/// The notes that a run records, which no text of this folder makes: {} stands for any letters.
std::span<const Translation> notes_in_chinese();

}  // namespace simgrad::outputs
