"""A process that holds objects of pandas, Django and SQLAlchemy, those of them that its interpreter has, and says what each should read as:
shape and types of the data; class and primary key. It writes libraries.json as values.py writes values.json, and stands still.
"""

import standstill

ROWS = []
KEPT = []


def stores(name, thing, value):
    KEPT.append(thing)
    ROWS.append({"name": name, "address": "%#x" % id(thing), "value": value, "key": False})


def frames():
    import numpy
    import pandas

    frame = pandas.DataFrame({"a": numpy.arange(1000), "b": numpy.ones(1000), "c": ["x"] * 1000, "d": numpy.arange(1000)})
    stores("DataFrame", frame, "(1000, 4): 2 int64, 1 float64, 1 object")
    stores("DataFrame of extensions", pandas.DataFrame({"k": pandas.Categorical(["a", "b", "a"]), "i": pandas.array([1, 2, None], dtype="Int64")}),
           "(3, 2): 1 Int64, 1 category")
    stores("Series", frame["b"], "(1000,) float64")
    stores("slice of a Series", frame["b"][10:20], "(10,) float64")
    stores("RangeIndex", frame.index, "range(0, 1000)")
    stores("Index", pandas.Index(["x", "y"]), "(2,) object")
    stores("Timestamp", pandas.Timestamp("2024-01-02 03:04:05"), "Timestamp('2024-01-02 03:04:05')")


def django_models():
    import django
    from django.conf import settings

    settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}, INSTALLED_APPS=[])
    django.setup()
    from django.db import connection, models

    class Article(models.Model):
        title = models.CharField(max_length=20)

        class Meta:
            app_label = "shop"

    class Tag(models.Model):
        slug = models.CharField(max_length=20, primary_key=True)

        class Meta:
            app_label = "shop"

    with connection.schema_editor() as editor:
        editor.create_model(Article)
        editor.create_model(Tag)
    Article.objects.create(title="first")
    Tag.objects.create(slug="green")
    stores("model of Django", Article.objects.get(), "Article(pk=1)")
    stores("its key a text", Tag.objects.get(), "Tag(pk='green')")
    stores("not saved", Article(title="x"), "Article(pk=None)")


def sqlalchemy_models():
    from sqlalchemy import Column, Integer, String, create_engine
    from sqlalchemy.orm import Session, declarative_base

    base = declarative_base()

    class User(base):
        __tablename__ = "users"
        number = Column(Integer, primary_key=True)
        name = Column(String)

    class Pair(base):
        __tablename__ = "pairs"
        a = Column(Integer, primary_key=True)
        b = Column(Integer, primary_key=True)

    engine = create_engine("sqlite://")
    base.metadata.create_all(engine)
    session = Session(engine)
    session.add_all([User(number=5, name="Ada"), Pair(a=1, b=2)])
    session.commit()
    stores("model of SQLAlchemy", session.query(User).one(), "User(pk=5)")
    stores("its key a pair", session.query(Pair).one(), "Pair(pk=tuple of 2)")
    stores("not in the database", User(number=9, name="new"), "User(name='new', number=9, …)")
    KEPT.append(session)


for family in (frames, django_models, sqlalchemy_models):
    try:
        family()
    except ImportError:
        pass
standstill.write_and_rest("libraries.json", ROWS)
