/// The answer of `simgrad predict`.
#include "outputs/text/chinese.h"

namespace simgrad::outputs {
namespace {

constexpr Translation predict_texts[] = {
    {"1 row", "1 行"},
    {"{} rows", "{} 行"},
    {"1 token", "1 个词元"},
    {"{} tokens", "{} 个词元"},
    {"{} predicted", "已预测 {}"},
    {", {} left out for a missing value, as in the training", "，另有 {} 因缺值而略去，与训练时相同"},
    {"loss", "损失"},
    {", the mean over {} with a target, penalty included", "，是有目标值的 {} 的平均值，含惩罚项"},
    {", of targets in units of their standard deviation in the training", "，目标值以其在训练中的标准差为单位"},
    {"root mean square error", "均方根误差"},
    {", in the target's own units", "，以目标值自己的单位计"},
};

}  // namespace

std::span<const Translation> predict_in_chinese() { return predict_texts; }

}  // namespace simgrad::outputs
