#include "cli/exported_inventory.h"

#include "cli/address_lookup.h"
#include "cli/database/database.h"
#include "cli/database/database_reader.h"
#include "cli/render/export.h"
#include "cli/version.h"
#include "parsers/base/error.h"
#include "parsers/base/text.h"
#include "parsers/index/part.h"

#include <memory>
#include <span>
#include <string_view>

namespace heapsift {
namespace {

/// Changes with the fields.
std::string inventory_form() { return "heapsift.inventory/2 " + version(); }

/// __main__.__file__, as Python would write it; empty without one.
std::string script_of(const HeapReader& heap) {
    constexpr std::size_t longest_path = 4096;
    try {
        return heap.value(find_object(heap, parse_address("__main__.__file__")).object, longest_path).text;
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

CoreIdentity whole_identity(const HeapReader& heap) {
    CoreIdentity identity = core_identity(heap);
    identity.script = script_of(heap);
    return identity;
}

bool is_export(const std::string& path) { return is_database_of(path, export_application_id); }

void write_inventory(Database& database, const Inventory& inventory) {
    database.execute("CREATE TABLE inventory(form TEXT, part BLOB)");
    Statement insert = database.prepare("INSERT INTO inventory VALUES(?,?)");
    PartWriter part("inventory");
    Inventory::whole_fields(inventory, part);
    const std::span<const std::byte> bytes = part.blobs().front();
    const std::string form = inventory_form();
    insert.bind(1, form);
    insert.bind_blob(2, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    insert.run();
}

Inventory read_inventory(const std::string& path) {
    const auto refuse = [&](const std::string& why) {
        return cannot_analyse("no-inventory", escape_for_terminal(path) + ": this export " + why,
                              "export it again");
    };
    const std::string form = blob_of_database(path, "SELECT form FROM inventory");
    if (form.empty())
        throw refuse("has no inventory to compare: it was made with --redact, or by an older heapsift");
    if (form != inventory_form()) throw refuse("was made by another version of heapsift");
    const auto bytes =
        std::make_shared<const std::string>(blob_of_database(path, "SELECT part FROM inventory"));
    try {
        PartReader part({std::as_bytes(std::span(*bytes))}, true, bytes);
        Inventory inventory;
        Inventory::whole_fields(inventory, part);
        part.finish();
        return inventory;
    } catch (const IndexDamage& damage) {
        throw refuse(std::string("is damaged: ") + damage.what());
    }
}

}  // namespace heapsift
