"""The programs of the pages, run as they are printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PROJECT

PAGES = [PROJECT / "bindings/python/README.md", PROJECT / "docs/how-to/python.md"]


def programs(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_programs_of_a_page_run(page: Path, tmp_path: Path) -> None:
    (tmp_path / "refunds.assert").write_text("never refund(amount > 100)\n")
    (tmp_path / "runs.jsonl").write_text('{"calls": []}\n')
    all_programs = [one for one in programs(page) if "averment.integrations" not in one]
    assert all_programs
    # The first stands alone; the others of a page go on from there.
    for program in (all_programs[0], "\n".join(all_programs)):
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr


def test_the_first_block_prints_what_the_page_says(tmp_path: Path) -> None:
    text = PAGES[0].read_text(encoding="utf-8")
    said = re.search(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    done = subprocess.run([sys.executable, "-c", programs(PAGES[0])[0]], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert said is not None and done.stdout.rstrip() == said.group(1).rstrip()
