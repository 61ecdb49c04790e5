// torch.Tensor and torch.UntypedStorage as Python objects. Both are small, whatever they show: the bytes are a block of
// C code, which the graph hangs at their TensorImpl and StorageImpl (parsers/snapshot/counted_blocks.cpp). Their
// references to objects (hooks) are guessed.

#include "parsers/libraries/kinds.h"
#include "parsers/libraries/tensor_layout.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

ShortValue describe_tensor(const ObjectReader& object, std::size_t) {
    const auto facts = tensor_facts(object);
    if (!facts) return {};
    std::string text = tensor_shape(*facts) + " " + tensor_dtype(*facts);
    if (facts->device != 0) text += ", on " + tensor_device(*facts);
    if (facts->storage && facts->storage->bytes > facts->nbytes())
        text += fmt::format(", {} B of a storage of {} B", facts->nbytes(), facts->storage->bytes);
    return {ShortValue::Kind::summary, std::move(text), 0};
}

ShortValue describe_storage(const ObjectReader& object, std::size_t) {
    const auto facts = storage_facts(object);
    if (!facts) return {};
    return {ShortValue::Kind::summary, fmt::format("{} B", facts->bytes), 0};
}

constexpr const char* tensor_names[] = {"torch._C._TensorBase", "torch._C.TensorBase"};
constexpr const char* storage_names[] = {"torch._C._StorageBase", "torch._C.StorageBase"};

}  // namespace

const ObjectKind tensor_kind = {
    .name = "torch.Tensor", .type_names = tensor_names, .describe = describe_tensor, .guesses = true};
const ObjectKind torch_storage_kind = {.name = "torch.UntypedStorage",
                                       .type_names = storage_names,
                                       .describe = describe_storage,
                                       .guesses = true};

}  // namespace heapsift
