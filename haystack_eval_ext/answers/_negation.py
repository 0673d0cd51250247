# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a text denies, excludes or leaves open, by words whose place is clear: no grammar of any language."""

from __future__ import annotations

import re
from functools import cache

#: Stands for what was taken out. A symbol and no punctuation, so that no run of words reaches across it.
GAP = " ¬ "

# Words that deny what follows. Bare "no" and Italian "mai" are left out: Portuguese "no Brasil", German "5. Mai".
_WORDS = (
    "not|cannot|can['’]?t|[a-z]+n['’]t|never|neither|nor|no longer|nicht|keine?[nmrs]?|nie|niemals|n['’]est|"
    "jamais|niet|geen|nooit|inte|não|nunca|nie jest|no (?:es|son|se|puede\\w*|está\\w*|fue|hay)|"
    "ikke|ikkje|aldrig|aldri|hverken|varken|(?:ei|eivät) ole|ei ollut|není|nejsou|nebyl[aoi]?|nikoliv?|nem|nu este|"
    "не|никогда|ніколи|δεν|όχι|ليس|ليست|ليسوا|لم|لن|לא|אינו|אינה|bukan|bukanlah|tidak|không phải|"
    # In capitals these are short for something: "NE Lincoln". French "ne" alone denies nothing ("ne ... que").
    r"(?-i:[Nn]e)(?:[ \t]+[^\s,;:.!?…]+){0,3}?[ \t]+(?:pas|plus|jamais|point)|(?-i:[Pp]as)|"
    r"(?-i:[Nn]on)(?!-|[ \t]+(?:profit|fiction|stop|smok|resident|native|member|standard|commercial|government|grata))"
)
# "The novel Never Let Me Go": within a sentence a negation in title case is part of a name.
_NAME = r"(?-i:(?<=[a-zß-ÿ,;:][ \t])[A-Z][a-z]+[ \t]+[A-Z])"
# "not later than the 5th", "may not exceed 25 days" and "not only Paris" deny nothing of what they name.
_LIMITS = (
    "than|exceeds?|dépass\\w*|before|until|only|just|später|mehr als|nur|vor|plus (?:de|que|tard)|seulement|solo|sólo|"
    "más (?:de|que)|meer dan|alleen|apenas|mais (?:de|que)|bare|bara|kun|endast|mere|mer|mindre|senere|"
    "senare|før|före|tylko|więcej|mniej|później|jen|více|více|později|только|более|больше|менее|меньше|позднее|позже|раньше|лише|тільки|більше|"
    "менше|пізніше|μόνο|περισσότερ\\w+|αργότερα|πριν|فقط|أكثر|أقل|רק|יותר|hanya|lebih|kurang|chỉ|csak|több"
)
# Words that leave out what follows, or say that it is over.
_WITHOUT = (
    "without|except|except for|excluding|apart from|(?<!none )(?<!no )other than|"
    "(?:all|any|every)(?:one|body|thing)? but|used to be(?! called| known| named)|"
    "außer|ohne|sauf|excepté|hormis|sans|excepto|salvo|sin|exceto|sem|tranne|eccetto|"
    "senza|behalve|zonder|undtagen|bortset fra|uden|unntatt|uten|utom|paitsi|ilman|oprócz|"
    "bez|kromě|кроме|без|крім|εκτός από|χωρίς|باستثناء|بدون|ما عدا|kecuali|tanpa"
)
_DOUBT = (
    "(?:a |any )?doubts?|a shadow|question|(?:jeden )?Zweifel|(?:aucun )?doute|(?:lugar a )?dudas?|dúvidas?|"
    "(?:alcun )?dubbio|twijfel|tvivl|tvil|epäilystä|wątpienia|pochyby|сомнени[яй]|сумніву|αμφιβολία|شك|ragu"
)
# Words that deny or leave out what stands before them, and those before it by which they do not.
_BEHIND = (
    "değil(?:dir|di)?(?! mi)|hariç|dışında|नहीं|(?:को )?छोड़कर|के अलावा|के सिवा|নয়|نیست|excluded|excepted|ausgenommen|"
    "lukuun ottamatta|(?:이|가) 아니\\w*|제외\\w*"
)
_ONLY = "sadece|yalnız(?:ca)?|केवल|सिर्फ|শুধু|فقط"
# Words for wrong and no, as people write them to a statement.
_FALSE = (
    "wrong|false|incorrect|untrue|falsch|inkorrekt|faux|fausse|incorrecte?|incorrecto|falso|errado|incorreto|errato|"
    "sbagliato|onjuist|onwaar|fout|forkert|feil|fel|falskt?|usant|väärin|fałsz|błędne|niepoprawne|špatně|nepravda|"
    "неверно|неправильно|ложь|неправда|yanlış(?:tır)?|λάθος|خطأ|गलत|間違い|誤り|不正解|错误|錯誤|틀림|거짓|salah"
)
_NO = (
    "no|nope|not|nein|non|não|nao|nee|nej|nei|ei|nie|ne|нет|ні|hayır|όχι|لا|नहीं|いいえ|否|不是|아니요|아니오|"
    "tidak|bukan"
)
_IS = "is|was|are|were|ist|war|est|était|es|era|é|è|er|var|är|on|oli|jest|je|είναι"
_ANSWER = "answer|Antwort|réponse|respuesta|resposta|risposta|antwoord|svar|ответ|है|हैं"
# Between them stand alternatives, of which none is said. Left out: "o" (Portuguese "the") and Dutch "of".
_OR = "(?<!en )or|oder|ou|oppure|o bien|eller|tai|vai|lub|albo|nebo|или|або|чи|veya|ya da|ή|أو|या|atau|hoặc|또는|혹은"
_NO_CHOICE = (
    "not|so|more|less|later|earlier|above|below|older|younger|higher|lower|fewer|better|at least|rather|nicht|mehr|"
    "weniger|später|älter|höher|vielmehr|besser|plutôt|plus|moins|non|más|mais|mer|mere|flere|fler|senere|więcej|более|больше"
)
# Bounds and ranges name a number and mean others. "No more than 5" and "at least 5" are limits, as rules have them.
_BEYOND = (
    "(?:more|less|fewer|greater|higher|lower) than|(?:mehr|weniger) als|(?:plus|moins) d[e’']|(?:más|menos|mais) de|"
    "(?:più|meno) di|(?:meer|minder) dan|(?:mere|mer|flere|fler|mindre|färre) (?:end|enn|än)|(?:enemmän|vähemmän) kuin|"
    "(?:więcej|mniej) niż|(?:více|méně) než|(?:более|больше|менее|меньше)(?: чем)?|(?:більше|менше)(?: ніж)?|"
    "(?:περισσότερ|λιγότερ)\\w+ από|(?:أكثر|أقل) من|(?:lebih|kurang) dari|超过|超過|多于|少于"
)
_BETWEEN = "between|zwischen|entre|tra|fra|tussen|mellan|mellem|mellom|między|mezi|между|між|μεταξύ|بين|antara"
_AND = "and|und|et|y|e|en|och|og|a|i|и|і|та|και|و|dan"
_NOT_BEYOND = "no|not|nicht|pas|non|não|niet|ikke|inte|nie|ne|не|tidak"
# What stands against the denied words: "not Lyon but Paris".
_BUT = "but|sondern|mais|sino|mas|maar|utan|bensì|ma|а|але|lecz|ale|nýbrž|αλλά|بل|אלא|melainkan|tetapi|mà"
_WORD = r"(?![-–—][ \t])(?:[^\s,;:.!?…،؛؟।()]|[.,:](?=\d))+"
_DENIED = 3


def _applied(rule: re.Pattern[str], text: str) -> str:
    """A gap for what the rule finds. The group `kept` makes it no case of the rule; the group `word` stays."""
    return rule.sub(_gap, text)


def _gap(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return match[0] if groups.get("kept") else (groups.get("word") or "") + GAP


def _whole(words: str, unless: str = "$") -> str:
    return rf"(?<![\w'’])(?!{unless})(?:{words})(?![\w'’])"


@cache
def _rules() -> tuple[re.Pattern[str], ...]:
    after = rf"(?:[ \t]+(?!(?:{_BUT})\b){_WORD}){{0,{_DENIED}}}"
    choice = rf"(?-i:{_OR})(?=[ \t])(?![ \t]+(?:{_NO_CHOICE})\b)"
    limited = rf"(?:[ \t]+{_WORD}){{0,2}}?[ \t]+(?:{_LIMITS})\b"
    ends = r"[ \t]*(?:[.,;!?…)।،。]|$)"
    false = rf"(?:(?:the|die)[ \t]+)?{_whole(_FALSE)}(?:[ \t]+(?:{_ANSWER}))?"
    number = r"[ \t]*\W?\d[\d.,]*"
    patterns = (
        # Called wrong: "Paris is wrong", "False: Paris", "Paris? No".
        rf"(?<!\S)(?:{_WORD}[ \t]+){{0,2}}{_WORD}(?=[ \t]*[:–—(-]?[ \t]*(?:(?:{_IS})[ \t]+)?{false}{ends})",
        rf"(?P<word>{false}:)[ \t]*{_WORD}{after}",
        rf"(?:^|(?<=[.!?;？؟\n]))[^.!?;？؟\n]+[?？؟](?=\s*{_whole(f'{_NO}|{_FALSE}')})",
        # Denied: "not Paris", "without Paris".
        rf"{_whole(_WORDS, _NAME)}(?!{limited}){after}",
        rf"{_whole(_WITHOUT, _NAME)}(?![ \t]+(?:{_DOUBT})\b){after}",
        rf"(?<!\S)(?P<kept>(?:{_ONLY})[ \t]+)?(?:{_WORD}[ \t]+){{1,2}}(?:{_BEHIND})(?![\w'’])",
        # Left open: "Paris or Lyon", "パリまたはリヨン".
        rf"(?:(?<!\S){_WORD},[ \t]+){{0,4}}(?<!\S){_WORD},?[ \t]+{choice}{after}",
        r"[^\s、。，]{1,12}(?:または|もしくは|あるいは|或者|或(?![许許然]))[^\s、。，]{1,12}",
        # Bounds and ranges of numbers; four digits may be years, and 2024-01-02 is a date.
        rf"(?P<kept>(?<!\w)(?:{_NOT_BEYOND})[ \t]+)?(?<!\w)(?:{_BEYOND}){number}",
        rf"{_whole(_BETWEEN)}{number}\S*[ \t]+(?:{_AND}) ?{number}",
        r"(?<![\w.,/:–-])\d{1,3}[ \t]?[–-][ \t]?\d{1,3}(?![\d.,]*[–/:-]|\d)",
        r"(?<![\d.,])\d[\d.,]*[^\W\d_]?(?:未満|未满|を超え|[ ]?초과|[ ]?미만)",
        # Scripts without spaces, and Korean, where most words of denial come behind.
        r"[^\s、。，,.「」はがもを]{1,30}(?:では|じゃ)(?:ない|なく|なかった|ありません)",
        r"(?:不是|并非|並非)[^\s，,。；;、而]{1,12}",
        r"ไม่ใช่\S{1,12}",
        r"[^\s、。，,.「」はがも]{1,30}(?:以外|を除)",
        r"(?<!\S)\S{1,40} (?:아니|아닙|아닌)\w*",
    )
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


def affirmed(text: str, reference: str = "") -> str:
    """
    Take out of a text what it denies, excludes, calls wrong or leaves open, as far as words with a clear place tell.

    A negation takes out up to three words after it in the same clause, or two before it where its language has it so.

    ```python
    from haystack_eval_ext.answers._negation import affirmed

    print(affirmed("It is not Lyon but Paris."), affirmed("首都はパリではありません。"), affirmed("Not only Paris"))
    # It is  ¬  but Paris. 首都は ¬ 。 Not only Paris
    ```

    :param text: Any text.
    :param reference: What is looked for in the text. A rule that finds something in it is not applied to the text: a
        reference with a denial of its own is compared with the denials of the text.
    :returns: The text with a gap for each finding.
    """
    for rule in _rules():
        found = _applied(rule, text)
        if found != text and _applied(rule, reference) == reference:
            text = found
    return text
