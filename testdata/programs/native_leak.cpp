// A library that leaks objects of three classes, keeps those of a fourth in a static vector, and has one class of which no symbol is left.

#include <string>
#include <vector>

namespace shapes {

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

struct Circle : Shape {
    explicit Circle(double r) : radius(r) {}
    double area() const override { return 3 * radius * radius; }
    double radius;
};

struct Polygon : Shape {
    explicit Polygon(int n) : corners{double(n), 1, 2, 3, 4, 5, 6} {}
    double area() const override { return corners[0]; }
    double corners[7];
};

struct Label : Shape {
    explicit Label(int n) : text("a label with a text of its own, number " + std::to_string(n)) {}
    double area() const override { return double(text.size()); }
    std::string text;
};

struct Kept : Shape {
    double area() const override { return 0; }
    double numbers[3] = {1, 2, 3};
};

std::vector<Shape*> kept;

}  // namespace shapes

extern "C" void leak_shapes(int circles, int polygons, int labels, int kept) {
    for (int i = 0; i < circles; ++i) new shapes::Circle(i);
    for (int i = 0; i < polygons; ++i) new shapes::Polygon(i);
    for (int i = 0; i < labels; ++i) new shapes::Label(i);
    for (int i = 0; i < kept; ++i) shapes::kept.push_back(new shapes::Kept);
}
