"""Imports the benchmark's CSV file into a DuckDB database file and prints the seconds it took.

usage: duckdb_import.py CSV DATABASE typed|sniffed
"""

import os
import sys
import time

import duckdb

csv, database, mode = sys.argv[1:4]
for leftover in (database, database + ".wal"):
    if os.path.exists(leftover):
        os.remove(leftover)
columns = (
    "columns = {'ticker': 'VARCHAR', 'timestamp': 'TIMESTAMP', 'open': 'DECIMAL(18,2)', "
    "'high': 'DECIMAL(18,2)', 'low': 'DECIMAL(18,2)', 'close': 'DECIMAL(18,2)', "
    "'volume': 'DECIMAL(18,2)'}, header = true"
)
options = f", {columns}" if mode == "typed" else ""
begun = time.perf_counter()
connection = duckdb.connect(database)
connection.execute(f"CREATE TABLE bars AS SELECT * FROM read_csv('{csv}'{options})")
rows = connection.execute("SELECT count(*) FROM bars").fetchone()[0]
connection.close()
print(f"{time.perf_counter() - begun:.3f} {rows} {os.path.getsize(database)} {duckdb.__version__}")
