"""A workload that trains with torch: the scripts that it runs, the loaders in them, and the memory that these need."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.deploy.copied import context_of
from dllint.deploy.demand import Demand
from dllint.deploy.environment import Environment
from dllint.deploy.images import built_for
from dllint.deploy.ranks import may_start_ranks
from dllint.deploy.runs import ScriptRun, Started, started
from dllint.deploy.script_flow import is_sure
from dllint.deploy.workload import Workload
from dllint.finding import Related

if TYPE_CHECKING:
    from dllint.code.loaders.loader import Loader
    from dllint.deploy.loader_runs import LoaderRun
    from dllint.deploy.plan import Plan


class Training:
    """A workload that trains with torch."""

    def __init__(self, workload: Workload, plan: Plan, why: str, words: tuple[str, ...]) -> None:
        self.workload = workload
        self.plan = plan
        self.why = why
        """The evidence, for messages: "its image carries torch"."""
        self.does = "train with"
        """What it does with PyTorch, for messages: a script that is not called a training may only evaluate."""
        self.is_sure = True
        """False where the image alone says so (it carries torch, and nobody sees what runs in it) and no loader with
        workers is seen, or it may run in another container, that is given memory; also where a launcher starts one
        process, and the workers of its loaders are not known, or a script comes to it by what nobody sees."""
        self.beside: Loader | None = None
        """A loader with workers of the project's code, where nobody sees what runs in it."""
        self.words = words

    @property
    def subject(self) -> str:
        """What it is, for messages: "service `trainer`", "this `docker run`"."""
        launcher, name = self.workload.launcher.name, self.workload.name
        return f"`{name}` ({launcher})" if name else f"this {launcher} container"

    def verb(self, *, is_certain: bool) -> str:
        """What it does, for messages: "trains with", "may run"."""
        first, *rest = self.does.split()
        return " ".join([f"{first}s", *rest]) if is_certain else f"may {self.does}"

    def related(self) -> list[Related]:
        """The places that shaped it, and the loader that needs the memory."""
        working = [loader for loader in self.loaders if loader.has_workers]
        if self.demand is not None:
            return [*self.workload.related, self.demand.related()]
        seen = [loader.related() for loader in working[:1]]
        if not seen and self.beside is not None:
            seen = [self.beside.related()]
        return [*self.workload.related, *seen]

    @property
    def path(self) -> str:
        """The file that starts it."""
        return self.workload.path

    @cached_property
    def started(self) -> list[Started]:
        """The simple commands that run in it."""
        return list(started(self.words, self._folder, self.plan, self.environment))

    @property
    def _folder(self) -> str:
        """Where the files that its command names are looked for first: the folder that its image is built from, if that
        lies within the one that it is started from."""
        image = built_for(self.workload, self.plan)
        if image is None:
            return self.workload.folder
        context = context_of(image, self.plan)
        return context if context.startswith(os.path.join(self.workload.folder, "")) else self.workload.folder

    @cached_property
    def environment(self) -> Environment:
        """The variables that its image and its launcher set."""
        image = built_for(self.workload, self.plan)
        of_image = image.environment if image is not None else {}
        return Environment({**of_image, **self.workload.environment}, not self.workload.is_environment_whole)

    @cached_property
    def commands(self) -> list[list[str]]:
        """The words of these, none without any."""
        return [each.command for each in self.started if each.command and each.command[0]]

    @cached_property
    def runs(self) -> list[ScriptRun]:
        """The Python scripts that they start."""
        return [each.run for each in self.started if each.run is not None]

    @cached_property
    def loaders(self) -> list[LoaderRun]:
        """The loaders of these scripts, or of the function that it runs."""
        found: list[tuple[Loader, ScriptRun | None]]
        found = [(loader, run) for run in self.runs if run.module is not None for loader in self._loaders(run)]
        found += [(loader, None) for loader in self.workload.loaders]
        if not found:
            return []
        from dllint.deploy.loader_runs import LoaderRun

        return [LoaderRun(*each, self.environment.values) for each in found]

    def _loaders(self, run: ScriptRun) -> list[Loader]:
        assert run.module is not None
        loaders = self.plan.loaders_of(run.module)
        if not loaders:
            return loaders
        if run.function:
            from dllint.deploy.reached import reached_by

            return reached_by(run.function, run.module, loaders, self.plan)
        from dllint.deploy.subcommands import of_chosen

        return of_chosen(run, loaders, self.plan)

    @property
    def comes_to_it(self) -> bool:
        """Whether its scripts certainly start what has workers, or where nobody sees that any of the scripts has, any
        of these: no comparison with something unknown stands before it."""
        working = {loader.run for loader in self.loaders if loader.has_workers}
        every = [each for each in self.started if each.run is not None]
        choices = [each.choices for each in every if not working or each.run in working]
        return None in working or not choices or is_sure(choices)

    @cached_property
    def demand(self) -> Demand | None:
        """The largest need of one of its loaders; None where none is known."""
        demands = [loader.demand(self.plan.settings.batch_bytes) for loader in self.loaders]
        known = [demand for demand in demands if demand is not None and demand.bytes]
        return max(known, key=lambda demand: demand.bytes, default=None)

    def fits(self, size: int) -> bool:
        """Whether all its loaders together certainly need no more than half of so many bytes."""
        return not may_start_ranks(self.words) and fit(self.loaders, size, self.plan.settings.batch_bytes)

    @property
    def starts_workers(self) -> bool:
        """Whether a loader of its scripts certainly starts workers."""
        return any(loader.has_workers and not self._may_leave_out(loader) for loader in self.loaders)

    @property
    def may_have_no_workers(self) -> bool:
        """Whether its scripts have loaders, and each of them may be built without workers where there is no GPU."""
        return bool(self.loaders) and all(map(self._may_leave_out, self.loaders))

    def _may_leave_out(self, loader: LoaderRun) -> bool:
        """Whether a pod without a GPU runs `DataLoader(..., **({"num_workers": 1} if use_cuda else {}))`.

        Each way to call one loader is a loader of its own, in the same place, or the argument is passed on some ways.
        """
        if self.workload.gpus or self.workload.launcher.name != "Kubernetes":
            return False
        same = [other for other in self.loaders if other.loader.location == loader.loader.location]
        is_optional = loader.loader.option("num_workers").absent is None
        return is_optional or any(other.most_workers == 0 for other in same)

    @property
    def has_no_workers(self) -> bool:
        """Whether its scripts have loaders, and all of them run without workers."""
        return bool(self.loaders) and all(loader.most_workers == 0 for loader in self.loaders)


def fit(loaders: Iterable[LoaderRun], size: int, batch_bytes: int | None) -> bool:
    """Whether loaders with workers certainly need, all together, no more than half of so many bytes."""
    demands = [loader.demand_at_most(batch_bytes) for loader in loaders if loader.most_workers != 0]
    known = [demand.bytes for demand in demands if demand is not None and demand.is_exact]
    return bool(demands) and len(known) == len(demands) and 2 * sum(known) <= size
