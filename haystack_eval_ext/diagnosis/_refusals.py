# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers that decline by their words: a rule for the plain cases, where no judge says whether an answer declines."""

from __future__ import annotations

import re
from functools import cache

from haystack_eval_ext._text import count_words

#: A longer answer says more than that it does not know; in scripts without spaces a character is a word.
LONGEST = 40

# The whole answer is such a word.
_WORDS = (
    "unknown|not known|n/?a|no answer|unanswerable|no idea|unbekannt|keine ahnung|inconnu|desconocido|sconosciuto|"
    "desconhecido|onbekend|不明|未知|不知道|모름"
)
# The answer has such a phrase: who answers cannot, or the documents do not say. "It does not contain nuts" is a fact.
_I = (
    r"\b(?:i|we)(?: am| are|['’]m|['’]re)?,? (?:sorry,? )?(?:but )?(?:(?:i|we)(?: am| are|['’]m|['’]re)? )?(?:really )?"
)
# A text may be what the question is about, as that of a treaty: the documents are "the text" alone, or a given one.
_GIVEN = r"(?:provided|given|above|supplied|available|retrieved)"
_THEM = (
    r"(?:(?:documents?|context|passages?|sources?|information|articles?|excerpts?)(?! of\b)|"
    rf"(?:the|this|these) texts?(?= (?:do|does|did|provided|given|above)\b|\W*$|[.,;!?])|{_GIVEN} texts?)"
)
_CANNOT = r"(?:can ?not|can['’]t|could not|couldn['’]t|unable to|not able to)"
_FIND = r"(?:find|say|tell)\b"
_AT_END = r"(?: (?:you|it|that|this|so|anything|for (?:sure|certain)|with certainty))* *(?:[.,;!?]|$)"
_SAY = r"(?:contain|mention|provide|say|state|specify|include|answer|cover|tell)"
_SAID = r"(?:mentioned|stated|specified|provided|given|found|covered|available|answered)"
_PHRASES = (
    rf"{_I}(?:do not|don['’]t) (?:really )?(?:know|have (?:enough|any|the|sufficient|access))\b",
    rf"{_I}{_CANNOT} (?:\w+ )?(?:answer|determine|help|provide)\b",
    rf"{_I}{_CANNOT} (?:\w+ )?{_FIND}(?:{_AT_END}|[^.!?]{{0,60}}\b(?:answers?|mention|{_THEM})\b)",
    rf"{_I}{_CANNOT} (?:\w+ )?(?:say|tell)(?: you)? (?:what|when|where|who|whether|which|why|how|if)\b",
    rf"\b(?:have|has|is|are|was) (?:no|not enough|insufficient) (?:\w+ )?{_THEM}\b|\bnot enough {_THEM}\b",
    r"\b(?:can ?not|can['’]t) be (?:determined|answered)\b",
    rf"\b{_THEM}\b[^.]{{0,40}}\b(?:do|does|did)(?: not|n['’]t) (?:\w+ )?{_SAY}\b",
    rf"\bnot {_SAID} (?:in|by) (?:\w+ ){{0,2}}{_THEM}\b",
    r"\bweiß (?:ich |es |das )*nicht\b|\b(?:keine|nicht genug|nicht genügend) (?:\w+ )?informationen\b",
    r"\bnicht beantworten\b",
    r"\b(?:kontext|dokumente?n?|texte?n?|quellen?)\b(?! (?:des|der|einer|eines|vo[mn])\b)[^.]{0,40}\b(?:nicht|keine)\b",
    r"\bne sais pas\b|\bpas (?:assez )?d['’]informations?\b|\baucune information\b|\bpeux pas répondre\b",
    r"\bno (?:lo )?sé\b|\bno (?:hay|tengo) (?:suficiente )?información\b|\bno puedo responder\b",
    r"\bnon (?:lo )?so\b|\bnão sei\b|\bnão há informaç|\bweet (?:ik )?(?:het |dat )?niet\b|\bgeen informatie\b",
    r"(?:わか|分か|判)(?:りません|りかねます)|お?答え(?:でき|られ)ません|回答(?:できません|いたしかね)",
    r"(?:情報|記載|記述)(?:が|は|も)?(?:ありません|見つかりません|されていません|不足)|不明です",
    r"无法(?:回答|确定)|無法(?:回答|確定)|不知道|(?:没有|沒有|未)(?:\S{0,4})(?:信息|資訊|提及|提到)",
    r"모르겠|알 수 없|답변(?:할|드릴) 수 없|정보가 (?:없|부족)",
)
# What stands behind such a word may be an answer all the same.
_BUT = (
    r"(?<!sorry )(?<!sorry, )\b(?:but|however|aber|jedoch|mais|cependant|pero|ma|mas|maar)\b"
    r"|(?:です|ます|せん)が|しかし|但是?|하지만"
)


@cache
def _rules() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    flags = re.IGNORECASE
    return re.compile(rf"\W*(?:{_WORDS})\W*", flags), re.compile("|".join(_PHRASES), flags), re.compile(_BUT, flags)


def declines_by_words(answer: str) -> bool:
    """
    Tell whether an answer plainly declines.

    ```python
    from haystack_eval_ext.diagnosis._refusals import declines_by_words

    print(declines_by_words("I'm sorry, I don't know."), declines_by_words("I don't know, but I think it is Paris."))
    # True False
    ```

    :param answer: The answer.
    :returns: True for a short answer with one of the usual phrases in English, German, French, Spanish, Italian,
        Portuguese, Dutch, Japanese, Chinese or Korean, and no "but". False says nothing: it may decline in other words.
    """
    word, phrase, but = _rules()
    if word.fullmatch(answer):
        return True
    return phrase.search(answer) is not None and but.search(answer) is None and count_words(answer) <= LONGEST
