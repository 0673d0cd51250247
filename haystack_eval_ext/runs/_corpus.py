# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a RAG pipeline searched, as far as a run can say: fingerprints of files and of documents in memory."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haystack_eval_ext.runs._fingerprints import order_free_hash
from haystack_eval_ext.runs._stores import searched_in_memory

if TYPE_CHECKING:
    from haystack_eval_ext.runs._lines import FilePath
    from haystack_eval_ext.runs.targets import Target


def corpus_of(target: Target, folder: FilePath | None = None) -> dict[str, Any]:
    """
    Describe what was searched.

    :param target: The RAG pipeline, its store filled.
    :param folder: The files that filled it, if they are known.
    :returns: By what was counted, "files" or "documents", their number and their fingerprint; empty where neither can
        be looked through. No names and no texts.
    """
    found: dict[str, Any] = {}
    if folder is not None:
        root = Path(folder)
        files = [path for path in sorted(root.rglob("*")) if path.is_file()]
        parts = [[path.relative_to(root).as_posix(), _hash(path)] for path in files if _shown(path.relative_to(root))]
        found["files"] = {"number": len(parts), "fingerprint": order_free_hash(parts)}
    searched = [] if target.pipeline is None else searched_in_memory(target.pipeline)
    if searched:
        documents = [[each.id, each.content] for found in searched for each in found.store.filter_documents()]
        found["documents"] = {"number": len(documents), "fingerprint": order_free_hash(documents)}
    return found


def _hash(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def _shown(path: Path) -> bool:
    """Whether indexing reads a file: it leaves out what is hidden."""
    return not any(part.startswith(".") for part in path.parts)
