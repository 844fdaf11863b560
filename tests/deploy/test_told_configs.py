"""Workers that stand in a config file which the command of a container names."""

from __future__ import annotations

import pytest

from harness import lint_texts

IMAGE = "pytorch/pytorch:2.8.0-cuda12.9-cudnn9-devel"
SCRIPT = """
import argparse
import yaml
from addict import Dict
from torch.utils.data import DataLoader
from scans import Scans

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", {option})
    args = parser.parse_args()
    with open(args.config) as file:
        config = yaml.safe_load(file)
    {change}
    for scan in DataLoader(Scans(), batch_size=64, num_workers={workers}):
        print(scan)

main()
"""


def rows_in(script: str, command: str, **configs: str) -> list[int]:
    """The rows of `run.sh` with a finding of DLL701; the configs lie in the folder `conf`."""
    runs = "".join(f"docker run -v $PWD:/work {IMAGE} {each}\n" for each in command.splitlines())
    files = {f"conf/{name}.yaml": text for name, text in configs.items()}
    found = lint_texts({"train.py": script, "run.sh": runs, **files}, "DLL701")
    return sorted(each.location.row for each in found if each.location.path.endswith("run.sh"))


def script(workers: str, change: str = "", option: str = "required=True") -> str:
    return SCRIPT.format(workers=workers, change=change, option=option)


@pytest.mark.parametrize(
    ("workers", "config"),
    [
        ('config["workers"]', "workers: {}"),
        ('int(config["workers"])', "workers: {}"),
        ('config.get("workers", 2)', "workers: {}"),
        ('config.get("workers", 0)', "workers: {}"),
        ('config.get("data", {}).get("workers", 0)', "data:\n  workers: {}"),
        ('config["data"]["workers"]', "base: &base\n  workers: {}\ndata:\n  <<: *base\n  size: 2"),
        ('config["workers"]', "workers: 3\nworkers: {}"),
        ("Dict(config).data.workers", "data:\n  workers: {}"),
    ],
)
def test_the_named_config_says_how_many(workers: str, config: str) -> None:
    command = "python train.py --config conf/some.yaml\npython train.py --config=/work/conf/none.yaml"
    assert rows_in(script(workers), command, some=config.format(4), none=config.format(0)) == [1]


def test_the_config_in_the_command_takes_the_place_of_the_default() -> None:
    code = script('config["workers"]', option='default="conf/some.yaml"')
    command = "python train.py\npython train.py --config conf/none.yaml\npython train.py --config conf/some.yaml"
    assert rows_in(code, command, some="workers: 4", none="workers: 0") == [1, 3]


def test_a_config_that_the_program_changes_says_nothing() -> None:
    code = script('config["workers"]', change='config["workers"] = args.config.count("/")')
    (row,) = rows_in(code, "python train.py --config conf/some.yaml", some="workers: 4\nval_workers: 2")
    assert row == 1  # by the image alone


def test_all_that_an_unread_config_says_is_that_there_are_no_workers() -> None:
    code = script("workers_of(config)", change="from models import workers_of")
    command = "python train.py --config conf/some.yaml\npython train.py --config conf/none.yaml"
    assert rows_in(code, command, some="num_workers: 4", none="num_workers: 0\nval_workers: 0") == [1]


def test_a_config_is_read_from_the_folder_that_the_script_is_started_in() -> None:
    commands = (
        'sh -c "cd src && python train.py --config conf/large.yaml"',
        "python src/train.py --config conf/large.yaml",
    )
    files = {
        "src/train.py": script('config["workers"]'),
        "src/conf/large.yaml": "workers: 4\n",
        "conf/large.yaml": "workers: 0\n",
        "run.sh": "".join(f"docker run -v $PWD:/work {IMAGE} {command}\n" for command in commands),
    }
    assert [each.location.row for each in lint_texts(files, "DLL701")] == [1]


def test_every_one_of_many_commands_is_read() -> None:
    configs = {f"c{number}": f"workers: {number % 2 * 4}" for number in range(100)}
    command = "\n".join(f"python train.py --config conf/{name}.yaml" for name in configs)
    assert rows_in(script('config["workers"]'), command, **configs) == list(range(2, 101, 2))


@pytest.mark.parametrize("path", ["../outside.yaml", "conf", "missing.yaml", "conf/broken.yaml", "conf/list.yaml"])
def test_a_config_that_cannot_be_read_is_none(path: str) -> None:
    code = script('config["workers"]')
    command = f"python train.py --config {path}"
    assert rows_in(code, command, broken="workers: [", list="- 1\n- 2\n") == [1]  # by the image alone


HYDRA = """
import hydra
from torch.utils.data import DataLoader
from scans import Scans

@hydra.main(config_path="conf", config_name="some", version_base=None)
def main(config):
    for scan in DataLoader(Scans(), batch_size=64, num_workers=config.workers):
        print(scan)

main()
"""


@pytest.mark.parametrize(
    ("options", "is_sure"),
    [
        ("", True),
        ("--config-name=some", True),
        ("-cp conf", True),
        ("workers=2", True),
        ("workers=$N", False),
        ("--config-name $EXPERIMENT", False),
        ("--config-path=/etc/fit", False),
        ("--config-dir more --config-name extra", False),
    ],
)
def test_what_hydra_reads_instead_is_known_or_not(options: str, is_sure: bool) -> None:
    files = {
        "train.py": HYDRA,
        "conf/some.yaml": "workers: 4\n",
        "run.sh": f"docker run -v $PWD:/work {IMAGE} python train.py {options}\n",
    }
    found = [each.message for each in lint_texts(files, "DLL701")]
    assert any("train.py, which it runs, starts DataLoader workers" in message for message in found) is is_sure


@pytest.mark.parametrize("config", ["/data/mine.yaml", "conf/$EXPERIMENT.yaml", '"$1"'])
def test_a_config_that_nobody_sees_leaves_the_workers_open(config: str) -> None:
    code = script('config["workers"]', option='default="conf/some.yaml"')
    command = f"docker run -v $PWD:/work {IMAGE} python train.py --config {config}\n"
    files = {"train.py": code, "conf/some.yaml": "workers: 4\n", "run.sh": command}
    assert all("starts DataLoader workers" not in each.message for each in lint_texts(files, "DLL701"))


HYDRA_TRAIN = """
import hydra
import pytorch_lightning as pl
from hydra.utils import instantiate


@hydra.main(config_path="conf", config_name="config", version_base=None)
def main(cfg):
    pl.Trainer().fit(None, datamodule=instantiate(cfg.data))


if __name__ == "__main__":
    main()
"""
SCANS = """
import pytorch_lightning as pl
from torch.utils.data import DataLoader
from torchvision.datasets import FakeData


class Scans(pl.LightningDataModule):
    def __init__(self, num_workers=4):
        super().__init__()
        self.num_workers = num_workers

    def train_dataloader(self):
        return DataLoader(FakeData(), batch_size=64, num_workers=self.num_workers)
"""
GROUPS = {
    "conf/config.yaml": "defaults:\n  - data: whole\n  - optional trainer: null\n  - _self_\n",
    "conf/data/whole.yaml": "defaults:\n  - base\n_target_: scans.Scans\n",
    "conf/data/base.yaml": "num_workers: 0\n",
    "conf/data/many.yaml": "_target_: scans.Scans\nnum_workers: 8\n",
    "conf/data/few.yaml": "_target_: scans.Scans\nnum_workers: 0\n",
}


@pytest.mark.parametrize(
    ("words", "files", "is_told_none"),
    [
        ("", {}, True),
        ("data=few", {}, True),
        ("data=many", {}, False),
        ("data.num_workers=8", {}, False),
        ("data=elsewhere", {}, False),
        ("", {"conf/data/base.yaml": "num_workers: ${oc.env:WORKERS}\n"}, False),
        ("", {"conf/config.yaml": "defaults:\n  - override /data: many\n"}, False),
        ("", {"conf/config.yaml": "defaults:\n  - data@train: many\n"}, False),
        ("--config-name=other", {"conf/other.yaml": "defaults: [{data: many}]\n"}, False),
        ("--config-name=other", {"conf/other.yaml": "defaults: [{data: few}]\n"}, True),
        ("--config-name=other", {}, False),
    ],
)
def test_groups_that_hydra_puts_together(words: str, files: dict[str, str], is_told_none: bool) -> None:
    project = {
        "compose.yaml": f"services:\n  fit:\n    build: .\n    command: python train.py {words}\n    volumes: [.:/w]\n",
        "Dockerfile": "FROM pytorch/pytorch:2.8.0-cuda12.9-cudnn9-runtime\nWORKDIR /w\n",
        "train.py": HYDRA_TRAIN,
        "scans.py": SCANS,
        **GROUPS,
        **files,
    }
    assert ([each.code for each in lint_texts(project, "DLL701")] == []) is is_told_none
