"""Files that nobody wrote, in the languages that dllint reads: the words and forms are real, the rest is chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hypothesis import strategies as st

Texts = st.SearchStrategy[str]


class Language(NamedTuple):
    """A file name that makes dllint read the text as this language, and texts."""

    name: str
    texts: Texts


def one_of(*words: str) -> Texts:
    return st.sampled_from(words)


def form(pattern: str, *parts: Texts) -> Texts:
    """`pattern` with a part for each `@`."""
    pieces = pattern.split("@")
    assert len(pieces) == len(parts) + 1, pattern

    def put_together(given: Sequence[str]) -> str:
        return pieces[0] + "".join(part + piece for part, piece in zip(given, pieces[1:], strict=True))

    return st.tuples(*parts).map(put_together)


def joined(part: Texts, separator: str, most: int = 4) -> Texts:
    return st.lists(part, max_size=most).map(separator.join)


def grown(leaf: Texts, *forms: Callable[[Texts], Texts], leaves: int = 25) -> Texts:
    """`leaf`, and what the forms make of it, over and over."""
    return st.recursive(leaf, lambda inner: st.one_of(*(make(inner) for make in forms)), max_leaves=leaves)


def indented(text: str) -> str:
    return "\n".join("    " + line for line in text.split("\n"))


# --- Python ---

NAMES = one_of(
    *("x", "y", "i", "self", "cls", "f", "g", "A", "B", "args", "cfg", "batch", "loader", "data", "lock", "np", "mp"),
    *(
        "torch",
        "DataLoader",
        "Dataset",
        "IterableDataset",
        "functools",
        "partial",
        "open",
        "h5py",
        "super()",
        "__name__",
    ),
)
ATTRIBUTES = one_of(
    *(
        "data",
        "x",
        "rng",
        "path",
        "cuda",
        "to",
        "load",
        "append",
        "num_workers",
        "dataset",
        "multiprocessing",
        "Process",
    ),
    *("Generator", "seed", "random", "memmap", "File", "set_start_method", "__init__", "__getitem__", "items", "cpu"),
)
KEYWORDS = one_of(
    *("num_workers", "batch_size", "shuffle", "sampler", "collate_fn", "worker_init_fn", "prefetch_factor", "timeout"),
    *(
        "pin_memory",
        "persistent_workers",
        "generator",
        "multiprocessing_context",
        "map_location",
        "mmap_mode",
        "device",
    ),
)
CONSTANTS = one_of(
    *("0", "1", "-1", "2.5", "10**9", "None", "True", "False", "'cuda'", "'r'", "'fork'", "b'x'", "''", "...", "1j"),
    *("'a' 'b'", "'__main__'", "f'{x}'", "0x" + "f" * 300, "1e999", "'\\ud800'"),
)
EXPRESSIONS = grown(
    NAMES | CONSTANTS,
    lambda e: form("@.@", e, ATTRIBUTES),
    lambda e: form("@(@)", e, joined(e, ", ")),
    lambda e: form("@(@=@, *@, **@)", e, KEYWORDS, e, e, e),
    lambda e: form("DataLoader(@, @=@, @=@)", e, KEYWORDS, e, KEYWORDS, e),
    lambda e: form("@[@]", e, e),
    lambda e: form("@[@:@]", e, e, e),
    lambda e: form("(@ @ @)", e, one_of("+", "%", "*", "and", "or", "<", "in", "is not", "if x else", "@", "**"), e),
    lambda e: form("[@]", joined(e, ", ")),
    lambda e: form("{@: @, **@}", e, e, e),
    lambda e: form("[@ for @ in @ if @]", e, NAMES, e, e),
    lambda e: form("(lambda @, *a, **k: @)", one_of("x", "self", "i=0"), e),
    lambda e: form("(@ if @ else @)", e, e, e),
    lambda e: form("f'{@!r:>{@}}'", NAMES, NAMES),
    lambda e: form("(@ := @)", one_of("x", "y"), e),
    lambda e: form("(yield @)", e),
    lambda e: form("(await @)", e),
)
TARGETS = (
    NAMES.filter(lambda name: name.isidentifier()) | form("@.@", NAMES, ATTRIBUTES) | form("@[@]", NAMES, EXPRESSIONS)
)
BASES = one_of("Dataset", "IterableDataset", "A, B", "torch.utils.data.Dataset", "Dataset, metaclass=x", "f(x)", "")
METHODS = one_of("__init__", "__getitem__", "__len__", "__iter__", "__getstate__", "__call__", "f", "g", "prepare")
STATEMENTS = grown(
    st.one_of(
        form("@ = @", TARGETS, EXPRESSIONS),
        form("@", EXPRESSIONS),
        form("self.@ = @", ATTRIBUTES, EXPRESSIONS),
        form("x = y = (a, *b) = @", EXPRESSIONS),
        form("x: @ = @", EXPRESSIONS, EXPRESSIONS),
        form("x += @", EXPRESSIONS),
        form("return @", EXPRESSIONS),
        form("global @", one_of("x", "y", "data")),
        form("nonlocal @", one_of("x", "y")),
        form("del @", TARGETS),
        form("raise @ from @", EXPRESSIONS, EXPRESSIONS),
        form(
            "from @ import @ as @", one_of(".", "..", "torch", "torch.utils.data", "data"), ATTRIBUTES, one_of("x", "A")
        ),
        one_of("import torch", "import x.y as x", "from data import *", "pass", "break", "continue", "return", "# a"),
    ),
    lambda s: form("@\n@", s, s),
    lambda s: form("if @:\n@\nelse:\n@", EXPRESSIONS, s.map(indented), s.map(indented)),
    lambda s: form("if __name__ == '__main__':\n@", s.map(indented)),
    lambda s: form("for @ in @:\n@", TARGETS, EXPRESSIONS, s.map(indented)),
    lambda s: form("while @:\n@", EXPRESSIONS, s.map(indented)),
    lambda s: form("with @ as @:\n@", EXPRESSIONS, TARGETS, s.map(indented)),
    lambda s: form("try:\n@\nexcept @ as e:\n@\nfinally:\n@", s.map(indented), NAMES, s.map(indented), s.map(indented)),
    lambda s: form(
        "@def @(self, x=@, *args, **kwargs):\n@", one_of("", "async "), METHODS, EXPRESSIONS, s.map(indented)
    ),
    lambda s: form("@\ndef f(i):\n@", form("@@", st.just("@"), NAMES), s.map(indented)),
    lambda s: form("class @(@):\n@", one_of("A", "B", "Dataset"), BASES, s.map(indented)),
    lambda s: form(
        "match @:\n    case @:\n@", EXPRESSIONS, one_of("_", "A(x=y)", "[x, *y]"), s.map(indented).map(indented)
    ),
)
PYTHON = form(
    "import torch\nfrom torch.utils.data import DataLoader, Dataset, IterableDataset\n@\n@\n", STATEMENTS, STATEMENTS
)

# --- YAML ---

KEYS = one_of(
    *(
        "apiVersion",
        "kind",
        "metadata",
        "name",
        "spec",
        "template",
        "containers",
        "volumes",
        "volumeMounts",
        "mountPath",
    ),
    *("emptyDir", "medium", "sizeLimit", "resources", "limits", "memory", "services", "image", "command", "shm_size"),
    *("build", "extends", "ipc", "tmpfs", "x-a", "<<", "deploy", "jobs", "steps", "run", "container", "options", "env"),
    *(
        "_target_",
        "num_workers",
        "defaults",
        "dataloader",
        "values",
        "workerGroupSpecs",
        "replicaSpecs",
        "? a",
        "1",
        "~",
    ),
)
SCALARS = one_of(
    *(
        "v1",
        "Pod",
        "Job",
        "Deployment",
        "batch/v1",
        "a",
        "8Gi",
        "64m",
        "8gb",
        "0",
        "-1",
        "1e3",
        "true",
        "null",
        "~",
        "",
    ),
    *(
        "Memory",
        "memory",
        "/dev/shm",
        "host",
        "pytorch/pytorch:2.4.0",
        "python train.py",
        "${A:-${B}}",
        "$A",
        "{{ .Values.a }}",
    ),
    *(
        "'{{ x | quote }}'",
        "*a",
        "&a b",
        "!!int 3",
        "!Ref x",
        "'it''s'",
        '"\\u0041"',
        "|",
        ">-\n  a\n b",
        "@x",
        "`",
        "%",
        "[",
        "}",
    ),
    *("torchrun train.py --num-workers 8", "torch.utils.data.DataLoader", "2001-01-01", "0x10", "1_000", ".inf", "# a"),
)
FLOW = grown(
    SCALARS,
    lambda v: form("[@]", joined(v, ", ")),
    lambda v: form("{@: @, @: @}", KEYS, v, KEYS, v),
    leaves=8,
)
BLOCKS = grown(
    form("@: @", KEYS, FLOW),
    lambda b: form("@\n@", b, b),
    lambda b: form("@:\n@", KEYS, b.map(indented)),
    lambda b: form("@: &a\n@", KEYS, b.map(indented)),
    lambda b: form("-\n@", b.map(indented)),
    lambda b: form("- @\n- @", FLOW, FLOW),
    lambda b: form("@: |\n@", KEYS, b.map(indented)),
    lambda b: form("{{- if @ }}\n@\n{{- end }}", one_of(".Values.a", "x", "("), b),
    lambda b: form("@\n---\n@", b, b),
    leaves=30,
)
POD = """apiVersion: v1
kind: Pod
spec:
    containers:
        - image: pytorch/pytorch
          command: [python, train.py]
"""
YAML = st.one_of(
    BLOCKS,
    form("services:\n    a:\n        image: pytorch/pytorch\n@\n", BLOCKS.map(indented).map(indented)),
    form(POD + "@\n", BLOCKS.map(indented)),
)

# --- Dockerfile ---

IMAGES = one_of(
    "pytorch/pytorch", "a", "scratch", "$A", "${A:-b}", "nvcr.io/nvidia/pytorch:24.01-py3", "a AS b", "--platform=$P x"
)
ARGUMENTS = grown(
    one_of(
        *(
            "python",
            "train.py",
            "a",
            "$A",
            "${A}",
            "${A:-$B}",
            "'a b'",
            '"a',
            "\\",
            "\\\n",
            "\\ \n",
            "&&",
            "|",
            "# a",
            "\t",
        ),
        *(
            "--mount=type=cache",
            "--from=b",
            "A=b",
            'A="b c"',
            "<<EOF",
            "<<-'E'",
            "mount",
            "-o",
            "size=8G",
            "/dev/shm",
            "é",
        ),
    ),
    lambda a: form("@ @", a, a),
    lambda a: form("@@", a, a),
    lambda a: form('["@", "@"]', a, a),
    leaves=12,
)
INSTRUCTIONS = st.one_of(
    form("FROM @", IMAGES),
    form(
        "@ @",
        one_of(
            *("RUN", "CMD", "ENTRYPOINT", "ENV", "ARG", "COPY", "ADD", "WORKDIR", "VOLUME", "USER", "LABEL", "SHELL"),
            *(
                "ONBUILD",
                "run",
                "HEALTHCHECK CMD",
                "EXPOSE",
                "STOPSIGNAL",
                "MAINTAINER",
                "NOTHING",
                "",
                "EOF",
                "# escape=",
            ),
        ),
        ARGUMENTS,
    ),
    form("RUN <<@\n@\n@", one_of("E", "'E'", "-E"), ARGUMENTS, one_of("E", "F")),
)
DOCKERFILE = form(
    "@FROM @\n@\n", one_of("", "# escape=`\n", "# syntax=x\n", "\ufeff"), IMAGES, joined(INSTRUCTIONS, "\n", 12)
)

# --- shell ---

WORDS = grown(
    one_of(
        *(
            "docker",
            "run",
            "podman",
            "sudo",
            "-it",
            "--rm",
            "--shm-size=8g",
            "--ipc",
            "host",
            "-v",
            "/dev/shm:/dev/shm",
            "-e",
        ),
        *(
            "pytorch/pytorch",
            "python",
            "train.py",
            "--num-workers",
            "8",
            "$A",
            "${A}",
            "$1",
            '"$@"',
            "$$",
            "~",
            "*",
            "{a,b}",
            "\\",
        ),
        *(
            "A=b",
            "A+=(b c)",
            "export",
            "set",
            "--",
            "-",
            "'",
            '"',
            "`",
            "#",
            "<A>",
            "{{ a }}",
            ">",
            "2>&1",
            "<<<",
            "é",
            "\t",
        ),
    ),
    lambda w: form("@@", w, w),
    lambda w: form('"@"', w),
    lambda w: form("'@'", w),
    lambda w: form("$(@)", w),
    lambda w: form("`@`", w),
    lambda w: form("${A@@}", one_of(":-", "%%", "//", "[", ":", "#", "^^", "?"), w),
    lambda w: form("$((@))", w),
    lambda w: form("<(@)", w),
    leaves=6,
)
COMMANDS = grown(
    joined(WORDS, " ", 8),
    lambda c: form("@@@", c, one_of("\n", " && ", " | ", "; ", " & ", " || ", " \\\n ", "\r\n"), c),
    lambda c: form("if @; then\n@\nelse\n@\nfi", c, c, c),
    lambda c: form("for A in @; do\n@\ndone", joined(WORDS, " "), c),
    lambda c: form("while @; do @; done", c, c),
    lambda c: form("case $A in\n@) @ ;;\n*) @ ;;\nesac", WORDS, c, c),
    lambda c: form("f() {\n@\n}", c),
    lambda c: form("( @ )", c),
    lambda c: form("cat <<@\n@\n@", one_of("EOF", "'EOF'", "-EOF"), c, one_of("EOF", "\tEOF", "E")),
    lambda c: form("bash -c '@'", c),
    leaves=12,
)
SHELL = form("#!/bin/bash\ndocker run pytorch/pytorch @\n@\n", WORDS, COMMANDS)

LANGUAGES = {
    "Python": Language("train.py", PYTHON),
    "YAML": Language("compose.yaml", YAML),
    "Dockerfile": Language("Dockerfile", DOCKERFILE),
    "shell": Language("run.sh", SHELL),
}
