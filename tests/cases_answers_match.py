# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of the verdict without a judge: right answers that must match, wrong ones that must not."""

from __future__ import annotations

from cases import Golden
from cases_answers import AnswerCase, answers
from cases_answers_lexical import GENERATED, MESSAGES, ONE_WAY
from haystack_eval_ext import AnswerMatchEvaluator

# Reference and answer.
RIGHT = [
    ("Paris", "The capital of France is the city of Paris, as the first document says."),
    ("5 March 2024", "It is due on March 5th, 2024."),
    ("red, green and blue", "blue, green, and red"),
    ("Maria Garcia", "Garcia, Maria"),
    ("the Gospel of Luke", "Gospel of Luke"),
    ("1500 euros", "1,500 euros a year"),
    ("20%", "It is 20 %."),
    ("12,5 Prozent", "12.5 Prozent"),
    ("翌月5日", "期限は翌月5日です。"),
    ("翌月5日", "翌月の5日です。"),
    ("部門責任者", "部門責任者"),
    ("東京", "答えは東京です。"),
    ("서울", "수도는 서울 입니다."),
    # What is denied is something else, or nothing is.
    ("25 days", "Employees get 25 days, not 30."),
    ("25 days", "They may not exceed 25 days."),
    ("5 March", "The due date is not later than 5 March."),
    ("Paris", "It is not Lyon but Paris."),
    ("Paris", "Not only Paris."),
    ("Paris", "No, it is Paris."),
    ("東京", "大阪ではなく東京です。"),
    ("Berlin", "Die Hauptstadt ist nicht Bonn, sondern Berlin."),
    ("5. Mai 2024", "Am 5. Mai 2024."),
    ("Brasil", "Fica no Brasil."),
    # Words that look like a negation: short for something, before a noun, in a title; French "ne ... que".
    ("Lincoln", "It lies in NE Lincoln."),
    ("Mozilla", "The non profit Mozilla makes it."),
    ("Mozilla", "The non-profit Mozilla makes it."),
    ("Let Me Go", "The novel Never Let Me Go is by Ishiguro."),
    ("5 jours", "Ce ne sont que 5 jours."),
    ("25 jours", "Il ne faut jamais dépasser 25 jours."),
    # The reference denies, too.
    ("may not carry over", "You may not carry over leave."),
    ("Not applicable", "Not applicable."),
    ("No later than 5 March", "no later than 5 March"),
    ("red, green or blue", "red, green or blue"),
    ("Without a Trace", "Without a Trace"),
    ("No", "Is it allowed? No."),
    ("false", "The statement is false."),
    ("from 5 to 10", "from 5 to 10"),
    ("5-10 days", "5–10 days"),
    # The word denies another one, or nothing.
    ("Paris", "Without doubt Paris."),
    ("Paris", "None other than Paris."),
    ("Paris", "Lyon is wrong, it is Paris."),
    ("Paris", "Is it Lyon? No, it is Paris."),
    ("Москва", "Столица не Киев, а Москва."),
    ("Москва", "Не только Москва."),
    ("Ankara", "İstanbul değil, Ankara."),
    ("Ankara", "Ankara, değil mi?"),
    ("दिल्ली", "मुंबई नहीं, दिल्ली"),
    ("Oslo", "Det er ikke Bergen, men Oslo."),
    ("القاهرة", "ليست الإسكندرية، بل القاهرة"),
    ("Jakarta", "Bukan Bandung, melainkan Jakarta."),
    ("5", "No more than 5."),
    ("5", "At least 5."),
    ("5", "5 or so"),
    ("1861", "It lasted from 1861 to 1865."),
    # Written in another way.
    ("서울", "서울입니다"),
    ("서울", "수도는 서울이에요."),
    ("10 percent", "10%"),
    ("20%", "20"),
    ("2,500,000", "2.5 million"),
    ("2,5 Millionen", "2.500.000"),
    ("5 млн", "5 000 000"),
    ("$5 million", "5,000,000 dollars"),
    ("1500 euros", "€1,500"),
    ("$5", "It costs 5."),
    ("¥500", "500円"),
    ("café", "cafe"),
    ("Beyonce", "Beyoncé"),
    ("C#", "It is C#."),
    ("C++", "Use C++, please."),
    ("1990s", "in den 1990er Jahren"),
]
# Called wrong, left out, over, or one of several.
DENIED = [
    *(
        "Paris is wrong; it is Lyon.",
        "Paris? No.",
        "False: Paris",
        "Paris ist falsch.",
        "Falsch: Paris",
        "Paris (wrong)",
    ),
    *("Paris — неверно", "Paris ? Non.", "Everyone but Paris", "Without Paris", "except Paris", "alle außer Paris"),
    *("sauf Paris", "It used to be Paris", "Ce n'est plus Paris", "Es ist nicht mehr Paris", "I think Paris or Lyon"),
    *("Paris oder Lyon", "Paris, Lyon or Nice"),
]
WRONG = [
    # Another number.
    ("due on the 5th of March", "due on the 9th of March"),
    ("翌月5日", "翌月10日"),
    ("翌月5日", "翌月15日"),
    ("5 days", "15 days"),
    ("1,500 euros", "15,000 euros"),
    ("5", "2.5"),
    ("use the form E2", "use the form E3"),
    ("from 9:00 to 17:00", "from 9:00 to 18:00"),
    ("5 March", "Start 5 April, end 7 March"),
    # The contrary.
    ("Leave may carry over to the next year", "Leave may not carry over to the next year"),
    ("may not carry over", "You may carry over leave."),
    ("approved by the head of department", "not approved by the head of department"),
    ("Paris", "It is not Paris."),
    ("Paris", "It isn’t in Paris."),
    ("東京", "東京ではありません。"),
    ("巴黎", "不是巴黎。"),
    ("서울", "서울 아니다"),
    ("Bonn", "Es ist nicht Bonn."),
    ("Madrid", "No es Madrid."),
    ("Lyon", "Ce n'est pas Lyon."),
    ("Lyon", "Elle ne se trouve pas à Lyon."),
    ("Lyon", "Ils ne vont plus à Lyon."),
    ("Roma", "La capitale non è Roma."),
    ("Paris", "It is NOT Paris."),
    ("Paris", "Not Paris."),
    ("Paris", "It is in Lyon. Never Paris."),
    *(("Paris", answer) for answer in DENIED),
    ("Москва", "Это не Москва"),
    ("القاهرة", "ليست القاهرة"),
    ("दिल्ली", "दिल्ली नहीं"),
    ("Ankara", "Ankara değil"),
    ("Ankara", "Ankara hariç"),
    ("Oslo", "Det er ikke Oslo"),
    ("Stockholm", "Det är inte Stockholm"),
    ("Helsinki", "Se ei ole Helsinki"),
    ("Warszawa", "To nie Warszawa"),
    ("Praha", "není to Praha"),
    ("Київ", "Це не Київ"),
    ("Αθήνα", "Όχι Αθήνα"),
    ("Jakarta", "Bukan Jakarta"),
    ("パリ", "パリ以外です"),
    ("パリ", "パリまたはリヨン"),
    ("巴黎", "巴黎或者里昂"),
    ("서울", "서울 또는 부산"),
    ("서울", "서울 제외"),
    # Another number by what stands beside it.
    ("1920", "19-20"),
    ("900", "9:00"),
    ("1990s", "1990"),
    ("1990", "1990s"),
    ("1990", "1990年代"),
    ("5", "more than 5"),
    ("5", "mehr als 5"),
    ("5", "between 5 and 10"),
    ("5 days", "5-10 days"),
    ("$5", "€5"),
    ("£5", "5 dollars"),
    ("$5", "5%"),
    ("5", "5 thousand"),
    ("5", "5 тысяч"),
    ("5 million", "5"),
    # A sign ends the name.
    ("C", "C#"),
    ("C#", "C"),
    ("C", "C++"),
    # A part is missing.
    ("red, green and blue", "red and green"),
    ("red green blue", "red green"),
    ("Anna and Bob and Carl", "Anna and Carl"),
    ("25 days a year", "25 days"),
    # Another word among many that are the same, or the same letters in other words.
    ("the office opens on Monday", "the office opens on Tuesday"),
    ("25 days a year", "25 hours a year"),
    ("CO2 levels", "H2 levels"),
    ("申請フォームを使う", "メールで申請する"),
    ("日本", "本日は休みです"),
    ("大阪", "大きな阪神"),
    ("art", "a party"),
    # Nothing.
    ("Paris", "I don't know."),
    ("Paris", ""),
    ("", "Paris"),
]


def _golden(name: str, pairs: list[tuple[str, str]], score: float) -> Golden:
    return Golden(name, answers(*(([reference], answer) for reference, answer in pairs)), [score] * len(pairs))


MATCH = AnswerMatchEvaluator
CASES = [
    AnswerCase(
        "AnswerMatch-default",
        MATCH,
        golden=(
            _golden("right", RIGHT, 1.0),
            _golden("wrong", WRONG, 0.0),
            Golden("the best reference", answers((["Lyon", "Paris"], "Paris."), ([""], "")), [1, 1]),
        ),
        broken_laws={"symmetric": ONE_WAY},
    ),
    AnswerCase("AnswerMatch-messages", MATCH, MESSAGES, broken_laws={"symmetric": ONE_WAY}),
    AnswerCase(
        "AnswerMatch-generated-nan",
        MATCH,
        GENERATED,
        parameters={"on_undefined": "nan"},
        broken_laws={"symmetric": ONE_WAY},
    ),
]
