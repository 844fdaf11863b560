"""Containers that Python starts through the docker SDK: `client.containers.run(...)` and `.create(...)`.

Its arguments are put as the options of `docker run` that they stand for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dllint.code.language.arguments import Argument, Arguments, collect, name_positional
from dllint.code.language.modules import Module
from dllint.code.language.values import Collection, Const, Derived, Frame
from dllint.deploy.commands import Word
from dllint.deploy.docker_cli import SDK, Invocation, Option
from dllint.deploy.docker_options import apply
from dllint.deploy.launchers.docker_run import image_flaws
from dllint.deploy.sdk_builds import is_client_of_docker
from dllint.deploy.workload import Launcher, Setting, ShmSource, Start, Workload, words_in

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

DOCKER_SDK = Launcher("docker SDK", "pass `shm_size='{size}'`")
_OPTIONS = {
    # Arguments that are one value -> the option that says the same.
    "shm_size": "shm-size",
    "ipc_mode": "ipc",
    "mem_limit": "memory",
    "working_dir": "workdir",
    "name": "name",
    "runtime": "runtime",
    "privileged": "privileged",
}


def find(module: Module, plan: Plan) -> Iterator[Workload]:
    """The containers that a Python module starts through the SDK."""
    if module.is_test or b"container" not in module.data:
        return
    for name in ("run", "create", "create_container"):
        for call, scope in module.calls_of(name):
            if is_client_of_docker(call, "containers", scope, plan):
                workload = _Call(call, Frame(scope), module, plan).workload()
                if workload is not None:
                    yield workload


class _Call:
    def __init__(self, call: ast.Call, frame: Frame, module: Module, plan: Plan) -> None:
        self._call = call
        self._module = module
        self._plan = plan
        self._evaluator = plan.program.evaluator
        found = collect(self._evaluator, call, frame)
        self._arguments = name_positional(found, ("image", "command"))
        below = self._host_config()
        self._is_open = found.open or (below is not None and below.open)
        self._arguments.update(below.named if below is not None else {})

    def _host_config(self) -> Arguments | None:
        """What the API beneath the SDK is given apart: `host_config=client.create_host_config(shm_size="8g")`."""
        given = self._arguments.get("host_config")
        if given is None:
            return None
        values = self._evaluator.values(given.node, given.frame)
        made = values[0] if len(values) == 1 else None
        if not isinstance(made, Derived) or made.via != ".create_host_config()" or not isinstance(made.node, ast.Call):
            return Arguments(open=True)
        return collect(self._evaluator, made.node, made.frame)

    def workload(self) -> Workload | None:
        """The container; None where no image is given."""
        given = self._arguments.get("image")
        image = self._word(given.node, given.frame) if given is not None else None
        if image is None:
            return None
        options = Invocation(SDK, list(self._options()), (image,), self._is_open)
        at = self._module.location(self._call)
        workload = Workload(DOCKER_SDK, self._module.path, at, folder=self._plan.root)
        workload.image = Setting(image.text if image.known else None, image.at, image.text)
        workload.start = self._start()
        apply(options, workload)
        if workload.shm.source is ShmSource.DEFAULT:
            workload.flaws += image_flaws(workload, self._plan)
        return workload

    def _start(self) -> Start:
        return Start(*(self._split(self._arguments.get(name)) for name in ("entrypoint", "command")))

    def _split(self, given: Argument | None) -> tuple[str, ...] | None:
        """The words of a list, or of a string, which the SDK splits as a shell does; None where it is not given."""
        if given is None:
            return None
        words = self._words(given)
        if len(words) == 1 and words[0].known and not self._items(given):
            return words_in(words[0].text)
        return tuple(word.text if word.known else "" for word in words) or None

    def _options(self) -> Iterator[Option]:
        for name, argument in self._arguments.items():
            if name in _OPTIONS:
                word = self._word(argument.node, argument.frame)
                if word is not None:
                    yield Option(_OPTIONS[name], word if argument.certain else word._replace(known=False), word)
            elif name in _READERS:
                for option, word in _READERS[name](self, argument):
                    yield Option(option, word, word)

    # Arguments that hold several values

    def _listed(self, option: str, argument: Argument) -> Iterator[tuple[str, Word]]:
        return ((option, word) for word in self._words(argument))

    def _tmpfs(self, argument: Argument) -> Iterator[tuple[str, Word]]:
        for key, value, frame in self._pairs(argument):
            options = self._word(value, frame)
            if options is not None:
                yield "tmpfs", options._replace(text=f"{key}:{options.text}" if options.text else key)

    def _volumes(self, argument: Argument) -> Iterator[tuple[str, Word]]:
        pairs = self._pairs(argument)
        for source, value, frame in pairs:
            inner = self._dict(value, frame)
            bound = inner.get("bind")
            word = self._word(bound[0], bound[1]) if bound is not None else None
            if word is not None:
                yield "volume", word._replace(text=f"{source}:{word.text}")
        if not pairs:
            yield from self._listed("volume", argument)

    def _mounts(self, argument: Argument) -> Iterator[tuple[str, Word]]:
        for node, frame in self._items(argument):
            if not isinstance(node, ast.Call):
                yield "mount", self._unknown(node)
                continue
            inner = name_positional(collect(self._evaluator, node, frame), ("target", "source", "type"))
            fields = {name: self._word(given.node, given.frame) for name, given in inner.items()}
            texts = {name: word.text for name, word in fields.items() if word is not None}
            size = f",tmpfs-size={texts['tmpfs_size']}" if "tmpfs_size" in texts else ""
            kind, target, source = (texts.get(name, "") for name in ("type", "target", "source"))
            text = f"type={kind or 'volume'},target={target},source={source}{size}"
            yield "mount", Word(text, self._module.location(node))

    def _environment(self, argument: Argument) -> Iterator[tuple[str, Word]]:
        pairs = self._pairs(argument)
        for name, value, frame in pairs:
            word = self._word(value, frame)
            if word is not None:
                yield "env", word._replace(text=f"{name}={word.text}")
        if not pairs:
            yield from self._listed("env", argument)

    def _ulimits(self, argument: Argument) -> Iterator[tuple[str, Word]]:
        for node, frame in self._items(argument):
            inner = collect(self._evaluator, node, frame).named if isinstance(node, ast.Call) else {}
            words = {key: self._word(given.node, given.frame) for key, given in inner.items()}
            name, soft = words.get("name"), words.get("soft")
            if name is not None and soft is not None and soft.known:
                yield "ulimit", soft._replace(text=f"{name.text}={soft.text}")

    def _processors(self, argument: Argument) -> Iterator[tuple[str, Word]]:
        word = self._word(argument.node, argument.frame)
        if word is not None and word.known and word.text.isdecimal():
            yield "cpus", word._replace(text=str(float(word.text) / 1e9))

    def _capabilities(self, argument: Argument) -> Iterator[tuple[str, Word]]:
        return self._listed("cap-add", argument)

    def _gpus(self, argument: Argument) -> Iterator[tuple[str, Word]]:
        yield "gpus", self._unknown(argument.node)

    # Values

    def _word(self, node: ast.expr, frame: Frame) -> Word | None:
        """The value of an expression as a word; None where it is None, as if it were not given."""
        values = self._evaluator.values(node, frame)
        only = values[0] if len(values) == 1 else None
        if isinstance(only, Const) and only.value is None:
            return None
        if isinstance(only, Const) and isinstance(only.value, (str, int, float)):
            return Word(str(only.value), self._module.location(node))
        return self._unknown(node)

    def _unknown(self, node: ast.expr) -> Word:
        return Word("$_", self._module.location(node), known=False)

    def _words(self, argument: Argument) -> list[Word]:
        """The items of a list, or one string."""
        items = self._items(argument)
        words = [self._word(node, frame) for node, frame in items or [(argument.node, argument.frame)]]
        return [word for word in words if word is not None]

    def _items(self, argument: Argument) -> list[tuple[ast.expr, Frame]]:
        found = self._evaluator.values(argument.node, argument.frame)
        if len(found) == 1 and isinstance(found[0], Collection) and found[0].kind in ("list", "tuple"):
            return [(item, found[0].frame) for item in found[0].items]
        return []

    def _dict(self, node: ast.expr, frame: Frame) -> dict[str, tuple[ast.expr, Frame]]:
        values = self._evaluator.values(node, frame)
        found = values[0] if len(values) == 1 else None
        if not isinstance(found, Collection) or found.kind != "dict":
            return {}
        pairs = zip(found.keys, found.items, strict=False)
        return {self._key(key, found.frame): (value, found.frame) for key, value in pairs}

    def _key(self, key: ast.expr | str | None, frame: Frame) -> str:
        word = self._word(key, frame) if isinstance(key, ast.expr) else None
        return key if isinstance(key, str) else word.text if word is not None else ""

    def _pairs(self, argument: Argument) -> list[tuple[str, ast.expr, Frame]]:
        found = self._dict(argument.node, argument.frame)
        return [(key, value, frame) for key, (value, frame) in found.items()]


_READERS: dict[str, Callable[[_Call, Argument], Iterator[tuple[str, Word]]]] = {
    "tmpfs": _Call._tmpfs,
    "volumes": _Call._volumes,
    "binds": _Call._volumes,
    "mounts": _Call._mounts,
    "environment": _Call._environment,
    "ulimits": _Call._ulimits,
    "nano_cpus": _Call._processors,
    "device_requests": _Call._gpus,
    "cap_add": _Call._capabilities,
}
