#include "analysis/native_end.h"

#include "analysis/native_classes.h"
#include "analysis/native_contents.h"

namespace heapsift {

NativeEnd end_at(const HeapReader& heap, ObjectId object) {
    NativeEnd end;
    end.object = brief_object_row(heap, object);
    end.address = end.object->address;
    return end;
}

NativeEnd end_at(const HeapReader& heap, BlockId block) {
    const NativeGraph& native = *heap.snapshot().native_graph;
    NativeEnd end;
    end.is_block = true;
    end.address = native.start(block);
    end.bytes = native.bytes(block);
    end.words = class_of_block(heap, block);
    return end;
}

NativeEnd end_at(const HeapReader& heap, const NativeGraph::Entry& entry) {
    NativeEnd end;
    end.address = entry.word;
    switch (entry.from) {
        case ReachedFrom::modules:
            end.words = variable_words(heap.core(), entry.word);
            return end;
        case ReachedFrom::python_tables:
            end.words = "Python's own tables";
            return end;
        case ReachedFrom::stacks:
            end.words = "a stack or register";
            return end;
        case ReachedFrom::numbers:
            end.words = "an int that is its address";
            return end;
        case ReachedFrom::nothing:
            end.words = "nothing: it leaked";
            end.leaked = true;
            return end;
        case ReachedFrom::objects:
        case ReachedFrom::mappings:
            break;
    }
    end.words = "memory without a known owner";
    return end;
}

std::string class_of_block(const HeapReader& heap, BlockId block) {
    const AddressSpace& memory = heap.core().memory();
    const auto first = memory.read_address(heap.snapshot().native_graph->start(block));
    const Segment* segment = first ? memory.find(*first) : nullptr;
    if (!segment || segment->module < 0 || segment->executable || !first->aligned(8)) return "";
    const NativeClass found = native_class(heap.core(), *first);
    return found.named ? found.name : "";
}

}  // namespace heapsift
