// Options may stand anywhere, so telling a word from an option's value takes knowledge of the options.
// Nothing is rejected here: unknown options are marked, and reported once the command is known.

#include "cli/arguments.h"

namespace heapsift {
namespace {

/// A statement that begins with one: no option has a blank or an end of a line in its name.
bool is_comment_of_sql(const std::string& argument) {
    return argument.starts_with("-- ") ||
           (argument.starts_with("--") && argument.find('\n') < argument.find('='));
}

class Splitter {
public:
    Splitter(const std::vector<std::string>& arguments,
             const std::function<OptionShape(const std::string&)>& shape_of)
        : arguments_(arguments), shape_of_(shape_of) {}

    Arguments split() {
        for (; next_ < arguments_.size(); ++next_) {
            const std::string& argument = arguments_[next_];
            if (argument == "--") {
                result_.words.insert(result_.words.end(),
                                     arguments_.begin() + static_cast<std::ptrdiff_t>(next_) + 1,
                                     arguments_.end());
                break;
            }
            if (is_comment_of_sql(argument))
                result_.words.push_back(argument);
            else if (argument.starts_with("--"))
                take_long(argument);
            else if (argument.size() > 1 && argument[0] == '-')
                take_short(argument);
            else
                result_.words.push_back(argument);
        }
        return std::move(result_);
    }

private:
    void take_long(const std::string& argument) {
        const std::size_t equals = argument.find('=');
        OptionUse use;
        use.name = argument.substr(0, equals);
        const OptionShape shape = shape_of_(use.name);
        use.known = shape != OptionShape::unknown;
        if (equals != std::string::npos)
            use.value = argument.substr(equals + 1);
        else if (shape == OptionShape::value)
            take_following(use);
        result_.options.push_back(std::move(use));
    }

    // "-qn5": flags up to the first option that takes a value; the rest of the word is that value. "-json" is
    // --json with a dash too few, not -j with the value "son".
    void take_short(const std::string& argument) {
        if (argument.size() > 2 &&
            shape_of_("-" + argument.substr(0, argument.find('='))) != OptionShape::unknown) {
            result_.options.push_back({argument, std::nullopt, false, false});
            return;
        }
        std::vector<OptionUse> uses;
        for (std::size_t i = 1; i < argument.size(); ++i) {
            OptionUse use;
            use.name = std::string("-") + argument[i];
            const OptionShape shape = shape_of_(use.name);
            if (shape == OptionShape::unknown) {
                result_.options.push_back({argument, std::nullopt, false, false});
                return;
            }
            if (shape == OptionShape::value) {
                if (i + 1 < argument.size())
                    use.value = argument.substr(argument[i + 1] == '=' ? i + 2 : i + 1);
                else
                    take_following(use);
                i = argument.size();
            }
            uses.push_back(std::move(use));
        }
        result_.options.insert(result_.options.end(), uses.begin(), uses.end());
    }

    void take_following(OptionUse& use) {
        const bool there = next_ + 1 < arguments_.size();
        const std::string following = there ? arguments_[next_ + 1] : std::string();
        const bool is_option = following.starts_with("--") &&
                               shape_of_(following.substr(0, following.find('='))) != OptionShape::unknown;
        if (!there || is_option || following == "--") {
            use.missing_value = true;
            return;
        }
        use.value = following;
        ++next_;
    }

    const std::vector<std::string>& arguments_;
    const std::function<OptionShape(const std::string&)>& shape_of_;
    std::size_t next_ = 0;
    Arguments result_;
};

}  // namespace

Arguments split_arguments(const std::vector<std::string>& arguments,
                          const std::function<OptionShape(const std::string&)>& shape_of) {
    return Splitter(arguments, shape_of).split();
}

}  // namespace heapsift
