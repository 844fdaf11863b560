"""Development containers: devcontainer.json with an image, a Dockerfile, or a service of a compose file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.commands import Word
from dllint.deploy.docker_cli import Invocation, Option, run_options
from dllint.deploy.docker_options import apply, shared_memory
from dllint.deploy.launchers.docker_run import image_flaws
from dllint.deploy.texts import DeployFile
from dllint.deploy.workload import Build, Flaw, FlawKind, Launcher, Setting, ShmSource, Workload
from dllint.finding import Location
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

DEVCONTAINER = Launcher("devcontainer", 'add `"--shm-size={size}"` to `runArgs`', is_workplace=True)
_NAMES = frozenset({"devcontainer.json", ".devcontainer.json"})


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The container that a devcontainer.json describes."""
    if file.name not in _NAMES:
        return
    if file.documents.error is not None:
        raise file.documents.error
    for tree in file.documents.trees[:1]:
        if tree.get("dockerComposeFile") is not None:
            yield from _of_compose(tree, file)
        elif tree.is_mapping:
            yield from _of_image(tree, file, plan)


def _of_image(tree: Tree, file: DeployFile, plan: Plan) -> Iterator[Workload]:
    image, build = tree.get("image"), _build(tree, file)
    if build is None and (image is None or not image.text):
        return
    workload = Workload(DEVCONTAINER, file.path, _anchor(tree, file), tree.text_of("name"), plan.root, build=build)
    if image is not None and image.text and build is None:
        workload.image = Setting(None if "${" in image.text else image.text, image.at, image.text)
    apply(_options(tree), workload)
    if workload.shm.source is ShmSource.DEFAULT:
        workload.flaws += image_flaws(workload, plan)
    yield workload


def _build(tree: Tree, file: DeployFile) -> Build | None:
    """The build, in the newer form (`build`) or the older one (`dockerFile`)."""
    build = tree.get("build")
    name = build.text_of("dockerfile") or build.text_of("dockerFile") if build is not None else ""
    name = name or tree.text_of("dockerFile")
    if not name:
        return None
    context = (build.text_of("context") if build is not None else "") or tree.text_of("context") or "."
    arguments = build.get("args") if build is not None else None
    pairs = [(key, value.text) for key, value in (arguments.pairs() if arguments is not None else [])]
    return Build(
        os.path.normpath(os.path.join(file.folder, context)),
        os.path.normpath(os.path.join(file.folder, name)),
        build.text_of("target") if build is not None else "",
        arguments=tuple((key, text) for key, text in pairs if text and "${" not in text),
    )


def _anchor(tree: Tree, file: DeployFile) -> Location:
    """`runArgs`, else what says the image."""
    found = next((value for key in ("runArgs", "image", "build", "dockerFile") if (value := tree.get(key))), tree)
    return file.line_at(found.key_at.row)


def _options(tree: Tree) -> Invocation:
    arguments, mounts = tree.get("runArgs"), tree.get("mounts")
    found = run_options("docker", _words(arguments))
    more = [Option("mount", word, word) for word in _words(mounts)]
    more += [Option("cap-add", word, word) for word in _words(tree.get("capAdd"))]
    privileged = tree.get("privileged")
    if privileged is not None:
        word = Word(_text(privileged), privileged.at)
        more.append(Option("privileged", word, word))
    return found._replace(options=found.options + more, has_unknown=found.has_unknown or bool(found.rest))


def _words(tree: Tree | None) -> list[Word]:
    items = tree.items() if tree is not None else []
    return [Word(_text(item), item.at, known="${" not in _text(item)) for item in items]


def _text(item: Tree) -> str:
    """A word; a mount may be an object, whose fields are those of the word."""
    return item.text if item.text is not None else ",".join(f"{key}={value.text}" for key, value in item.pairs())


def _of_compose(tree: Tree, file: DeployFile) -> Iterator[Workload]:
    """`runArgs` beside a compose file: nobody reads them; the service's own settings count."""
    arguments, composed = tree.get("runArgs"), tree.get("dockerComposeFile")
    if arguments is None or composed is None:
        return
    memory = shared_memory(run_options("docker", _words(arguments)))
    if memory.memory.source in (ShmSource.DEFAULT, ShmSource.UNKNOWN):
        return
    at = memory.memory.at or arguments.key_at
    what = "`runArgs` has no effect beside `dockerComposeFile`: the service's own settings count"
    flaw = Flaw(FlawKind.NOT_EFFECTIVE, at, what)
    service = tree.text_of("service")
    files = tuple(os.path.normpath(os.path.join(file.folder, text)) for text in composed.texts())
    yield Workload(DEVCONTAINER, file.path, at, service, file.folder, flaws=[flaw], stands_for=(files, service))
