# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Thoughts are not the answer: what a reasoning model wrote before its answer is taken off.

A server that has no parser for a model's reasoning leaves it in the text. It stands at the start, between tags or after
a marker of a channel; or its opening tag is missing, since the chat template wrote it into the prompt. A text that
speaks about such tags is an answer and keeps them.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left

from haystack_eval_ext._scores import list_rows, note

#: Keeps the thoughts of all answers, if set.
KEEP_VARIABLE = "HAYSTACK_EVAL_KEEP_THOUGHTS"
#: What became of thoughts, for messages.
TAKEN_OFF = f"which were taken off. To keep them, set the environment variable {KEEP_VARIABLE}=1."
_NOT_SET = ("", "0", "false", "no", "off")

#: A tag around thoughts; the first group is a slash in a closing one.
THOUGHT_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)\s*>", re.IGNORECASE)

# The channels of gpt-oss: the final one is the answer, all others are not for the user.
_CHANNEL = re.compile(r"(?:<\|start\|>assistant)?<\|channel\|>[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_FINAL = re.compile(r"<\|channel\|>final[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_FINAL_MESSAGE = re.compile(r"(?:<\|end\|>|<\|call\|>)<\|start\|>assistant" + _FINAL.pattern)
_END_OF_MESSAGE = re.compile(r"<\|(?:return|end)\|>\s*\Z")
# What is left of the markers where a server leaves special tokens out.
_BARE_ANALYSIS, _BARE_FINAL = "analysis", "assistantfinal"

_BEFORE_THE_START = " \t\r\n\ufeff\u200b"
_SENTENCE_END = re.compile(r"[.!?…。！？][)\]\"'”’»」』*_]*\s*\Z")
_QUOTES = "`\"'‘“«「『([{"
_GOES_ON = tuple(".,;:!?)]}`\"'’”»」』。、，）")
# So many characters around a tag say whether it is part of a sentence.
_NEAR = 200
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


def keeps_thoughts() -> bool:
    """
    Tell whether the user wants thoughts to be kept.

    :returns: True if the environment variable HAYSTACK_EVAL_KEEP_THOUGHTS is set to anything but 0, false, no or off.
    """
    return os.environ.get(KEEP_VARIABLE, "").strip().lower() not in _NOT_SET


def without_thoughts(text: str) -> str:
    """
    Take off the thoughts at the start of an answer.

    ```python
    from haystack_eval_ext._thoughts import without_thoughts

    print(without_thoughts("<think>42 or 7?</think> It is 7."))
    # It is 7.
    print(without_thoughts("The closing tag is </think>."))
    # The closing tag is </think>.
    ```

    :param text: An answer.
    :returns: What is left: nothing, where thoughts do not end. A text without thoughts is returned as it is.
    """
    if "<" not in text and not text.lstrip(_BEFORE_THE_START).startswith(_BARE_ANALYSIS):
        return text  # without a closer look
    answer = without_channels(text)
    start = _after_blocks(answer)
    return answer[start:].lstrip() if start else answer


def without_their_thoughts(name: str, texts: list[str]) -> list[str]:
    """
    Take off the thoughts before answers, and note how many had some.

    :param name: The socket.
    :param texts: The answers.
    :returns: The answers; the same list where none has thoughts, or all are kept.
    """
    found = {row: answer for row, text in enumerate(texts) if (answer := without_thoughts(text)) is not text}
    if not found:
        return texts
    told = f"{name}: {len(found)} of {len(texts)} answers begin with thoughts ({list_rows(list(found))})"
    if keeps_thoughts():
        note(f"{told}, which are scored as if they were the answer, since {KEEP_VARIABLE} is set.")
        return texts
    note(f"{told}, {TAKEN_OFF}")
    return [found.get(row, text) for row, text in enumerate(texts)]


def without_channels(text: str) -> str:
    """
    Take the final message out of a reply in the form of gpt-oss.

    :param text: A reply.
    :returns: The message, nothing if there is none; a reply in another form as it is.
    """
    start = text.lstrip(_BEFORE_THE_START)
    if _CHANNEL.match(start):
        final = _FINAL.search(start)
        return "" if final is None else _message(start, final.end())
    if start.startswith(_BARE_ANALYSIS):
        before, mark, message = start.partition(_BARE_FINAL)
        return message.lstrip() if mark and before != _BARE_ANALYSIS else text
    # The first marker may have been written by the prompt.
    final = _FINAL_MESSAGE.search(text)
    if final is None or _CHANNEL.search(text, 0, final.start()):
        return text
    return _message(text, final.end())


def _message(text: str, start: int) -> str:
    return _END_OF_MESSAGE.sub("", text[start:]).lstrip()


def _after_blocks(text: str) -> int:
    """Where the answer begins; 0 without thoughts."""
    tags = list(THOUGHT_TAG.finditer(text))
    fences = [fence.start() for fence in _FENCE.finditer(text)] if tags else []
    begin = number = 0
    while number < len(tags):
        tag = tags[number]
        if not tag[1]:
            if text[begin : tag.start()].strip(_BEFORE_THE_START):
                break  # a text about tags: what is closed behind this one was opened
            number = next((after for after in range(number + 1, len(tags)) if tags[after][1]), len(tags))
            begin = tags[number].end() if number < len(tags) else len(text)
        elif _ends_thoughts(text, begin, tag, fences):
            begin = tag.end()
        number += 1
    return begin


def _ends_thoughts(text: str, begin: int, tag: re.Match[str], fences: list[int]) -> bool:
    """
    Whether a closing tag that nothing opened parts thoughts from an answer, or is a word of a sentence.

    Models close their thoughts at the end of a sentence, on a line of its own, or right behind a word. A sentence that
    speaks of a tag goes on behind it, and sets it off by blanks or quotation marks.
    """
    start, end = tag.span()
    before, after = text[max(begin, start - _NEAR) : start], text[end : end + _NEAR]
    visible = before.rstrip()
    if not visible:
        return True
    in_code = (bisect_left(fences, start) - bisect_left(fences, begin)) % 2
    if in_code or before[-1] in _QUOTES or after.startswith(_GOES_ON):
        return False
    answer = after.lstrip()
    gap = after[: len(after) - len(answer)]
    if gap and "\n" not in gap and answer[:1].islower():
        return False
    if _SENTENCE_END.search(visible):
        return True
    last = before[-1]
    if last in "\r\n":
        return visible[-1] not in ":："
    if last.isspace():
        # "so it is 7 </think> It is 7.": the tag stands where a sentence ends. Where more tags come, it speaks of them.
        begins = "\n\n" in gap or answer[:1].isupper() or answer[:1].isdigit()
        return begins and THOUGHT_TAG.search(answer) is None
    # Only letters with a case: Japanese writes "終了タグは</think>です" without blanks.
    return last.isdigit() or last.lower() != last.upper()
