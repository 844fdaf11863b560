"""Config files of which a command names one, or replaces entries: `train.py --config large.yaml data.num_workers=8`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.code.language import config_files, config_keys, hydra_mains
from dllint.code.language.hydra_configs import HydraConfig, config_with
from dllint.code.language.values import Const, Frame, Value, Values

if TYPE_CHECKING:
    from dllint.code.language.evaluator import Evaluator
    from dllint.deploy.runs import ScriptRun

_CONFIGS = (".yaml", ".yml", ".json")
_OPTIONS = (*(option.replace("-", "_") for option in hydra_mains.OPTIONS), "config", "cfg", "conf", "c", "config_file")
"""Options by which commands name a config, or the folder of all."""


class ToldConfigs:
    """What the command of a script says about what that reads from config files."""

    def __init__(self, run: ScriptRun, ev: Evaluator, frame: Frame) -> None:
        self._run = run
        self._ev = ev
        self._frame = frame
        self._given = run.given()

    def text_of(self, value: Value) -> str | None:
        """What the script has in the place of a value that it reads from a config, empty for what nobody knows; None
        where the command changes nothing about that."""
        keys = config_keys.keys_of(value, self._ev, self._frame)
        return self._text_at(keys, value) if keys else None

    def text_at(self, node: ast.expr, frame: Frame) -> str | None:
        """The same for an expression."""
        keys = config_keys.keys_at(node, self._ev, frame)
        return self._text_at(keys, None) if keys else None

    def text_within(self, sections: Values, name: str) -> str | None:
        """The same for an entry of a section that a loader takes whole: `DataLoader(data, **config["loader"])`."""
        every = (config_keys.keys_of(section, self._ev, self._frame) for section in sections)
        texts = {self._text_at((*keys, name), section) for keys, section in zip(every, sections, strict=True) if keys}
        return texts.pop() if len(texts) == 1 else None

    def _text_at(self, keys: Sequence[str], value: Value | None) -> str | None:
        replaced = self._given.get(".".join(keys))
        if replaced is not None:
            return replaced
        config = config_with(value.node) if isinstance(value, Const) else None
        if config is not None:
            return self._text_of_hydra(config, keys)
        configs = self._named
        held = (config_keys.value_at(config, keys) for config in configs)
        found = {str(each.value) for each in held if isinstance(each, ast.Constant)}
        if len(found) == 1:
            return found.pop()
        return "" if self._says_another and not configs else None

    @cached_property
    def _says_another(self) -> bool:
        """Whether the command names a config, be it one that nobody sees."""
        words = (word.rpartition("=")[2] for word in self._run.arguments)
        return any(option in self._given for option in _OPTIONS) or any(word.endswith(_CONFIGS) for word in words)

    @cached_property
    def _named(self) -> list[ast.Dict]:
        """What the config files of the project hold whose paths stand in the command."""
        if self._run.module is None:
            return []
        words = dict.fromkeys(word.rpartition("=")[2] for word in self._run.arguments)
        script, named = self._run.module, (word for word in words if word.endswith(_CONFIGS))
        held = (config_files.named_by_a_command(self._ev, script, word, self._run.script) for word in named)
        return [each for each in held if each is not None]

    def _text_of_hydra(self, config: HydraConfig, keys: Sequence[str]) -> str | None:
        """What a command leaves in the place of an entry of a config that Hydra puts together."""
        if self._run.module is None or not self._run.arguments:
            return None
        told = hydra_mains.told(self._ev, self._run.module, config.folder, config.config_name, self._run.arguments)
        found = config_keys.value_at(told.held, keys) if told is not None else None
        return str(found.value) if isinstance(found, ast.Constant) else ""
