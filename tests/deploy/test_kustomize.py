"""Kustomize: a manifest is judged as the overlays of its project render it."""

from __future__ import annotations

from pathlib import Path

import pytest
from plans import plan_of

from dllint.deploy.workload import FlawKind, ShmSource, Workload

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: fit, labels: {app: x}}
spec:
  template:
    spec:
      containers:
        - name: fit
          image: trainer:1
          resources: {limits: {memory: 4Gi}}
"""
VOLUME = "[{name: dshm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}]"
MOUNT = "[{name: dshm, mountPath: /dev/shm}]"
SPEC = f"{{template: {{spec: {{volumes: {VOLUME}, containers: [{{name: fit, volumeMounts: {MOUNT}}}]}}}}}}"
MERGE = f"{{apiVersion: batch/v1, kind: Job, metadata: {{name: fit}}, spec: {SPEC}}}"
POINTERS = f"""\
- {{op: add, path: /spec/template/spec/volumes, value: {VOLUME}}}
- {{op: add, path: /spec/template/spec/containers/0/volumeMounts, value: {MOUNT}}}
"""


def overlay(tmp_path: Path, **files: str) -> list[Workload]:
    """The workloads of a job with the overlays that are given, as `name="kustomization"`, and files `name_yaml`."""
    paths = {"base/job.yaml": JOB, "base/kustomization.yaml": "resources: [job.yaml]\n"}
    for name, text in files.items():
        if name.endswith("_yaml"):
            paths[name.replace("_yaml", ".yaml")] = text
        else:
            paths[f"overlays/{name}/kustomization.yaml"] = text
    return plan_of(tmp_path, paths).workloads


BASE = "resources: [../../base]\n"


@pytest.mark.parametrize(
    "patch",
    [
        "patches: [{path: ../../patch.yaml}]\n",
        "patches: [{path: ../../patch.yaml, target: {kind: Job, name: f.*}}]\n",
        "patchesStrategicMerge: [../../patch.yaml]\n",
        "patchesJson6902: [{target: {kind: Job, name: fit}, path: ../../pointers.yaml}]\n",
        f"patchesStrategicMerge:\n  - |-\n    {MERGE}\n",
        "patches:\n  - target: {kind: Job}\n    patch: |\n" + "".join(f"      {x}\n" for x in POINTERS.splitlines()),
        "components: [../../component]\n",
    ],
)
def test_overlay_brings_memory(tmp_path: Path, patch: str) -> None:
    component = tmp_path / "component" / "kustomization.yaml"
    component.parent.mkdir()
    component.write_text("kind: Component\npatches: [{path: ../patch.yaml}]\n")
    (found,) = overlay(tmp_path, gpu=BASE + patch, patch_yaml=MERGE, pointers_yaml=POINTERS)

    assert found.shm.source is ShmSource.MEMORY
    assert found.at.path.endswith("base/job.yaml")
    assert found.at.row == 8
    assert found.image is not None
    assert found.image.value == "trainer:1"


def test_one_overlay_of_two_brings_none(tmp_path: Path) -> None:
    (found,) = overlay(
        tmp_path, dev=BASE, prod=BASE + "patches: [{path: ../../patch.yaml}]\n", patch_yaml=MERGE
    )  # fmt: skip

    assert found.shm.source is ShmSource.DEFAULT
    assert [place.location.path.endswith("overlays/dev/kustomization.yaml") for place in found.related] == [True]


def test_volume_without_mount(tmp_path: Path) -> None:
    only_volume = POINTERS.splitlines()[0]
    (found,) = overlay(
        tmp_path, gpu=BASE + "patches: [{target: {kind: Job}, path: ../../patch.yaml}]\n", patch_yaml=only_volume
    )

    assert [flaw.kind for flaw in found.flaws] == [FlawKind.NOT_EFFECTIVE]


def test_a_patch_for_another_object_changes_nothing(tmp_path: Path) -> None:
    (found,) = overlay(
        tmp_path,
        gpu=BASE + "patches: [{path: ../../patch.yaml, target: {kind: Deployment}}, {path: ../../other.yaml}]\n",
        patch_yaml=MERGE,
        other_yaml=MERGE.replace("name: fit}, spec", "name: other}, spec"),
    )

    assert found.shm.source is ShmSource.DEFAULT


def test_lists_of_unknown_kinds_are_replaced(tmp_path: Path) -> None:
    files = {
        "job.yaml": JOB.replace("batch/v1", "kubeflow.org/v1"),
        "kustomization.yaml": "resources: [job.yaml]\npatches: [{path: patch.yaml}]\n",
        "patch.yaml": MERGE.replace("batch/v1", "kubeflow.org/v1"),
    }

    assert not plan_of(tmp_path, files).workloads


def test_removal_and_images(tmp_path: Path) -> None:
    remove = "- {op: remove, path: /spec/template/spec/containers/0/resources/limits/memory}"
    (found,) = overlay(
        tmp_path,
        gpu=BASE
        + "images: [{name: trainer, newName: pytorch/pytorch, newTag: 2.4.0}]\n"
        + "patches: [{target: {name: fit}, path: ../../patch.yaml}]\n",
        patch_yaml=remove,
    )

    assert found.memory_limit is None
    assert found.image is not None
    assert found.image.value == "pytorch/pytorch:2.4.0"


def test_kustomizations_that_include_each_other_end(tmp_path: Path) -> None:
    files = {
        "a/kustomization.yaml": "resources: [../b]\n",
        "b/kustomization.yaml": "resources: [../a, ../a/job.yaml]\n",
    }

    assert len(plan_of(tmp_path, {**files, "a/job.yaml": JOB}).workloads) == 1


def test_patterns_that_would_take_for_ever(tmp_path: Path) -> None:
    files = {
        "pod.yaml": JOB.replace("name: fit, labels", "name: " + "a" * 60 + "b, labels"),
        "kustomization.yaml": "resources: [pod.yaml]\npatches: [{target: {name: '(a+)+$'}, patch: '{a: b}'}]\n",
    }

    assert len(plan_of(tmp_path, files).workloads) == 1


def test_folders_that_are_included_over_and_over(tmp_path: Path) -> None:
    files = {f"{n}/kustomization.yaml": f"resources: [../{n + 1}, ../{n + 1}/../{n + 1}]\n" for n in range(20)}
    files |= {"20/kustomization.yaml": "resources: [job.yaml]\n", "20/job.yaml": JOB}

    assert len(plan_of(tmp_path, files).workloads) == 1
