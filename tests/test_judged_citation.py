# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Citations: how they are read, what is asked about them, and the figures of ALCE."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from hypothesis import given, settings
from hypothesis import strategies as st

from cases_judged import rows
from cases_judged_others import CITED, CITED_PRECISION, CITED_RECALL
from haystack_eval_ext import CitationEvaluator, UndefinedScore
from haystack_eval_ext._rows import Source
from haystack_eval_ext.judged._citations import cited_statements
from judged_makers import FAST, asked, following, replying

HASH = "6e72542e7f69ae2e182c1e21408cb5493335c15cc96666fefda13a3d12822d7c"
SOURCES = [Source("doc-1", "a"), Source("doc-2", "b"), Source(HASH, "c"), Source("no-text", None), Source("2, b", "e")]
ENTAILED = "cases_judged_others:entailed"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It leaks.", [("It leaks.", [])]),
        ("It leaks [1].", [("It leaks.", [("1", 0)])]),
        ("It leaks.[1] It is old.[2][3]", [("It leaks.", [("1", 0)]), ("It is old.", [("2", 1), ("3", 2)])]),
        ("It leaks. [1] [2] It is old.", [("It leaks.", [("1", 0), ("2", 1)]), ("It is old.", [])]),
        ("It leaks [1, 2; 3].", [("It leaks.", [("1", 0), ("2", 1), ("3", 2)])]),
        ("It leaks [1-3].", [("It leaks.", [("1", 0), ("2", 1), ("3", 2)])]),
        # Each number of a range is a citation, of no context if there is none; a range that falls or is long is none.
        ("It leaks [3-6].", [("It leaks.", [("3", 2), ("4", None), ("5", 4), ("6", None)])]),
        ("It leaks [2–2].", [("It leaks.", [("2", 1)])]),
        ("It leaks [3-1].", [("It leaks [3-1].", [])]),
        ("It leaks [1-51].", [("It leaks [1-51].", [])]),
        # Brackets around brackets.
        ("It leaks [[1]].", [("It leaks.", [("1", 0)])]),
        ("It leaks. [[1], [2]] It is old.", [("It leaks.", [("1", 0), ("2", 1)]), ("It is old.", [])]),
        ("It leaks [ [1] [doc-2] ].", [("It leaks.", [("1", 0), ("doc-2", 1)])]),
        ("It [[sic]] leaks, list [].", [("It [[sic]] leaks, list [].", [])]),
        ("It [1] leaks [1], says [doc-1].", [("It leaks, says.", [("1", 0)])]),
        ("[2] says that it leaks.", [("says that it leaks.", [("2", 1)])]),
        ("It leaks [doc-2].", [("It leaks.", [("doc-2", 1)])]),
        # Longer than what the sentence rules keep with a sentence.
        (f"It leaks. [{HASH}] It is old.", [("It leaks.", [(HASH, 2)]), ("It is old.", [])]),
        # An id may hold a comma.
        ("It leaks [2, b].", [("It leaks.", [("2, b", 4)])]),
        ("It leaks [^1].", [("It leaks.", [("^1", 0)])]),
        # Nothing there: no such number, no such document, no text.
        ("It leaks [0] [6].", [("It leaks.", [("0", None), ("6", None)])]),
        ("It leaks [doc-9][doc-9].", [("It leaks.", [("doc-9", None)])]),
        ("It leaks [4][no-text].", [("It leaks.", [("4", None), ("no-text", None)])]),
        # No citations: words, intervals, links, more digits than a number of a list has.
        ("It [sic] leaks.", [("It [sic] leaks.", [])]),
        ("It leaks [0.1, 0.3] cm.", [("It leaks [0.1, 0.3] cm.", [])]),
        ("It leaks [1](https://example.org).", [("It leaks [1](https://example.org).", [])]),
        ("Call [0123456789] and wait [1].", [("Call [0123456789] and wait.", [("1", 0)])]),
        ("See [1, note].", [("See.", [("1", 0)])]),
        # Entries of a list; a line of citations alone.
        ("- It leaks [1]\n- It is old [2]", [("It leaks", [("1", 0)]), ("It is old", [("2", 1)])]),
        ("It leaks.\n[1]\n[2]", [("It leaks.", [("1", 0), ("2", 1)])]),
        # Scripts without spaces, and their brackets and digits.
        (
            "漏れている【1】。古い。［２］重い。",
            [("漏れている。", [("1", 0)]), ("古い。", [("２", 1)]), ("重い。", [])],
        ),
        ("", []),
        ("[1]", []),
        ("[", []),
        ("[]", []),
    ],
)
def test_citations_are_read_with_their_sentences(answer: str, expected: list[Any]) -> None:
    found = cited_statements(answer, SOURCES)
    assert [(statement.text, [tuple(entry) for entry in statement.citations]) for statement in found] == expected


def test_a_range_of_fifty_numbers_is_still_read() -> None:
    (statement,) = cited_statements("It leaks [1-50].", SOURCES[:2])
    assert [entry.context for entry in statement.citations] == [0, 1, *[None] * 48]


def test_the_id_of_a_document_comes_before_a_number() -> None:
    sources = [Source("2", "a"), Source("3", "b"), Source("2", "c")]
    assert [entry.context for entry in cited_statements("It [1] leaks [2].", sources)[0].citations] == [0]
    assert [entry.context for entry in cited_statements("It leaks [3].", sources)[0].citations] == [1]


@given(st.text(alphabet="a. [1]2,-\n(【】", max_size=40))
@settings(derandomize=True, deadline=None)
def test_any_answer_can_be_read(answer: str) -> None:
    for statement in cited_statements(answer, SOURCES):
        assert statement.text.strip() == statement.text != ""
        assert len(set(statement.citations)) == len(statement.citations)


def test_a_sentence_is_seen_with_its_own_sources_alone() -> None:
    evaluator = following(CitationEvaluator, ENTAILED)
    evaluator.run(**rows(questions=["q"], contexts=[["a", "b", "c"]], predicted_answers=["A b [1][2]. C [3]. D."]))
    assert asked(evaluator) == [
        {
            "question": "q",
            "answer": "A b [1][2]. C [3]. D.",
            "statements": {
                "i1": {"statement": "A b.", "sources": ["a", "b"]},
                "i2": {"statement": "A b.", "sources": ["a"]},
                "i3": {"statement": "A b.", "sources": ["b"]},
                "i4": {"statement": "C.", "sources": ["c"]},
            },
        }
    ]


def test_a_second_call_asks_only_what_it_must() -> None:
    evaluator = following(CitationEvaluator, ENTAILED)
    # The first sentence: 1 alone does, 2 and 3 alone do not. The second: nothing does. The third has two sources.
    answer = "A [1][2][3]. E [1][2][3]. A b [1][2]."
    result = evaluator.run(questions=["q"], contexts=[["a", "b", "c"]], predicted_answers=[answer])
    second = asked(evaluator)[1]["statements"]
    assert second == {
        "i1": {"statement": "A.", "sources": ["a", "c"]},
        "i2": {"statement": "A.", "sources": ["a", "b"]},
    }
    assert result["usage"]["calls"] == 2
    precisions = [[entry["precision"] for entry in entries] for entries in result["results"][0]["citations"]]
    assert precisions == [[1, 0, 0], [0, 0, 0], [1, 1]]


@pytest.mark.parametrize(
    ("contexts", "answer"),
    [([], "A [1]."), (["a"], "A."), (["a"], "A [2]."), ([" "], "A [1]."), (["a"], ""), (["a"], "[1]")],
)
def test_what_no_context_can_support_costs_no_call(contexts: list[str], answer: str) -> None:
    evaluator = following(CitationEvaluator, ENTAILED)
    inputs = {"questions": ["q"], "contexts": [contexts], "predicted_answers": [answer]}
    assert evaluator.plan(**inputs).calls == 0
    assert evaluator.run(**inputs)["score"] == 0.0
    assert evaluator.chat_generator.asked == []


@pytest.mark.parametrize("votes", [1, 3])
def test_the_plan_is_an_upper_bound(votes: int) -> None:
    evaluator = following(CitationEvaluator, ENTAILED, policy={**FAST, "votes": votes})
    plan = evaluator.plan(**CITED)
    calls = evaluator.run(**CITED)["usage"]["calls"]
    # Four rows have something to ask, three sentences of which cite three contexts; two of these are asked again.
    assert (plan.calls, plan.exact, calls) == (8 * votes, False, 6 * votes)


def test_all_three_figures_are_told_whichever_is_the_score() -> None:
    result = following(CitationEvaluator, ENTAILED).run(**CITED)
    entries = result["results"]
    assert [entry["citation_recall"] for entry in entries] == [*CITED_RECALL[:6], None]
    assert [entry["citation_precision"] for entry in entries] == [*CITED_PRECISION[:4], None, 0.0, None]
    assert result["individual_scores"][:6] == [entry["citation_f1"] for entry in entries[:6]]
    assert result["summary"] == {
        "citation_recall": pytest.approx(sum(CITED_RECALL[:6]) / 6),
        # Without the row that cites nothing.
        "citation_precision": pytest.approx((sum(CITED_PRECISION[:4]) + 0.0) / 5),
        "citation_f1": result["score"] * 7 / 6,
    }
    assert entries[2]["statements"] == ["A b.", "C.", "C.", "B."]
    assert entries[2]["statement_recalls"] == [1, 1, 0, 0]
    assert entries[2]["citations"][2] == [{"cited": "doc-9", "context": None, "precision": 0}]


def test_precision_without_citations_is_undefined_and_says_why() -> None:
    inputs = {"questions": ["q", "q"], "contexts": [["a"], ["a"]], "predicted_answers": ["A.", "A [1]."]}
    result = following(CitationEvaluator, ENTAILED, score_by="precision", on_undefined="nan").run(**inputs)
    assert result["statuses"] == ["undefined", "scored"]
    assert "no citation" in result["errors"][0]
    assert result["results"][0]["citation_recall"] == 0.0
    assert result["score"] == 1.0
    with pytest.raises(UndefinedScore, match="no citation"):
        following(CitationEvaluator, ENTAILED, score_by="precision", on_undefined="raise").run(**inputs)


def test_documents_without_content_keep_their_numbers() -> None:
    documents = [Document(id="x", content=None), Document(id="y", content="a")]
    evaluator = following(CitationEvaluator, ENTAILED)
    inputs = {"questions": ["q"], "predicted_answers": ["A [2]."]}
    # A retriever's output is one question.
    for contexts in (documents, [documents], [[document.to_dict() for document in documents]]):
        assert evaluator.run(contexts=contexts, **inputs)["score"] == 1.0
    assert evaluator.run(contexts=documents, questions=["q"], predicted_answers=["A [y]."])["score"] == 1.0


def test_votes_decide_each_verdict() -> None:
    replies = [{"verdicts": {"i1": 1, "i2": verdict}} for verdict in (0, 1, 0)]
    evaluator = replying(CitationEvaluator, *replies, policy={**FAST, "votes": 3})
    entry = evaluator.run(questions=["q"], contexts=[["a"]], predicted_answers=["A [1]. B [1]."])["results"][0]
    assert entry["statement_recalls"] == [1, 0]
    # Three of three for the first, two of three for the second.
    assert entry["agreement"] == pytest.approx((1 + 2 / 3) / 2)


def chance(statement: str, sources: list[str]) -> int:
    """A verdict without any rule, the same whenever it is asked for; one statement in three is always supported."""
    text = "|".join([statement, *sorted(sources)])
    return int(hashlib.sha256(text.encode()).digest()[0] % 3 > 0)


def by_chance(data: dict[str, Any]) -> object:
    """The same as a judge."""
    return {"verdicts": {name: chance(**item) for name, item in data["statements"].items()}}


def alce(statement: str, cited: list[int], contexts: list[str]) -> tuple[int, list[int]]:
    """Recall of a statement and precision of its citations, word by word as in section 3 of the paper."""
    texts = {number: contexts[number - 1] for number in cited if number <= len(contexts)}
    recall = chance(statement, list(texts.values())) if texts else 0
    precisions = []
    for number in cited:
        others = [text for other, text in texts.items() if other != number]
        alone = number in texts and chance(statement, [texts[number]])
        irrelevant = not alone and bool(others) and chance(statement, others)
        precisions.append(int(number in texts and bool(recall) and not irrelevant))
    return recall, precisions


@given(st.lists(st.lists(st.integers(1, 6), max_size=5, unique=True), min_size=1, max_size=5))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_the_figures_are_those_of_the_paper(cited: list[list[int]]) -> None:
    contexts = ["a", "b", "c", "d"]
    answer = "\n".join(f"Statement {place}" + "".join(f" [{n}]" for n in one) for place, one in enumerate(cited))
    evaluator = following(CitationEvaluator, "test_judged_citation:by_chance")
    entry = evaluator.run(questions=["q"], contexts=[contexts], predicted_answers=[answer])["results"][0]
    expected = [alce(f"Statement {place}", one, contexts) for place, one in enumerate(cited)]
    assert entry["statement_recalls"] == [recall for recall, _ in expected]
    assert [[one["precision"] for one in each] for each in entry["citations"]] == [each for _, each in expected]
    assert entry["citation_recall"] == sum(recall for recall, _ in expected) / len(expected)
    assert 0.0 <= entry["score"] <= 1.0


@pytest.mark.parametrize("score_by", ["f1", "recall", "precision"])
def test_a_perfect_answer_scores_exactly_one(score_by: str) -> None:
    contexts = [f"word{number}" for number in range(1, 8)]
    answer = " ".join(f"Word{number} [{number}]." for number in range(1, 8))
    evaluator = following(CitationEvaluator, ENTAILED, score_by=score_by)
    assert evaluator.run(questions=["q"], contexts=[contexts], predicted_answers=[answer])["score"] == 1.0


def test_bad_parameters_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="score_by must be one of 'f1', 'recall', 'precision'"):
        CitationEvaluator(score_by="accuracy")  # type: ignore[arg-type]
    example = {
        "inputs": {"questions": "q", "predicted_answers": "a", "statements": [{"statement": "a", "sources": []}]},
        "outputs": {"statement_scores": [1, 0]},
    }
    with pytest.raises(ValueError, match="one verdict for each of its 1 entries, but has 2"):
        CitationEvaluator(examples=[example], chat_generator=MockChatGenerator("x"))


def test_the_japanese_prompt_has_the_same_form() -> None:
    prompts = [
        CitationEvaluator(chat_generator=MockChatGenerator("x"), language=language)._prompt for language in ("en", "ja")
    ]
    keys = [[[sorted(part) for part in example] for example in prompt.examples] for prompt in prompts]
    assert keys[0] == keys[1] != []
