#include "cli/picture_file.h"

namespace heapsift {

void declare_picture(CommandOptions& declare, PictureOptions& options, const std::string& description) {
    declare.text("--svg", options.path, "FILE", description, CommandOptions::Repeated::refused,
                 ValueKind::file);
    declare.flag("-f,--force", options.overwrite, "overwrite the FILE of --svg if it exists");
}

PictureFile::PictureFile(Session& session, const PictureOptions& options) {
    if (!options.path.empty())
        file_.emplace(options.path, OutputFile::Rules{.overwrite = options.overwrite,
                                                      .protected_path = session.choice().path});
}

void PictureFile::write(const std::function<std::string()>& draw) {
    if (!file_) return;
    file_->write(draw());
    file_->commit();
}

}  // namespace heapsift
