# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Quotes that a judge gives as evidence: read by the id of their context, and looked up in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from haystack_eval_ext._sentences import sentences
from haystack_eval_ext._text import blank, normalize, sendable, words
from haystack_eval_ext.judged._failures import ReplyError
from haystack_eval_ext.judged._forms import Form, object_schema, read_by_id, respelled

# Apostrophes are one; soft hyphens and other signs that nobody sees are none.
_ALIKE = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201b\u02bc\u2032`\u00b4", "'") | dict.fromkeys("\u00ad\u200b\u2060\ufeff")
)
#: Fewer words may stand in any text by chance, unless they are a whole sentence of it.
_FEWEST_WORDS = 3
_FEWEST_CHARACTERS = 4


class Passage:
    """A text in which quotes are looked up, by its words: case, white space, punctuation and Unicode form are free."""

    def __init__(self, text: str) -> None:
        """
        Take a text apart.

        :param text: The text.
        """
        self._words = _joined(text)
        self._sentences = {_joined(text), *map(_joined, sentences(text))}

    def has(self, quote: str) -> bool:
        """
        Tell whether a quote stands in the text.

        :param quote: What the judge quoted.
        :returns: True if its words stand there side by side and are a sentence of the text or, since a word or two
            prove nothing, at least three words; four characters in scripts without spaces.
        """
        wanted = _joined(quote)
        if len(wanted) <= 1 or wanted not in self._words:
            return False
        parts = wanted.split()
        # Only in scripts without spaces are the same two words written together still two.
        unspaced = any(len(words(part * 2)) > 1 for part in parts)
        fewest = _FEWEST_CHARACTERS if unspaced else _FEWEST_WORDS
        return len(parts) >= fewest or wanted in self._sentences


def quotes_form(name: str, contexts: Mapping[str, str], stock_name: str) -> Form[dict[str, list[str]]]:
    """
    The form of a list of quotes for each context.

    The reading has the ids that the reply answers readably; others are left to be asked for again. Blank quotes are
    none, and so is null; a text alone is one quote. One list without ids, as Haystack's own evaluator asks for it, is
    read as well: each quote belongs to the contexts that have it; to the first, where it will not be found, if none has
    it.

    :param name: Under which key the reply has them.
    :param contexts: The contexts by id.
    :param stock_name: The key of the other form.
    :returns: The form; its reading has at least one id.
    """

    def read(value: Any) -> dict[str, list[str]]:
        value = respelled(value, (name, stock_name))
        listed = value.get(name, value.get(stock_name)) if isinstance(value, dict) else None
        if isinstance(listed, list) and not any(isinstance(entry, dict) for entry in listed):
            return _placed(_texts(listed), contexts)
        return read_by_id(value, contexts, (name, stock_name), _texts)

    texts_schema = {"type": "array", "items": {"type": "string"}}
    return Form("quotes", object_schema({name: object_schema(dict.fromkeys(contexts, texts_schema))}), read)


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
    value = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        msg = "sentences were not given as a list of texts, [] for none"
        raise ReplyError(msg)
    return [text.strip() for text in value if not blank(text)]


def _joined(text: str) -> str:
    # What services refuse was replaced before it was sent: the quote has the replacement.
    parts = words(normalize(sendable(text).translate(_ALIKE)))
    return "\n".join(["", *parts, ""])
