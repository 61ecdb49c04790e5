#include "parsers/base/paths.h"

#include "tests/catch.h"

using namespace heapsift;

TEST_CASE("paths: of another release", "[base]") {
    CHECK(is_same_or_another_release("'/srv/app/app.py'", "'/srv/app/app.py'"));
    CHECK(is_same_or_another_release("'/srv/app/20260101/app.py'", "'/srv/app/20260218/app.py'"));
    CHECK(is_same_or_another_release("'/srv/v1.2/src/app.py'", "'/srv/v1.10/src/app.py'"));
    CHECK(is_same_or_another_release("'/srv/0a1b2c3/app.py'", "'/srv/77fe012/app.py'"));
    CHECK_FALSE(is_same_or_another_release("'/srv/shop/app.py'", "'/srv/blog/app.py'"));
    CHECK_FALSE(is_same_or_another_release("'/srv/1/app.py'", "'/srv/2/other.py'"));
    CHECK_FALSE(is_same_or_another_release("'/srv/1/app.py'", "'/srv/app.py'"));
    CHECK_FALSE(is_same_or_another_release("'job1.py'", "'job2.py'"));
}

TEST_CASE("paths: as few last parts as tell two apart", "[base]") {
    using Names = std::pair<std::string, std::string>;
    CHECK(names_apart("old.core", "dumps/new.core") == Names{"old.core", "new.core"});
    CHECK(names_apart("/tmp/a/core", "/tmp/b/core") == Names{"a/core", "b/core"});
    CHECK(names_apart("core", "dumps/core") == Names{"core", "dumps/core"});
    CHECK(names_apart("/core", "/tmp/core") == Names{"/core", "tmp/core"});
    CHECK(names_apart("x/core", "x/core") == Names{"x/core", "x/core"});
}
