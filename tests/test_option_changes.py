"""Which value an option has once the program itself has replaced it: that of its own namespace, or nobody knows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import indent

import pytest

from dllint.code.language.values import Const, by_default
from dllint.code.program import Program
from dllint.files import discover
from dllint.settings import Settings

OPTIONS = """
import argparse


class Options:
    def __init__(self):
        self.parser = argparse.ArgumentParser()

    def declare(self):
        self.parser.add_argument("--workers", type=int, default=4)

    def parse(self):
        self.declare()
        self.opt = self.parser.parse_args()
        return self.opt


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    return parser.parse_args()
"""
LOADING = """
from torch.utils.data import DataLoader


def build(opt):
    return DataLoader(range(8), num_workers=opt.workers)


def build_second(first, second):
    return DataLoader(range(8), num_workers=second.workers)


def build_by_way(given):
    return build(given)


class Trainer:
    def __init__(self, opt):
        self.opt = opt

    def run(self):
        return DataLoader(range(8), num_workers=self.opt.workers)
"""
START = """
import copy
import functools
import sys

from loading import Trainer, build, build_by_way, build_second
from options import Options, parse

CHECKED = len(sys.argv) > 2


def prepare(opt):
    pass


"""
HELPERS = """
class Restoring:
    def __init__(self, opt):
        self.opt = opt

    def restore(self):
        self.opt.workers = 4


def restore(given):
    given.workers = 4


"""
ADJUSTING = """
def adjust(given):
    given.workers = 0
    return given


def adjust_by_way(given):
    adjust(given)


def adjust_for_windows(given):
    if sys.platform == "win32":
        given.workers = 0


class Adjusting:
    def __init__(self, given):
        given.workers = int("2")


"""
DICTS = """
from torch.utils.data import DataLoader


def adjust(given):
    given["workers"] = 0


def adjust_by_way(config):
    adjust(given=config)


def empty(config):
    config.clear()


def adjust_others(config):
    config["others"] = 0


def build(config):
    return DataLoader(range(8), num_workers=config["workers"])


"""
GLOBAL = """
from torch.utils.data import DataLoader

WORKERS = 4


def adjust():
    global WORKERS
    WORKERS = 0


def adjust_another():
    WORKERS = 0
    return WORKERS


"""
FIXING = """
import os


def fix(args):
    args.workers = args.workers // int(os.environ["LOCAL_WORLD_SIZE"])
"""
PROGRAM = """
import argparse

from torch.utils.data import DataLoader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    CHANGE
    return DataLoader(range(8), num_workers=args.workers)


if __name__ == "__main__":
    main()
"""


def workers(folder: Path, files: dict[str, str]) -> set[object]:
    """The numbers of workers that the loaders can have that a project builds by way of `main.py`, or that all have
    where the ways are not told apart; "?" stands for any."""
    (folder / ".git").mkdir()
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (project,) = discover([str(folder)], Settings(), None)
    loaders = Program(project, Settings()).facts.loaders
    by_main = [loader for loader in loaders if "main" in {module.name for module in loader.callers}]
    values = [by_default(loader.workers.values) for loader in by_main or loaders]
    return {value.value if isinstance(value, Const) else "?" for found in values for value in found}


def of_script(folder: Path, script: str) -> set[object]:
    """The numbers of workers of the loader that a script builds."""
    before, trainer, after = LOADING.partition("class Trainer")
    loading = before.partition("def build")[0] + trainer + after if "Trainer(" in script else before
    return workers(folder, {"options.py": OPTIONS, "loading.py": loading, "main.py": START + script})


def in_function(script: str) -> str:
    """The same script, in a function."""
    return f"def main():\n{indent(script, '    ')}\nmain()\n"


@pytest.mark.parametrize("place", [str, in_function])
@pytest.mark.parametrize("parse", ["parse()", "Options().parse()"])
@pytest.mark.parametrize(
    ("script", "known"),
    [
        ("opt = PARSE\nbuild(opt)", {4}),
        ("opt = PARSE\nopt.workers = 0\nbuild(opt)", {0}),
        ("opt = PARSE\nopt.workers = 0\nbuild_by_way(opt)", {0}),
        ("opt = PARSE\nprint(opt)\nprepare(opt)\nopt.workers = 0\nbuild(opt)", {0}),
        ("opt = PARSE\nbuild(opt)\nopt.workers = 0", {4}),
        ("opt = PARSE\nopt.workers = 0\nopt.workers = 2\nbuild(opt)", {2}),
        ("opt = PARSE\nopt.workers = 0\nval = copy.copy(opt)\nbuild(val)", {0}),
        ("opt = PARSE\nval = copy.copy(opt)\nopt.workers = 0\nbuild(val)", {4}),
        ("opt = PARSE\nval = copy.copy(opt)\nval.workers = 0\nbuild(opt)", {4}),
        ("for _ in range(3):\n    opt = PARSE\n    opt.workers = 0\n    build(opt)", {0}),
        ("if CHECKED:\n    opt = PARSE\n    opt.workers = 0\n    build(opt)", {0}),
        ("one = PARSE\ntwo = PARSE\ntwo.workers = 0\nbuild_second(one, two)", {0}),
        ("opt = PARSE\nopt.workers = 0\ntrainer = Trainer(opt)\ntrainer.run()", {0}),
    ],
)
def test_what_is_handed_on_has_the_value_that_it_was_given(
    tmp_path: Path, script: str, known: set[int], parse: str, place: Callable[[str], str]
) -> None:
    assert of_script(tmp_path, place(script.replace("PARSE", parse))) == known


@pytest.mark.parametrize("place", [str, in_function])
@pytest.mark.parametrize("parse", ["parse()", "Options().parse()"])
@pytest.mark.parametrize(
    "script",
    [
        "one = PARSE\ntwo = PARSE\none.workers = 0\nbuild(two)",
        "one = PARSE\ntwo = PARSE\none.workers = 0\nbuild_second(one, two)",
        "one, two = PARSE, PARSE\none.workers = 0\nbuild(two)",
        "one = PARSE\ntwo = PARSE\none.workers = 0\nTrainer(two).run()",
        "opt = PARSE\nopt.workers = 0\nopt = PARSE\nbuild(opt)",
        "opt = PARSE\nopt.workers = 0\nopt = PARSE\nTrainer(opt).run()",
    ],
)
def test_what_another_run_of_the_parser_gave_is_another_namespace(
    tmp_path: Path, script: str, parse: str, place: Callable[[str], str]
) -> None:
    assert of_script(tmp_path, place(script.replace("PARSE", parse))) == {4}


@pytest.mark.parametrize("place", [str, in_function])
@pytest.mark.parametrize("parse", ["parse()", "Options().parse()"])
@pytest.mark.parametrize(
    "script",
    [
        "opt = PARSE\nopt.workers = 0\nopt.workers += 4\nbuild(opt)",
        "opt = PARSE\nopt.workers = 0\nrestore(opt)\nbuild(opt)",
        "opt = PARSE\nopt.workers = 0\nrestore(given=opt)\nbuild(opt)",
        "opt = PARSE\nopt.workers = 0\nRestoring(opt).restore()\nbuild(opt)",
        "opt = PARSE\nopt.workers = 0\ndef back():\n    opt.workers = 4\nback()\nbuild(opt)",
        "opt = PARSE\nopt.workers = 0\nif CHECKED:\n    opt.workers = 4\nbuild(opt)",
        "opt = other = PARSE\nopt.workers = 0\nother.workers = 4\nbuild(opt)",
        "opt = PARSE\nother = opt\nother.workers = 0\nbuild(opt)",
        "opt = PARSE\ntrainer = Trainer(opt)\nopt.workers = 0\ntrainer.run()",
        "one = kept()\ntwo = kept()\none.workers = 0\nbuild(two)",
    ],
)
def test_where_the_value_is_not_known_nothing_is_said(
    tmp_path: Path, script: str, parse: str, place: Callable[[str], str]
) -> None:
    helpers = HELPERS if "restore(" in script else HELPERS.partition("def restore")[0]
    kept = f"@functools.lru_cache\ndef kept():\n    return {parse}\n" if "kept()" in script else ""
    assert of_script(tmp_path, helpers + kept + place(script.replace("PARSE", parse))) == {"?"}


@pytest.mark.parametrize("place", [str, in_function])
@pytest.mark.parametrize(
    "script",
    [
        "opt = parse()\nadjust(opt)\nbuild(opt)",
        "opt = parse()\nopt = adjust(opt)\nbuild(opt)",
        "opt = adjust(parse())\nbuild(opt)",
        "opt = parse()\nbuild(adjust(given=opt))",
        "opt = parse()\nadjust_by_way(opt)\nbuild_by_way(opt)",
        "opt = parse()\nadjust(opt)\nTrainer(opt).run()",
        "opt = parse()\nTrainer(opt).run()\nadjust(opt)\nTrainer(opt).run()",
        "opt = parse()\nAdjusting(opt)\nbuild(opt)",
        "opt = parse()\ndef adjust_it():\n    opt.workers = 0\nadjust_it()\nbuild(opt)",
        "opt = parse()\nwith open(opt.log) as log:\n    adjust(opt)\nbuild(opt)",
        "opt = parse()\nif opt.workers == 4:\n    adjust(opt)\nbuild(opt)",
    ],
)
def test_what_a_function_stores_on_the_namespace_that_it_is_handed_is_not_known(
    tmp_path: Path, script: str, place: Callable[[str], str]
) -> None:
    assert "?" in of_script(tmp_path, ADJUSTING + place(script))


@pytest.mark.parametrize("place", [str, in_function])
@pytest.mark.parametrize(
    "script",
    [
        "opt = parse()\nbuild(opt)",
        "opt = parse()\nbuild(opt)\nadjust(opt)",
        "opt = parse()\nTrainer(opt).run()\nadjust_by_way(opt)",
        "opt = parse()\nprint(adjust)\nbuild(opt)",
        "opt = parse()\nif opt.workers == 0:\n    adjust(opt)\nbuild(opt)",
        "opt = parse()\nif CHECKED:\n    adjust(opt)\nelse:\n    build(opt)",
        "opt = parse()\nadjust_for_windows(opt)\nbuild(opt)",
        "opt = parse()\nadjust(argparse.Namespace())\nbuild(opt)",
        "opt = parse()\ndef adjust_it():\n    opt.workers = 0\nbuild(opt)\nadjust_it()",
    ],
)
def test_what_a_function_stores_elsewhere_or_later_changes_nothing(
    tmp_path: Path, script: str, place: Callable[[str], str]
) -> None:
    assert of_script(tmp_path, "import argparse\n" + ADJUSTING + place(script)) == {4}


@pytest.mark.parametrize("place", [str, in_function])
@pytest.mark.parametrize(
    ("script", "known"),
    [
        ("opt = parse()\nvars(opt).update(workers=0)\nbuild(opt)", {"?"}),
        ("opt = parse()\nvars(opt)['workers'] = 0\nbuild(opt)", {"?"}),
        ("opt = parse()\nopt.__dict__['workers'] = 0\nbuild(opt)", {"?"}),
        ("opt = parse()\ncfg = vars(opt)\ncfg['workers'] = 0\nbuild(opt)", {"?"}),
        ("opt = parse()\ncfg = vars(opt)\ncfg.update({'workers': 0})\nbuild(opt)", {"?"}),
        ("opt = parse()\nwhile opt.workers < 8:\n    opt.workers += 1\nbuild(opt)", {"?"}),
        ("opt = parse()\nfor opt.workers in (0, 2):\n    pass\nbuild(opt)", {"?"}),
        ("opt = parse()\nfor opt.workers in (0, 2):\n    build(opt)", {0, 2}),
        ("opt = parse()\nopt.workers /= 2\nbuild(opt)", {"?"}),
        ("opt = parse()\nvars(opt)['others'] = 0\nbuild(opt)", {4}),
        ("opt = parse()\nbuild(opt)\nvars(opt)['workers'] = 0", {4, "?"}),
        ("opt = parse()\nif CHECKED:\n    vars(opt)['workers'] = 0\nbuild(opt)", {4, "?"}),
        ("opt = parse()\nfor key in sys.argv:\n    setattr(opt, key, 0)\nbuild(opt)", {4, "?"}),
    ],
)
def test_what_is_stored_by_a_text_or_in_a_loop_is_not_known(
    tmp_path: Path, script: str, known: set[object], place: Callable[[str], str]
) -> None:
    assert of_script(tmp_path, place(script)) == known


@pytest.mark.parametrize("place", [str, in_function])
@pytest.mark.parametrize(
    ("script", "known"),
    [
        ("adjust(config)\nbuild(config)", {"?"}),
        ("adjust_by_way(config)\nbuild(config)", {"?"}),
        ("empty(config)\nbuild(config)", {"?"}),
        ("build(config)\nadjust(config)", {4}),
        ("adjust_others(config)\nbuild(config)", {4}),
        ("adjust({})\nbuild(config)", {4}),
        ("config.update(workers=2)\nbuild(config)", {2}),
        ("config['workers'] = 2\nbuild(config)", {2}),
        ("build(config)\nconfig['workers'] = 2\nbuild(config)", {4, 2}),
        ("for _ in range(2):\n    config['workers'] = 2\nbuild(config)", {4, 2}),
    ],
)
def test_what_is_stored_in_a_dict_before_takes_the_place_of_what_it_is_made_with(
    tmp_path: Path, script: str, known: set[object], place: Callable[[str], str]
) -> None:
    text = DICTS + place("config = {'workers': 4}\n" + script)
    assert workers(tmp_path, {"main.py": text}) == known


@pytest.mark.parametrize(
    ("script", "known"),
    [
        ("adjust()\nLOADER", {"?"}),
        (in_function("adjust()\nLOADER"), {"?"}),
        ("if WORKERS == 4:\n    adjust()\nLOADER", {"?"}),
        ("adjust_another()\nLOADER", {4}),
    ],
)
def test_a_global_that_a_function_has_set_before_is_not_known(tmp_path: Path, script: str, known: set[object]) -> None:
    made = script.replace("LOADER", "loader = DataLoader(range(8), num_workers=WORKERS)")
    assert workers(tmp_path, {"main.py": GLOBAL + made}) == known


@pytest.mark.parametrize("call", ["", "adjust()"])
def test_a_global_that_a_function_sets_later_or_never_is_what_it_was(tmp_path: Path, call: str) -> None:
    script = f"{GLOBAL}loader = DataLoader(range(8), num_workers=WORKERS)\n{call}\n"
    assert workers(tmp_path, {"main.py": script}) == {4}


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ("['--workers', '0']", {0}),
        ("('--workers=2',)", {2}),
        ("args=['--workers', '2', '--workers', '0']", {0}),
        ("['--workers', COUNT]", {"?"}),
        ("['--work', '2']", {"?"}),
        ("['--workers', 'many']", {"?"}),
        ("[*WORDS]", {"?"}),
        ("[], argparse.Namespace(workers=2)", {"?"}),
        ("namespace=argparse.Namespace(**GIVEN)", {"?"}),
        ("[], argparse.Namespace(others=2)", {4}),
        ("[]", {4}),
        ("['--others', '2']", {4}),
        ("None", {4}),
        ("sys.argv[1:]", {4}),
    ],
)
def test_words_that_a_program_hands_to_its_parser_say_what_an_option_is(
    tmp_path: Path, given: str, known: set[object]
) -> None:
    script = PROGRAM.replace("parse_args()", f"parse_args({given})").replace("CHANGE", "pass")
    assert workers(tmp_path, {"main.py": f"import sys\n{script}"}) == known


@pytest.mark.parametrize(
    ("main", "known"),
    [
        ("import adjusting\nopt = parse()\nadjusting.adjust(opt)\nbuild(opt)", {"?"}),
        ("import adjusting\nopt = parse()\nbuild(opt)\nadjusting.adjust(opt)", {4}),
        ("opt = parse()\nbuild(opt)", {4}),
    ],
)
def test_a_module_that_several_programs_share_changes_the_options_of_those_that_call_it(
    tmp_path: Path, main: str, known: set[object]
) -> None:
    files = {"options.py": OPTIONS, "loading.py": LOADING, "adjusting.py": ADJUSTING, "main.py": START + main}
    other = START + "import adjusting\nopt = parse()\nadjusting.adjust(opt)\nprint(opt)\n"
    assert workers(tmp_path, {**files, "other.py": other}) == known


def test_more_writes_than_anybody_makes_by_hand_are_not_followed(tmp_path: Path) -> None:
    assert of_script(tmp_path, "opt = parse()\n" + "opt.workers = 0\n" * 2000 + "build(opt)") == {"?"}


@pytest.mark.parametrize(
    "other",
    [
        PROGRAM.replace("CHANGE", "args.workers = args.workers // 2"),
        PROGRAM.replace("CHANGE", "if args.workers > 2:\n        args.workers = 2"),
        "import loading\n" + PROGRAM.replace("CHANGE", "args.workers //= 2"),
        START + "opt = parse()\nopt.workers = opt.workers // 2\nbuild(opt)",
        START + "opt = Options().parse()\nopt.workers = 0\nbuild(opt)",
    ],
)
@pytest.mark.parametrize("main", [PROGRAM.replace("CHANGE", "pass"), START + "build(parse())"])
def test_what_another_program_does_with_its_options_is_its_own(tmp_path: Path, main: str, other: str) -> None:
    files = {"options.py": OPTIONS, "loading.py": LOADING.partition("class Trainer")[0], "main.py": main}
    assert workers(tmp_path, {**files, "other.py": other}) == {4}


@pytest.mark.parametrize(
    ("imports", "change"),
    [
        ("from fixing import fix\n", "fix(args)"),
        ("from helpers import fixing\n", "fixing.fix(args)"),
        ("from helpers import (\n    fixing,\n)\n", "fixing.fix(args)"),
        ("import importlib\nfixing = importlib.import_module('fix' + 'ing')\n", "fixing.fix(args)"),
        ("import importing\n", "importing.fixing.fix(args)"),
    ],
)
def test_what_runs_in_the_same_program_may_change_its_options(tmp_path: Path, imports: str, change: str) -> None:
    files = {"fixing.py": FIXING, "helpers/fixing.py": FIXING, "importing.py": "import fixing\n"}
    assert "?" in workers(tmp_path, {**files, "main.py": imports + PROGRAM.replace("CHANGE", change)})


@pytest.mark.parametrize(
    ("more", "known"), [("[]", {4}), ("[], namespace=args", {"?", 4}), ("[], args", {"?", 4}), ("**GIVEN", {"?", 4})]
)
def test_another_parser_makes_a_namespace_of_its_own(tmp_path: Path, more: str, known: set[object]) -> None:
    change = f"more, _ = parser.parse_known_args({more})\n    more.workers = len(more.names)"
    assert workers(tmp_path, {"main.py": "GIVEN = {}\n" + PROGRAM.replace("CHANGE", change)}) == known


def test_what_imports_the_program_may_change_its_options(tmp_path: Path) -> None:
    files = {"fixing.py": FIXING, "start.py": "import fixing\nimport main\n", "main.py": PROGRAM}
    assert "?" in workers(tmp_path, {**files, "main.py": PROGRAM.replace("CHANGE", "pass")})
