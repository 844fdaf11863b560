"""Jobs of CI that run in a container: GitHub Actions (`container`), GitLab (`image`) and CircleCI (`docker`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.deploy.ci import is_never_run
from dllint.deploy.commands import Word
from dllint.deploy.docker_cli import Invocation, Option, run_options
from dllint.deploy.docker_options import apply
from dllint.deploy.launchers import gitlab
from dllint.deploy.launchers.docker_run import image_flaws
from dllint.deploy.option_words import words_of
from dllint.deploy.texts import DeployFile
from dllint.deploy.workload import Launcher, Setting, ShmSource, Start, Workload
from dllint.finding import Location
from dllint.patterns import pattern
from dllint.syntax.tree import Tree

if TYPE_CHECKING:
    from dllint.deploy.plan import Plan

_FROM_MATRIX = pattern(r"\$\{\{\s*matrix\.([\w-]+)\s*\}\}")
GITHUB = Launcher("GitHub Actions", "give the job's container `options: --shm-size={size}`", checks=True)
CIRCLECI = Launcher(
    "CircleCI",
    "its docker executor has no size for that: use a machine executor and `docker run --shm-size={size}`",
    checks=True,
)


def find(file: DeployFile, plan: Plan) -> Iterator[Workload]:
    """The containers that the jobs of a CI file run in."""
    if is_never_run(file, plan):
        return
    if file.name.endswith(".gitlab-ci.yml") or ".gitlab/" in file.path:
        yield from gitlab.find(file, plan)
        return
    for tree in file.documents.trees:
        if tree.get("jobs") is not None and ("on" in tree or "true" in tree or ".github" in file.path):
            yield from _github(tree, file, plan)
        elif tree.get("jobs") is not None and (".circleci" in file.path or "version" in tree):
            yield from _circleci(tree, file, plan)


# GitHub Actions


def _github(tree: Tree, file: DeployFile, plan: Plan) -> Iterator[Workload]:
    jobs = tree.get("jobs")
    for name, job in jobs.pairs() if jobs is not None else []:
        container = job.get("container")
        never = job.text_of("if").strip().removeprefix("${{").removesuffix("}}").strip() == "false"
        if container is not None and (container.is_mapping or container.text) and not never:
            yield _job(name, job, container, file, plan)


def _job(name: str, job: Tree, container: Tree, file: DeployFile, plan: Plan) -> Workload:
    image = container if container.text else container.get("image")
    options = container.get("options")
    workload = Workload(GITHUB, file.path, _anchor(container, image, options, file), name, plan.root)
    if image is not None and image.text:
        known = _first_of_matrix(image.text, job).removeprefix("docker://")
        workload.image = Setting(None if "${{" in known else known, image.at, image.text)
    steps = job.get("steps")
    scripts = [text for step in (steps.items() if steps is not None else []) if (text := step.text_of("run"))]
    workload.start = Start(("\n".join(scripts),) if scripts else None)
    apply(_options(container, options, file), workload)
    if workload.shm.source is ShmSource.DEFAULT:
        workload.flaws += image_flaws(workload, plan)
    return workload


def _first_of_matrix(text: str, job: Tree) -> str:
    """A text of a job with the first values of its matrix; what the matrix does not list stays as it is."""
    matrix = job.get("strategy", "matrix")
    return _FROM_MATRIX.sub(lambda name: _first_value(matrix, name[1]) or name[0], text) if matrix is not None else text


def _first_value(matrix: Tree, name: str) -> str:
    values, more = matrix.get(name), matrix.get("include")
    listed = values.texts() if values is not None else []
    listed += [item.text_of(name) for item in (more.items() if more is not None else [])]
    return next((text for text in listed if text and "${{" not in text), "")


def _anchor(container: Tree, image: Tree | None, options: Tree | None, file: DeployFile) -> Location:
    """The options, if there are some; else from the `container` key to the image."""
    if options is not None:
        return file.line_at(options.key_at.row)
    start = container.key_at
    end = file.line_at(image.at.row if image is not None and image.at.row >= start.row else start.row)
    return Location(file.path, start.row, start.column, end.end_row, end.end_column)


def _options(container: Tree, options: Tree | None, file: DeployFile) -> Invocation:
    """The `options` as docker create reads them, and the `volumes` and `env` beside them."""
    words = words_of(options, file) if options is not None else []
    found = run_options("docker", words)
    volumes = container.get("volumes")
    environment = container.get("env")
    more = [("volume", _word(item.text or "", item)) for item in (volumes.items() if volumes is not None else [])]
    pairs = environment.pairs() if environment is not None else []
    more += [("env", _word(f"{name}={value.text}", value)) for name, value in pairs if value.text is not None]
    has_unknown = found.has_unknown or any(word.many for word in found.rest)
    return found._replace(
        options=found.options + [Option(name, word, word) for name, word in more], has_unknown=has_unknown
    )


def _word(text: str, tree: Tree) -> Word:
    return Word(text, tree.at, known="${{" not in text)


# CircleCI


def _circleci(tree: Tree, file: DeployFile, plan: Plan) -> Iterator[Workload]:
    jobs = tree.get("jobs")
    for name, job in jobs.pairs() if jobs is not None else []:
        executor = job.get("executor")
        called = (executor.text or executor.text_of("name")) if executor is not None else ""
        image = _primary(job) or (_primary(tree.get("executors", called)) if called else None)
        if image is None or not image.text or "<<" in image.text:
            continue
        at = executor.key_at if executor is not None else image.at
        workload = Workload(CIRCLECI, file.path, file.line_at(at.row), name, plan.root)
        workload.image = Setting(image.text, image.at, image.text)
        scripts = list(_circleci_scripts(job))
        workload.start = Start(("\n".join(scripts),) if scripts else None)
        yield workload


def _primary(job: Tree | None) -> Tree | None:
    """The image that the steps of a job run in: the first of its list, beside which the others are services."""
    images = job.get("docker") if job is not None else None
    first = next(iter(images.items()), None) if images is not None else None
    return first.get("image") if first is not None else None


def _circleci_scripts(job: Tree) -> Iterator[str]:
    steps = job.get("steps")
    for step in steps.items() if steps is not None else []:
        text = step.text_of("run") or step.text_of("run", "command")
        if text:
            yield text
