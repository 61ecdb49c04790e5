#include "cli/browse/browser.h"

#include "cli/write/spans.h"
#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t most_visits = 200;
constexpr std::array first_lists = {Place::Kind::suspects, Place::Kind::dominators, Place::Kind::holders,
                                    Place::Kind::types, Place::Kind::threads};

void remove_last_character(std::string& text) {
    while (!text.empty()) {
        const char last = text.back();
        text.pop_back();
        if ((static_cast<unsigned char>(last) & 0xC0) != 0x80) return;
    }
}

}  // namespace

Browser::Browser(HeapLists& lists, const Page& page, Find find)
    : lists_(lists), page_(page), find_(std::move(find)) {
    open({});
}

const Subject* Browser::subject() { return view().empty() ? nullptr : &view().row(view().cursor()).subject; }

std::string Browser::command() {
    const Subject* subject = this->subject();
    if (!subject) return {};
    const Text words = lists_.command(*subject);
    return words.empty() ? std::string() : page_.command(plain(words, page_));
}

void Browser::open(const Place& place) {
    if (!visits_.empty() && view().list().place == place) return;
    try {
        auto made = std::make_unique<ListView>(lists_.make(place), page_);
        if (visits_.size() >= most_visits) visits_.erase(visits_.begin());
        visits_.push_back(std::move(made));
    } catch (const Interrupted&) {
        message_ = "interrupted";
        if (visits_.empty()) throw;
    } catch (const Error& error) {
        message_ = error.message();
        if (visits_.empty()) throw;
    } catch (const std::bad_alloc&) {
        message_ = "there is not enough memory for this list";
        if (visits_.empty()) throw;
    }
}

void Browser::open_subject() {
    const Subject* subject = this->subject();
    if (!subject) return;
    if (view().list().place.kind == Place::Kind::places) return jump_to(subject->opens->index);
    if (!subject->opens)
        message_ = "there is nothing below this row";
    else
        open(Place(*subject->opens));
}

void Browser::ask_about_object(Place::Kind kind) {
    const Subject* subject = this->subject();
    // Of an empty list, the object that it is about.
    const ObjectId object = subject ? subject->object : lists_.object_of(view().list().place);
    if (object == no_object) {
        message_ = "this row is not one object";
        return;
    }
    Place place{.kind = kind, .object = object};
    if (kind == Place::Kind::inside) {
        place.object = no_object;
        place.node = HeapGraph::node_of(object);
    } else if (kind == Place::Kind::objects) {
        place.object = no_object;
        place.index = std::uint32_t{lists_.heap().snapshot().type_of(object)};
    }
    open(place);
}

void Browser::back() {
    if (visits_.size() > 1)
        visits_.pop_back();
    else
        message_ = "this is the first list; q quits";
}

/// The lists below this one, the last one first.
void Browser::show_places() {
    if (view().list().place.kind == Place::Kind::places) return;
    auto list = std::make_shared<List>();
    list->place.kind = Place::Kind::places;
    list->title = "where you were: Enter jumps back";
    list->columns = {{.heading = "list"}};
    list->in_order = true;
    for (std::size_t at = visits_.size(); at-- > 0;) {
        Subject subject;
        subject.opens = Place{.kind = Place::Kind::places, .index = at};
        list->rows.push_back({.cells = {visits_[at]->list().title}, .subject = std::move(subject)});
    }
    visits_.push_back(std::make_unique<ListView>(std::move(list), page_));
}

void Browser::jump_to(std::size_t place) { visits_.resize(std::min(place + 1, visits_.size())); }

/// The same list with ten times as many rows, in its place; the cursor stays on its row as long as that is the order.
void Browser::list_more() {
    const List& list = view().list();
    if (list.left_out == 0) {
        message_ = "all rows are here";
        return;
    }
    constexpr std::size_t times = 10;
    Place place = list.place;
    place.rows = times * std::max<std::size_t>(list.rows.size(), 1);
    const std::size_t cursor = view().cursor();
    const std::string filter = view().filter_text();
    const std::size_t before = visits_.size();
    open(place);
    if (visits_.size() == before && view().list().place != place) return;  // interrupted
    visits_.erase(visits_.end() - 2);
    view().filter(filter);
    if (filter.empty()) view().move_to(cursor);
    message_ = std::to_string(view().list().rows.size()) + " rows are listed";
}

void Browser::copy(std::string text, const char* nothing) {
    if (text.empty()) {
        message_ = nothing;
        return;
    }
    shown_copy_ = text;
    copy_ = std::move(text);
}

void Browser::turn(int by) {
    const auto at = std::find(first_lists.begin(), first_lists.end(), view().list().place.kind);
    const auto count = static_cast<int>(first_lists.size());
    const int from =
        at == first_lists.end() ? (by > 0 ? count - 1 : 0) : static_cast<int>(at - first_lists.begin());
    open({.kind = first_lists[static_cast<std::size_t>((from + by + count) % count)]});
}

void Browser::go_to() {
    try {
        const ObjectId object = find_(typed_);
        open({.kind = Place::Kind::inside, .node = HeapGraph::node_of(object)});
    } catch (const Interrupted&) {
        message_ = "interrupted";
    } catch (const Error& error) {
        message_ = error.message() + (error.hint().empty() ? "" : "; " + error.hint());
    }
}

void Browser::end_prompt(bool accepted) {
    const Prompt prompt = std::exchange(prompt_, Prompt::none);
    if (prompt == Prompt::go_to && accepted && !typed_.empty()) return go_to();
    if (prompt == Prompt::filter && !accepted) view().filter({});
    if (prompt == Prompt::search) {
        if (accepted)
            sought_ = typed_;
        else
            view().move_to(began_at_);
    }
}

void Browser::press_in_prompt(const Key& key) {
    switch (key.kind) {
        case Key::Kind::enter:
            return end_prompt(true);
        case Key::Kind::escape:
            return end_prompt(false);
        case Key::Kind::back:
            if (typed_.empty()) return end_prompt(false);
            remove_last_character(typed_);
            break;
        case Key::Kind::character:
            typed_ += key.text;
            break;
        default:
            return;
    }
    if (prompt_ == Prompt::filter) view().filter(typed_);
    if (prompt_ == Prompt::search) {
        view().move_to(began_at_);
        if (!typed_.empty() && !view().search(typed_, false, true)) message_ = "not found";
    }
}

void Browser::click(const Key& key) {
    if (key.line < first_line_ || key.line >= first_line_ + row_count_) return;
    const std::size_t at = view().top() + key.line - first_line_;
    if (at >= view().size()) return;
    const bool again = at == view().cursor();
    view().move_to(at);
    if (again || key.kind == Key::Kind::double_click) open_subject();
}

void Browser::press(const Key& key) {
    message_.clear();
    if (prompt_ != Prompt::none) return press_in_prompt(key);
    if (help_ || !shown_copy_.empty()) {  // any key goes on
        help_ = false;
        shown_copy_.clear();
        return;
    }
    const auto leaf = static_cast<std::ptrdiff_t>(std::max<std::size_t>(row_count_, 2) - 1);
    constexpr std::ptrdiff_t wheel = 3;
    switch (key.kind) {
        case Key::Kind::none:
            return;
        case Key::Kind::character:
            return press_character(key.text);
        case Key::Kind::enter:
        case Key::Kind::right:
            return open_subject();
        case Key::Kind::back:
        case Key::Kind::left:
            return back();
        case Key::Kind::escape:
            if (!view().filter_text().empty()) return view().filter({});
            return back();
        case Key::Kind::up:
            return view().move(-1);
        case Key::Kind::down:
            return view().move(1);
        case Key::Kind::page_up:
            return view().move(-leaf);
        case Key::Kind::page_down:
            return view().move(leaf);
        case Key::Kind::home:
            return view().move_to(0);
        case Key::Kind::end:
            return view().move_to(SIZE_MAX);
        case Key::Kind::tab:
            return turn(1);
        case Key::Kind::back_tab:
            return turn(-1);
        case Key::Kind::click:
        case Key::Kind::double_click:
            return click(key);
        case Key::Kind::wheel_up:
            return view().move(-wheel);
        case Key::Kind::wheel_down:
            return view().move(wheel);
    }
}

void Browser::press_character(const std::string& text) {
    const auto ask = [&](Prompt prompt) {
        prompt_ = prompt;
        typed_ = prompt == Prompt::filter ? view().filter_text() : std::string();
        began_at_ = view().cursor();
    };
    switch (text.size() == 1 ? text.front() : '\0') {
        case '1':
        case '2':
        case '3':
        case '4':
        case '5':
            return open({.kind = first_lists[static_cast<std::size_t>(text.front() - '1')]});
        case 'q':
            done_ = true;
            return;
        case 'j':
            return view().move(1);
        case 'k':
            return view().move(-1);
        case '?':
            help_ = true;
            return;
        case 'w':
            return ask_about_object(Place::Kind::path);
        case 'r':
            return ask_about_object(Place::Kind::referrers);
        case 'e':
            return ask_about_object(Place::Kind::referents);
        case 'i':
            return ask_about_object(Place::Kind::inside);
        case 't':
            return ask_about_object(Place::Kind::objects);
        case 'h':
            return show_places();
        case '+':
            return list_more();
        case 's':
            if (!view().sort_by_next()) message_ = "this list has one order only";
            return;
        case '/':
            return ask(Prompt::search);
        case 'f':
            return ask(Prompt::filter);
        case 'g':
            return ask(Prompt::go_to);
        case 'n':
        case 'N':
            if (!view().search(sought_, text.front() == 'N')) message_ = "not found";
            return;
        case 'm':
        case ' ':
            if (const Subject* subject = this->subject(); subject && subject->object != no_object) {
                lists_.mark(subject->object);
                view().move(1);
            } else {
                message_ = "this row is not one object";
            }
            return;
        case 'M':
            return open({.kind = Place::Kind::marks});
        case 'y':
            return copy(command(), "no command shows this row");
        case 'Y':
            if (const Subject* subject = this->subject(); subject && subject->object != no_object)
                return copy(plain(lists_.expression(subject->object), page_), "Python has no name for it");
            message_ = "Python has no name for this row";
            return;
        default:
            message_ = "? lists the keys";
            return;
    }
}

}  // namespace heapsift
