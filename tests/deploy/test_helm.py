"""Helm: templates are judged as the chart's own values render them, and what those do not decide is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest
from plans import plan_of, workloads_of

from dllint.deploy.workload import ShmSource, Workload

HEAD = """\
{{- /* the job that trains */ -}}
{{- $name := include "c.name" . }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $name }}
  labels:
    {{- include "c.labels" . | nindent 4 }}
spec:
  template:
    spec:
      containers:
        - name: t
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
"""
IMAGE = "image: {repository: pytorch/pytorch, tag: ''}\n"
CHART = "apiVersion: v2\nname: c\nappVersion: 2.4.0\n"


def chart(tmp_path: Path, template: str, values: str = "", head: str = HEAD, **others: str) -> Workload:
    """The workload of a chart with one job whose template ends like this."""
    files = {"c/Chart.yaml": CHART, "c/values.yaml": IMAGE + values, "c/templates/job.yaml": head + template}
    return workloads_of(tmp_path, files | {f"c/{name}.yaml": text for name, text in others.items()})["t"]


def test_image_out_of_values(tmp_path: Path) -> None:
    found = chart(tmp_path, "")

    assert found.image is not None
    assert (found.image.value, found.image.at.row, found.image.at.column) == ("pytorch/pytorch:2.4.0", 14, 18)
    assert found.shm.source is ShmSource.DEFAULT


BLOCK = """\
          {{- if CONDITION }}
          volumeMounts:
            - name: dshm
              mountPath: /dev/shm
          {{- end }}
      {{- if CONDITION }}
      volumes:
        - name: dshm
          emptyDir:
            medium: Memory
            sizeLimit: {{ .Values.shm.size | quote }}
      {{- end }}
"""


@pytest.mark.parametrize(
    ("condition", "source"),
    [
        (".Values.shm.enabled", ShmSource.DEFAULT),
        (".Values.shm.missing", ShmSource.DEFAULT),
        ("not .Values.shm.enabled", ShmSource.MEMORY),
        (".Values.shm.size", ShmSource.MEMORY),
        ("and .Values.shm.size (or .Values.shm.enabled .Values.shm)", ShmSource.MEMORY),
        ('eq .Values.shm.size "8Gi"', ShmSource.MEMORY),
        ('ne .Values.shm.size "8Gi"', ShmSource.DEFAULT),
        ("$.Values.shm.enabled | default true", ShmSource.MEMORY),
        ('.Capabilities.APIVersions.Has "x"', ShmSource.UNKNOWN),
        ('include "c.wants" .', ShmSource.UNKNOWN),
        (".Values.global.shm", ShmSource.UNKNOWN),
    ],
)
def test_conditions(tmp_path: Path, condition: str, source: ShmSource) -> None:
    found = chart(tmp_path, BLOCK.replace("CONDITION", condition), "shm: {enabled: false, size: 8Gi}\n")

    assert found.shm.source is source
    assert not found.flaws


def test_size_stands_in_the_values(tmp_path: Path) -> None:
    size = chart(tmp_path, BLOCK.replace("CONDITION", "true"), "shm:\n  size: 64Mi\n").shm.size

    assert size is not None
    assert size.value == 64 << 20
    assert (size.at.path.rpartition("/")[2], size.at.row, size.at.column) == ("values.yaml", 3, 9)


def test_other_values_of_the_chart_may_switch_it_on(tmp_path: Path) -> None:
    template = BLOCK.replace("CONDITION", ".Values.shm.enabled")
    others = {"values-prod": "shm: {enabled: true}\n"}
    found = chart(tmp_path, template, "shm: {enabled: false, size: 8Gi}\n", **others)

    assert found.shm.source is ShmSource.UNKNOWN


def test_else_branches(tmp_path: Path) -> None:
    template = """\
          {{- if .Values.a }}
          command: [a]
          {{- else if .Values.b }}
          command: [b, {{ .Values.b }}]
          {{- else }}
          command: [c]
          {{- end }}
"""

    assert chart(tmp_path, template, "a: false\nb: 7\n").start.words == ("b", "7")
    assert chart(tmp_path, template, "b: 0\n").start.words == ("c",)


LISTS = """\
          volumeMounts:
            - name: data
              mountPath: /data
            {{- toYaml .Values.mounts | nindent 12 }}
          resources:
            {{- toYaml .Values.resources | nindent 12 }}
      {{- with .Values.volumes }}
      volumes:
      {{- toYaml . | nindent 6 }}
      {{- end }}
"""


def test_lists_and_mappings_out_of_values(tmp_path: Path) -> None:
    values = """\
mounts: [{name: s, mountPath: /dev/shm}]
volumes:
  - name: s
    emptyDir: {medium: Memory, sizeLimit: 2Gi}
resources: {limits: {memory: 4Gi, nvidia.com/gpu: 1}}
"""
    found = chart(tmp_path, LISTS, values)

    assert found.shm.source is ShmSource.MEMORY
    assert found.memory_limit is not None
    assert found.memory_limit.value == 4 << 30
    assert found.memory_limit.at.path.endswith("values.yaml")
    assert found.gpus


def test_empty_lists_out_of_values(tmp_path: Path) -> None:
    found = chart(tmp_path, LISTS, "mounts: []\nvolumes: []\nresources: {}\n")

    assert found.shm.source is ShmSource.DEFAULT
    assert found.memory_limit is None


UNSEEN_MOUNTS = """\
          volumeMounts:
            {{- include "c.mounts" . | nindent 12 }}
"""
LOOP = """\
          volumeMounts:
          {{- range .Values.all }}
            - name: {{ . }}
              mountPath: {{ .p }}
          {{- end }}
"""
INLINE = """\
          {{- with .Values.global.mounts }}
          volumeMounts: {{ toYaml . | nindent 12 }}
          {{- end }}
"""


@pytest.mark.parametrize(
    "template",
    [
        '          {{- include "c.mounts" . | nindent 10 }}\n',
        UNSEEN_MOUNTS,
        UNSEEN_MOUNTS + "            - {name: d, mountPath: /d}\n",
        INLINE,
        LOOP,
    ],
)
def test_helpers_may_bring_memory(tmp_path: Path, template: str) -> None:
    assert chart(tmp_path, template, "all: [x]\n").shm.source is ShmSource.UNKNOWN


def test_unknown_words_and_limits(tmp_path: Path) -> None:
    template = """\
          args: ["--workers={{ .Values.workers }}", "--x={{ .Release.Name }}", a{{ if .Values.on }}b{{ end }}c]
          resources: {{ include "c.resources" . | nindent 12 }}
"""
    found = chart(tmp_path, template, "workers: 4\n")

    assert found.start.words == ("--workers=4", "--x=", "ac")
    assert found.memory_limit is not None
    assert found.memory_limit.value is None


def test_whole_document_under_a_condition(tmp_path: Path) -> None:
    text = "{{- if .Capabilities.x }}\n" + HEAD + "          volumeMounts: [{name: s, mountPath: /dev/shm}]\n"
    text += "      volumes: [{name: s, emptyDir: {medium: Memory}}]\n{{- end }}\n"

    assert chart(tmp_path, text, head="").shm.source is ShmSource.MEMORY


def test_values_of_the_parent_chart_win(tmp_path: Path) -> None:
    files = {
        "c/Chart.yaml": CHART,
        "c/values.yaml": "sub: {image: {tag: '9'}}\n",
        "c/charts/sub/Chart.yaml": CHART,
        "c/charts/sub/values.yaml": IMAGE,
        "c/charts/sub/templates/job.yaml": HEAD,
    }
    image = workloads_of(tmp_path, files)["t"].image

    assert image is not None
    assert image.text.endswith(":9")


def test_templates_of_other_tools(tmp_path: Path) -> None:
    text = "{% if gpu %}\n" + HEAD.replace(".Values.image", "image").split("\n", 2)[2] + "{% endif %}\n"
    found = workloads_of(tmp_path, {"job.yaml": text})["t"]

    assert found.image is not None
    assert found.image.value is None


@pytest.mark.parametrize("text", ["{{", "{{ end }}{{ else }}", "{{ if }}" * 300, "a: {{ (((((((( }}", "{{ `\n"])
def test_broken_templates_are_silent(tmp_path: Path, text: str) -> None:
    files = {"c/Chart.yaml": CHART, "c/templates/job.yaml": text + "\napiVersion: containers\n"}
    plan = plan_of(tmp_path, files)

    assert not plan.workloads
    assert not list(plan.unreadable())
