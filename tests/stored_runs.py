# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What `haystack-eval run --out` keeps, as one object."""

import json
from pathlib import Path
from typing import Any

from haystack_eval_ext.runs._strict_json import strict_json
from haystack_eval_ext.runs.run import load_run


def stored(folder: Path | str) -> dict[str, Any]:
    """The manifest, with the scores by metric and row id."""

    def refuse(name: str) -> None:
        msg = f"{name} is no JSON"
        raise AssertionError(msg)

    for file in Path(folder).iterdir():
        for line in [file.read_text("utf-8")] if file.suffix == ".json" else file.read_text("utf-8").splitlines():
            json.loads(line, parse_constant=refuse)
    run = load_run(folder)
    errors = {
        name: {row["id"]: error for row, error in zip(run.rows, metric.errors, strict=True) if error}
        for name, metric in run.metrics.items()
    }
    metrics = {
        metric.name: {
            "score": metric.score,
            "rows": metric.rows,
            "undefined": metric.undefined,
            "failed": metric.failed,
            "left_out": metric.left_out,
            "individual_scores": dict(zip(run.ids, metric.individual_scores, strict=True)),
            "statuses": dict(zip(run.ids, metric.statuses, strict=True)),
        }
        for metric in run.questions.values()
    }
    found = {**run.manifest, "metrics": metrics, "errors": errors}
    whole: dict[str, Any] = json.loads(strict_json(found))  # NaN is null there
    return whole
