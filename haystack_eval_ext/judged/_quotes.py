# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Quotes that a judge gives as evidence: read by the id of their context, and looked up in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any

from haystack_eval_ext._text import normalize, words
from haystack_eval_ext.judged._failures import ReplyError
from haystack_eval_ext.judged._forms import Form
from haystack_eval_ext.judged._prompts import sendable

# Apostrophes are one; soft hyphens and other signs that nobody sees are none.
_ALIKE = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201b\u02bc\u2032`\u00b4", "'") | dict.fromkeys("\u00ad\u200b\u2060\ufeff")
)
_AROUND = " \t\r\n.!\"'`*"


class Passage:
    """A text in which quotes are looked up, by its words: case, white space, punctuation and Unicode form are free."""

    def __init__(self, text: str) -> None:
        """
        Take a text apart.

        :param text: The text.
        """
        self._words = _joined(text)

    def has(self, quote: str) -> bool:
        """
        Tell whether a quote stands in the text.

        :param quote: What the judge quoted.
        :returns: True if its words, at least one, stand there side by side.
        """
        wanted = _joined(quote)
        return len(wanted) > 1 and wanted in self._words


def quotes_form(name: str, contexts: Mapping[str, str], stock_name: str) -> Form[dict[str, list[str]]]:
    """
    The form of a list of quotes for each context.

    The reading has the ids that the reply answers readably; others are left to be asked for again. Blank quotes are
    none. One list without ids, as Haystack's own evaluator asks for it, is read as well: each quote belongs to the
    contexts that have it; to the first, where it will not be found, if none has it.

    :param name: Under which key the reply has them.
    :param contexts: The contexts by id.
    :param stock_name: The key of the other form.
    :returns: The form; its reading has at least one id.
    """
    # "1" is understood as "c1".
    places = {_plain(one).lstrip(ascii_lowercase): one for one in contexts} | {_plain(one): one for one in contexts}

    def read(value: Any) -> dict[str, list[str]]:
        if not isinstance(value, dict):
            msg = "it was no object"
            raise ReplyError(msg)
        given = value.get(name, value.get(stock_name, value))
        if not isinstance(given, dict):
            return _placed(_texts(given), contexts)
        found: dict[str, list[str]] = {}
        doubtful: set[str] = set()
        fault = ReplyError("it had no list for any of the ids asked about")
        for key, listed in given.items():
            one = places.get(_plain(key))
            if one is None:
                continue
            try:
                texts = _texts(listed)
            except ReplyError as error:
                fault = error
                doubtful.add(one)
                continue
            if found.setdefault(one, texts) != texts:
                doubtful.add(one)
        clear = {one: found[one] for one in contexts if one in found and one not in doubtful}
        if not clear:
            raise fault
        return clear

    texts_schema = {"type": "array", "items": {"type": "string"}}
    return Form("quotes", _object({name: _object(dict.fromkeys(contexts, texts_schema))}), read)


def located(quotes: Sequence[str], contexts: Mapping[str, str]) -> dict[str, list[str]]:
    """
    Find out which contexts have each quote.

    :param quotes: The quotes.
    :param contexts: The contexts by id.
    :returns: For each id the quotes that stand in that context.
    """
    passages = {one: Passage(text) for one, text in contexts.items()}
    return {one: [quote for quote in quotes if passage.has(quote)] for one, passage in passages.items()}


def _placed(quotes: list[str], contexts: Mapping[str, str]) -> dict[str, list[str]]:
    found = located(quotes, contexts)
    nowhere = [quote for quote in quotes if not any(quote in texts for texts in found.values())]
    found[next(iter(contexts))].extend(nowhere)
    return found


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        msg = "sentences were not given as a list of texts, [] for none"
        raise ReplyError(msg)
    return [text.strip() for text in value if text.strip()]


def _plain(name: str) -> str:
    return name.strip(_AROUND).casefold()


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _joined(text: str) -> str:
    # What services refuse was replaced before it was sent: the quote has the replacement.
    parts = words(normalize(sendable(text).translate(_ALIKE)))
    return "\n".join(["", *parts, ""])
