"""Notebooks: cells are one program, and a finding is told as cell and row, or as the place in the JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from dllint.cli import main
from dllint.finding import Location
from dllint.output import FORMATS
from dllint.syntax.magics import as_python
from dllint.syntax.notebook import Notebook
from dllint.syntax.python import CannotParseError
from harness import lint_texts

IMPORTS = "import torch\nfrom torch.utils.data import DataLoader, Dataset\n"
CLIPS = """\
class Clips(Dataset):
    def __init__(self, path):
        self.name = "\t'é' 😀 \\" "; self.file = open(path, "rb")
    def __getitem__(self, index):
        return self.file.read(4)"""
LOOP = "loader = DataLoader(Clips('x'), num_workers=4)\nfor batch in loader:\n    print(batch)"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty project as the current folder. Its path says nothing of tests."""
    folder = tmp_path_factory.mktemp("clips")
    (folder / ".git").mkdir()
    monkeypatch.chdir(folder)


def notebook(*cells: str, form: int = 4, whole: bool = False, metadata: Any = None) -> dict[str, Any]:
    """The code cells of `cells`; one that begins with `#md` is Markdown. With `whole` a source is one string."""
    made = []
    for text in cells:
        lines: object = text if whole else text.splitlines(keepends=True)
        kind = "markdown" if text.startswith("#md") else "code"
        source = "input" if form == 3 and kind == "code" else "source"
        made.append({"cell_type": kind, "metadata": {}, "outputs": [{"text": ["x" * 50]}], source: lines})
    about = {"kernelspec": {"language": "python"}} if metadata is None else metadata
    if form == 3:
        return {"metadata": about, "nbformat": 3, "worksheets": [{"cells": made}]}
    return {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def write(document: object, name: str = "train.ipynb", **style: Any) -> Path:
    path = Path(name)
    path.write_text(json.dumps(document, **(style or {"indent": 1})), encoding="utf-8")
    return path


def found(capsys: Captured, *flags: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    status = main(["--output-format", "json", *flags])
    items: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert status == bool(items)
    return items


def placed(capsys: Captured, *flags: str) -> list[tuple[str, int, int]]:
    return [(item["code"], item["cell"], item["location"]["row"]) for item in found(capsys, *flags)]


def printed(capsys: Captured, output_format: str) -> str:
    capsys.readouterr()
    main(["--select", "DLL201", "--output-format", output_format])
    return capsys.readouterr().out


# --- what is found, and where ---


def test_cells_are_one_program_in_their_order(capsys: Captured) -> None:
    write(notebook("#md Clips", IMPORTS, CLIPS, LOOP))
    assert placed(capsys) == [("DLL502", 3, 1), ("DLL201", 3, 3)]
    (item,) = found(capsys, "--select", "DLL201")
    assert [(place["cell"], place["location"]["row"]) for place in item["related"]] == [(3, 3), (4, 1), (3, 4), (3, 5)]
    assert item["fix"] is None


@pytest.mark.parametrize("style", [{"indent": 1}, {"indent": None}, {"indent": 4, "ensure_ascii": False}])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("form", [3, 4])
def test_the_place_in_the_json_is_exact(form: int, whole: bool, style: dict[str, Any], capsys: Captured) -> None:
    path = write(notebook(IMPORTS, CLIPS, LOOP, form=form, whole=whole), **style)
    capsys.readouterr()
    main(["--select", "DLL201", "--output-format", "rdjson"])
    (item,) = json.loads(capsys.readouterr().out)["diagnostics"]
    start, end = (item["location"]["range"][side] for side in ("start", "end"))
    assert start["line"] == end["line"]
    line = path.read_text(encoding="utf-8").splitlines()[start["line"] - 1]
    assert line[start["column"] - 1 : end["column"] - 1] == r"open(path, \"rb\")"
    assert item["message"].split("\n")[0].endswith("(cell 2, line 3)")


def test_every_format_tells_cell_and_row(capsys: Captured) -> None:
    path = write(notebook(IMPORTS, CLIPS, LOOP))
    lines = path.read_text(encoding="utf-8").splitlines()
    row = next(number for number, line in enumerate(lines, 1) if "self.file = open" in line)
    assert printed(capsys, "text").startswith("train.ipynb:cell 2:3:47: DLL201 ")
    assert printed(capsys, "concise") == printed(capsys, "text")
    assert printed(capsys, "grouped").startswith("train.ipynb:\n  cell 2:3:47  DLL201  ")
    github = printed(capsys, "github")
    assert f"file=train.ipynb,line={row}," in github
    assert "::train.ipynb:cell 2:3:47: DLL201 " in github
    (issue,) = json.loads(printed(capsys, "gitlab"))
    assert issue["location"]["lines"] == {"begin": row, "end": row}
    assert issue["description"].endswith("(cell 2, line 3)")
    (result,) = json.loads(printed(capsys, "sarif"))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == row
    assert "(cell 2, line 3)" in result["message"]["text"]
    assert f'line="{row}"' in printed(capsys, "checkstyle")
    assert f'line="{row}"' in printed(capsys, "junit")
    assert set(FORMATS) == {
        "text", "concise", "grouped", "json", "github", "gitlab", "sarif", "junit", "checkstyle", "rdjson",
    }  # fmt: skip


def test_a_terminal_shows_the_line_of_the_cell(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    write(notebook(IMPORTS, CLIPS, LOOP))
    main(["--select", "DLL201", "--no-color"])
    assert ' 3 |         self.name = "    \'é\' 😀 \\" "; self.file = open(path, "rb")\n' in capsys.readouterr().out


def test_what_a_module_defines_reaches_the_workers_and_what_a_cell_defines_does_not(capsys: Captured) -> None:
    loader = "loader = DataLoader([1, 2], num_workers=2, collate_fn=stack)"
    cell = "def stack(rows):\n    return torch.tensor(rows)\n"
    write(notebook(IMPORTS, cell, loader))
    assert placed(capsys) == [("DLL502", 2, 1)]
    assert found(capsys, "--start-method", "fork") == []
    Path("rows.py").write_text("import torch\n\n\n" + cell, encoding="utf-8")
    write(notebook(IMPORTS, "from rows import stack\n", loader))
    assert found(capsys) == []


def test_cells_need_no_main_guard(capsys: Captured) -> None:
    write(notebook(IMPORTS, "import torch.multiprocessing as mp\nmp.set_start_method('spawn')\n", LOOP))
    assert found(capsys, "--select", "DLL501,DLL503,DLL504") == []


def test_suppressions_in_cells(capsys: Captured) -> None:
    marked = CLIPS.replace('"rb")', '"rb")  # noqa: DLL201')
    write(notebook(IMPORTS, "# dllint: ignore[DLL502] forked only\n" + marked, LOOP))
    assert found(capsys) == []
    write(notebook(IMPORTS, "# dllint: skip-file", CLIPS, LOOP))
    assert found(capsys) == []
    write(notebook(IMPORTS, marked.replace("DLL201", "DLL202"), LOOP))
    assert placed(capsys, "--select", "DLL002,DLL202") == [("DLL002", 2, 3)]


def test_a_baseline_does_not_mind_cells_that_are_added(capsys: Captured) -> None:
    write(notebook(IMPORTS, CLIPS, LOOP))
    main(["--baseline", "known.json", "--write-baseline"])
    write(notebook("#md more", "x = 1", IMPORTS, CLIPS, LOOP))
    assert found(capsys, "--baseline", "known.json") == []


def test_checkpoints_are_left_out_and_fixes_leave_notebooks_alone(capsys: Captured) -> None:
    Path(".ipynb_checkpoints").mkdir()
    path = write(notebook(IMPORTS, "DataLoader([1], num_workers=0, persistent_workers=True)"))
    write(json.loads(path.read_text()), ".ipynb_checkpoints/train-checkpoint.ipynb")
    before = path.read_bytes()
    assert placed(capsys, "--fix") == [("DLL401", 2, 1)]
    assert path.read_bytes() == before


# --- files that are odd ---


@pytest.mark.parametrize(
    ("text", "row", "told"),
    [
        ("{", 1, "not valid JSON"),
        ('{"cells": [\n{"source": [}', 2, "not valid JSON"),
        ('{"cells": []} torch', 1, "Extra data"),
        ("torch", 1, "not valid JSON"),
        ('{"cells": [' + "[" * 50_000, 1, "nested too deeply"),
        ('{"cells": []\n,\n}', 3, "not valid JSON"),
    ],
)
def test_broken_json_is_reported_as_unreadable(text: str, row: int, told: str, capsys: Captured) -> None:
    Path("broken.ipynb").write_text(text, encoding="utf-8")
    (item,) = found(capsys, "broken.ipynb")
    assert (item["code"], item["cell"], item["location"]["row"]) == ("DLL001", None, row)
    assert told in item["message"]


def test_bytes_that_are_no_text_are_reported_as_unreadable(capsys: Captured) -> None:
    Path("broken.ipynb").write_bytes(b'{"cells": [\n"\xff"]}')
    (item,) = found(capsys, "broken.ipynb")
    assert (item["code"], item["location"]["row"]) == ("DLL001", 2)


@pytest.mark.parametrize(
    "document",
    [
        {}, {"cells": []}, {"cells": None, "metadata": 3}, {"cells": [1, None, {}, [], {"cell_type": "code"}]},
        {"cells": [{"cell_type": "code", "source": 7}, {"cell_type": "code", "source": [1, "import torch"]}]},
        {"cells": [{"cell_type": "code", "source": "\ud800 torch\0"}]}, {"worksheets": [{"x": 1}], "nbformat": 3},
    ],
)  # fmt: skip
def test_odd_documents_do_no_harm(document: object, capsys: Captured) -> None:
    write(document)
    assert {item["code"] for item in found(capsys)} <= {"DLL001"}
    Path("train.ipynb").write_bytes(b"\xef\xbb\xbf" + Path("train.ipynb").read_bytes())
    assert {item["code"] for item in found(capsys)} <= {"DLL001"}


def test_an_empty_file_is_a_new_notebook(capsys: Captured) -> None:
    Path("new.ipynb").write_bytes(b"")
    assert found(capsys, "new.ipynb") == []


def test_a_broken_cell_is_reported_and_the_others_are_read(capsys: Captured) -> None:
    write(notebook(IMPORTS, "#md x", "model = ???", CLIPS, LOOP))
    assert placed(capsys) == [("DLL001", 3, 1), ("DLL502", 4, 1), ("DLL201", 4, 3)]


def test_other_languages_are_left_out(capsys: Captured) -> None:
    write(notebook(IMPORTS, CLIPS, LOOP, metadata={"language_info": {"name": "julia"}}))
    assert found(capsys) == []
    document = notebook(IMPORTS, "SELECT * FROM clips", CLIPS, LOOP)
    document["cells"][1]["metadata"] = {"vscode": {"languageId": "sql"}}
    write(document)
    assert placed(capsys) == [("DLL502", 3, 1), ("DLL201", 3, 3)]


def test_huge_outputs_and_line_ends(capsys: Captured) -> None:
    document = notebook(IMPORTS, CLIPS.replace("\n", "\r\n"), LOOP)
    document["cells"][0]["outputs"] = [{"data": {"image/png": "A" * 6_000_000}}]
    write(document)
    assert placed(capsys) == [("DLL502", 2, 1), ("DLL201", 2, 3)]


def test_a_place_outside_of_the_text_stays_what_it_is() -> None:
    text = Notebook("a.ipynb", json.dumps(notebook("x = 1")).encode())
    outside = Location("a.ipynb", 9, 1, 9, 2)
    assert text.placed(outside) == outside
    with pytest.raises(CannotParseError):
        Notebook("a.ipynb", b"[]")


# --- magics ---


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("x = 1 \\\n  % 2", "x = 1 \\\n  % 2"),
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("!pip install \\\n  torch\nx = 1", "pass\n\nx = 1"),
        ("pip install -q torch\nx = 1", "pass\nx = 1"),
        ("for x in y:\n    !echo {x}\n    print(x)", "for x in y:\n    pass\n    print(x)"),
        ("files = !ls *.png\nn = %time 3", "files = get_ipython()\nn = get_ipython()"),
        ("torch.tensor?\n?torch\nx = 1", "pass\npass\nx = 1"),
        ("s = '''\n%no\n!no\n'''\n%yes", "s = '''\n%no\n!no\n'''\npass"),
        ("f('%d'\n  % 3,\n  '(')\n!ls", "f('%d'\n  % 3,\n  '(')\npass"),
        ("x = 1  # (\n!ls", "x = 1  # (\npass"),
        ("x = 'it\\'s' \\\n% y\n%magic", "x = 'it\\'s' \\\n% y\npass"),
        ("%%time\nfor x in y:\n    !ls", "\nfor x in y:\n    pass"),
        ("\n%%bash\nls -la\n", "\n\n\n"),
        ("%%writefile a.py\nimport torch", "\n"),
        ("await f()", "await f()"),
        ("def f(:", None),
        ("'''", None),
        ("", ""),
    ],
)
def test_magics_are_masked_row_for_row(cell: str, python: str | None) -> None:
    assert as_python(cell) == python
    assert python is None or python.count("\n") == cell.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "x = [('a', \"b\")]  # c\n" * 5_000 + "('" * 2000,
        " " * 200_000 + "?",
        "'''" + "\\'" * 100_000,
        "a," * 100_000,
    ],
    ids=["lines", "spaces", "quotes", "names"],
)
def test_a_long_cell_with_magics_costs_little(text: str) -> None:
    started = time.process_time()
    assert as_python(f"!ls\n{text}\n)") is None
    assert time.process_time() - started < 3


# --- scripts in percent format ---

PERCENT = f"# %%\n{{magic}}{IMPORTS}\n# %%\n{CLIPS}\n\n# %%\n{LOOP}\n"


def codes(findings: Iterable[Any]) -> list[tuple[str, int]]:
    return [(finding.code, finding.location.row) for finding in findings]


def test_a_percent_script_is_a_script_and_one_with_magics_is_a_notebook() -> None:
    script = codes(lint_texts({"train.py": PERCENT.format(magic="")}, "DLL501"))
    assert script == [("DLL201", 8), ("DLL501", 14)]
    cells = codes(lint_texts({"train.py": PERCENT.format(magic="%matplotlib inline\n")}, "DLL501"))
    assert cells == [("DLL502", 7), ("DLL201", 9)]
    broken = codes(lint_texts({"train.py": IMPORTS + "!ls\n" + CLIPS}, "DLL501"))
    assert broken == [("DLL001", 3)]
