"""Holds rules against public sets with labels.

usage: python3 benches/proof [SET...] [--sets FOLDER] [--write docs/proof.md]

prints the tables of each set (sopbench, tau, injection, dogwood, expected, prose; default: all that are there), or writes them into a page, between the lines
`<!-- table: NAME -->` and `<!-- end -->`. Numbers of a page come from here and are not typed. The sets are fetched by fetch.py; the program is AVER,
or target/debug/aver.
"""
import argparse
import re
import sys

import common
import dogwood
import expected_calls
import injection
import prose
import sopbench
import tau


def measure_sopbench(folder):
    found = sopbench.measure(folder)
    return found and {"domains": found[0]}


SETS = {"sopbench": measure_sopbench, "tau": tau.measure, "injection": injection.measure, "dogwood": dogwood.measure,
        "expected": expected_calls.measure, "prose": prose.measure}


def write_tables(path, tables):
    """Puts each table between its two lines of the page."""
    with open(path, encoding="utf-8") as page:
        text = page.read()
    for name, table in tables.items():
        place = re.compile(r"(<!-- table: %s -->\n).*?(<!-- end -->)" % re.escape(name), re.S)
        if not place.search(text):
            sys.exit("%s: no place for the table %s" % (path, name))
        text = place.sub(lambda found: found.group(1) + table + found.group(2), text)
    with open(path, "w", encoding="utf-8") as page:
        page.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    parser.add_argument("--sets", dest="folder", default=common.sets_folder(), metavar="FOLDER", help="where the sets are")
    parser.add_argument("--write", metavar="PAGE", help="write the tables into this page")
    given = parser.parse_args()
    if given.write:
        # The page speaks of whole sets, and of generated rules.
        whole = {"sopbench": sopbench.find_clone(given.folder), "tau": tau.find_runs(given.folder, "retail")}
        SETS.update({name: lambda folder: None for name, found in whole.items() if not found})
    tables = {}
    for name in given.sets or SETS:
        if name not in SETS:
            sys.exit("no set is called %s" % name)
        found = SETS[name](given.folder)
        if not found:
            print("%s: not in %s (benches/proof/fetch.py fetches it)" % (name, given.folder), file=sys.stderr)
            continue
        if common.published(name):
            found["published"] = common.published(name)
        tables.update({"%s-%s" % (name, part): table for part, table in found.items()})
    if not tables:
        sys.exit(2)
    if given.write:
        write_tables(given.write, tables)
    else:
        print("\n".join("%s\n\n%s" % item for item in tables.items()))


if __name__ == "__main__":
    main()
