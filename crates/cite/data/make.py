"""Makes the tables in this folder from public facts.

    python -m venv V && V/bin/pip install reporters-db==3.2.67 courts-db==0.10.27
    V/bin/python crates/cite/data/make.py

Taken are facts alone: which abbreviations a publication has, in which years it appeared, what it
is, and how its citations are shaped; of courts, their short names and identifiers. Names, notes,
examples and regular expressions are not taken. `own.tsv` beside these is written by hand.
"""

import pathlib
import re

import courts_db
import reporters_db

HERE = pathlib.Path(__file__).parent
HEAD = "# Made by make.py from %s; not edited by hand. %s\n"

# How a citation is shaped, by what its template contains. A template is only looked at, the
# letters are explained in `table.rs`.
SHAPES = [
    (r"^\$full_cite$", "s"),
    (r"^\$full_cite_cch$", "c"),
    (r"^\$full_cite_paragraph$", "c"),
    (r"paragraph_marker", "c"),
    (r"^\$full_cite_illinois", "yi"),
    (r"^\$full_cite_format_neutral", "h"),
    (r"\\s-\$reporter-\\s", "h"),
    (r"^\$full_cite_louisiana", "w"),
    (r"^\$full_cite_year_page", "e"),
    (r"^\$reporter \$volume_year-\$page", "e"),
    (r"^\$full_cite_year_included", "sA"),
    (r"\\\(\\d\{4\}", "sA"),
    (r"^\$full_cite_single_volume|^\$volume_nominative|^\$reporter,? (p. )?\$page", "so"),
    (r"^\$reporter \(\?P<volume>1", "z"),
    (r"^\(\?P<volume>\\d\+\|\d+A\)", "sv"),
    (r"^\$volume_with_alpha", "sv"),
    (r"^\$volume_with_digit", "sd"),
    (r"^\$volume_year|^\(\?P<volume>\(19", "y"),
    (r"\?\$reporter \?\(", "k"),
    (r"^\(\?P<volume>", "s"),
    (r"^\$volume", "s"),
    (r"page_with_letter|\[ab\]|\\d\+\\w|6\}\\w|\[AN\]|\[D\]|\}a\?|\+e\)|\[nNpP\]|A\?\)|\[PU\]", "l"),
    (r"\(\?:-\[A-Z\]", "i"),
    (r"\[A\)|\[\[\(\]", "b"),
    (r"\\\[\(\]|\[\\\[\(\]", "b"),
    (r"roman", "R"),
    (r" p\. |age \$page", "g"),
    (r"with_commas", "m"),
]

KINDS = {"state_regional": "r", "scotus_early": "c", "neutral": "n", "federal": "f"}


def shapes(templates):
    found = set()
    for template in templates or ["$full_cite"]:
        hit = {letter for pattern, letters in SHAPES if re.search(pattern, template) for letter in letters}
        # A year is the only volume only where nothing else is said of the volume.
        if "y" in hit:
            hit.discard("s")
        found |= hit
    return "".join(sorted(found)) or "s"


def year(date):
    return "" if not date else str(date.year) if hasattr(date, "year") else str(date)[:4]


def clean(text):
    return re.sub(r"\s+", " ", text.replace("’", "'")).strip()


def write(name, source, columns, rows):
    with open(HERE / name, "w", encoding="utf-8", newline="\n") as out:
        out.write(HEAD % (source, columns))
        for row in rows:
            out.write("\t".join(row).rstrip("\t") + "\n")


def cases():
    for cluster in reporters_db.REPORTERS.values():
        for source in cluster:
            kind = KINDS.get(source["cite_type"], "s" if source["cite_type"] == "state" else "x")
            if kind == "f" and "supreme" in source["name"].lower():
                kind = "c"
            for edition, facts in source["editions"].items():
                if edition.startswith("L. Ed."):
                    kind = "c"
                also = sorted({clean(k) for k, v in source["variations"].items() if v == edition} - {edition})
                yield (clean(edition), kind, shapes(facts.get("regexes")),
                       f'{year(facts["start"])}-{year(facts["end"])}', "|".join(also))


LAW = [
    (r"^\(\?P<(title|chapter|issue)>\\d\+\)|^\$volume|^\$law_year \$|^\(\?P<title>\\d\+\),", "T"),
    (r"^\$law_year\\-|^\(\?P<title>\\d\+\)\\-|^\(\?P<chapter>\\d\+-", "H"),
    (r"§ |section_marker", "S"),
    (r"\$reporter,? *(\$page|\$law_section|\(\?P<(rule|reg|law|act))", "n"),
    (r"\$page", "p"),
    (r"law_subject", "j"),
]


def laws():
    for name, cluster in reporters_db.LAWS.items():
        for source in cluster:
            kind = "r" if source["cite_type"].startswith("admin") else "s"
            found = set()
            for template in source["regexes"]:
                found |= {letter for pattern, letter in LAW if re.search(pattern, template)}
            also = [clean(it) for it in source.get("variations", [])]
            yield clean(name), kind, "".join(sorted(found)), "-", "|".join(also)


def journals():
    for name, cluster in reporters_db.JOURNALS.items():
        for source in cluster:
            also = [clean(it) for it in source.get("variations", [])]
            yield clean(name), "j", "s", f'{year(source["start"])}-{year(source["end"])}', "|".join(also)


def courts():
    for court in courts_db.courts:
        # Those of single counties are thousands and never stand after a citation.
        short = clean(court["citation_string"])
        if short and not re.search(r"Ct?y\b|, [A-Z]|Oh\. Ct\. App\. \d\w+ Dist\. \w", short):
            yield short, court["id"]


columns = "abbreviation, kind, shapes, years, variations"
write("reporters.tsv", "reporters-db (BSD-2-Clause, Free Law Project)", columns, cases())
write("laws.tsv", "reporters-db (BSD-2-Clause, Free Law Project)", columns, laws())
write("journals.tsv", "reporters-db (BSD-2-Clause, Free Law Project)", columns, journals())
write("courts.tsv", "courts-db (BSD-2-Clause, Free Law Project)", "abbreviation, identifier", courts())
