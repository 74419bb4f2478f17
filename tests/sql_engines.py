"""Databases in which exported queries are run.

SQLite and DuckDB come with the tests. The others are used where they are at hand:

PostgreSQL
    ``pip install "psycopg[binary]"``, and ``LABELRULES_POSTGRES`` says where the server is, such as
    ``host=localhost user=postgres dbname=postgres``.
MariaDB or MySQL
    ``pip install pymysql``, and ``LABELRULES_MYSQL`` says where the server is, such as
    ``host=localhost user=root database=test``.
Spark
    ``pip install pyspark``, and a Java that it knows.

Tables are made anew for each query, and temporary.
"""

import atexit
import functools
import os
import shutil
import sqlite3
from typing import ClassVar

import pytest

from extras import needs

TABLE = "my table"


class Engine:
    """A database, by the interface that most of Python's drivers have."""

    dialect = "sqlite"
    kinds: ClassVar = {
        "double": "REAL",
        "single": "REAL",
        "text": "TEXT",
        "any": "",
        "date": "TEXT",
        "boolean": "BOOLEAN",
        "integer": "INTEGER",
    }
    mark = "?"
    quote = '"'
    has_nan = True
    storage = ""

    def __init__(self, connection):
        self.connection = connection

    def fill(self, columns, table=TABLE):
        """Make a table of columns: from names to a kind and the values."""
        typed = ", ".join(
            f"{self.quoted(name)} {self.kinds[kind]}" for name, (kind, _) in columns.items()
        )
        rows = list(zip(*(values for _, values in columns.values()), strict=True))
        cursor = self.cursor()
        cursor.execute(f"DROP TABLE IF EXISTS {self.quoted(table)}")
        cursor.execute(f"CREATE TEMPORARY TABLE {self.quoted(table)} ({typed}){self.storage}")
        marks = ", ".join([self.mark] * len(columns))
        if rows:
            cursor.executemany(f"INSERT INTO {self.quoted(table)} VALUES ({marks})", rows)

    def ask(self, query):
        """The names of the result's columns, and its rows."""
        cursor = self.cursor()
        cursor.execute(query)
        return [column[0] for column in cursor.description], cursor.fetchall()

    def cursor(self):
        return self.connection.cursor()

    def quoted(self, name):
        return f"{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"


class DuckDB(Engine):
    dialect = "duckdb"
    kinds: ClassVar = {
        "double": "DOUBLE", "single": "FLOAT", "text": "VARCHAR", "date": "DATE",
        "time": "TIMESTAMP", "UTC time": "TIMESTAMPTZ", "boolean": "BOOLEAN", "integer": "INTEGER",
        "long": "BIGINT",
    }  # fmt: skip

    def cursor(self):
        return self.connection  # another cursor would not see temporary tables


class Postgres(Engine):
    dialect = "postgres"
    kinds: ClassVar = {
        "double": "DOUBLE PRECISION", "single": "REAL", "text": "TEXT",
        "boolean": "BOOLEAN", "integer": "INTEGER",
    }  # fmt: skip
    mark = "%s"


class MySQL(Engine):
    dialect = "mysql"
    kinds: ClassVar = {
        "double": "DOUBLE", "single": "FLOAT", "text": "TEXT",
        "boolean": "BOOLEAN", "integer": "INTEGER",
    }  # fmt: skip
    mark = "%s"
    quote = "`"
    has_nan = False
    storage = " ENGINE=MyISAM"  # InnoDB has rows of at most 8126 bytes, too few for enron


class Spark(Engine):
    dialect = "spark"
    kinds: ClassVar = {
        "double": "DoubleType", "single": "FloatType", "text": "StringType",
        "boolean": "BooleanType", "integer": "IntegerType",
    }  # fmt: skip
    quote = "`"

    def fill(self, columns, table=TABLE):
        from pyspark.sql import types

        fields = [
            types.StructField(name, getattr(types, self.kinds[kind])())
            for name, (kind, _) in columns.items()
        ]
        rows = list(zip(*(values for _, values in columns.values()), strict=True))
        made = self.connection.createDataFrame(rows, types.StructType(fields))
        made.createOrReplaceTempView(self.quoted(table))

    def ask(self, query):
        found = self.connection.sql(query)
        return found.columns, [tuple(row) for row in found.collect()]


def _place(variable, driver):
    """What a variable says about a server, as name and value."""
    said = os.environ.get(variable)
    if not said:
        pytest.skip(f"no server: set {variable}, as tests/{__name__}.py says")
    module = pytest.importorskip(driver, reason=f"no driver: pip install {driver}")
    return module, dict(part.split("=", 1) for part in said.split())


@functools.cache
def engine(name):
    """A database; the test is skipped if it is not at hand."""
    if name == "sqlite":
        connection = sqlite3.connect(":memory:")
        atexit.register(connection.close)  # Python 3.13 warns of connections left open
        return Engine(connection)
    if name == "duckdb":
        duckdb = needs("duckdb")
        return DuckDB(duckdb.connect(":memory:"))
    if name == "postgres":
        psycopg, place = _place("LABELRULES_POSTGRES", "psycopg")
        return Postgres(psycopg.connect(**place, autocommit=True, prepare_threshold=None))
    if name == "mysql":
        pymysql, place = _place("LABELRULES_MYSQL", "pymysql")
        return MySQL(pymysql.connect(**place, charset="utf8mb4"))
    return Spark(_spark())


def _spark():
    sql = pytest.importorskip("pyspark.sql", reason="no Spark: pip install pyspark")
    if shutil.which("java") is None:
        pytest.skip("no Spark: there is no Java")
    builder = sql.SparkSession.builder.master("local[1]").appName("labelrules")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.host": "127.0.0.1",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


ENGINES = ("sqlite", "duckdb", "postgres", "mysql", "spark")
