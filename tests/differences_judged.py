# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The entries of docs/differences.md for the LLM judges that Haystack has, too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from haystack.dataclasses import ChatMessage

from differences import Difference, built_in, shown
from haystack_eval_ext import FailedRowsError
from judged_replies import SIDES, RowReplies, faithful, faithfulness, llm, make, marker, relevance, relevant

ONE = '{"score": 1}'
TWO = ["a", "b"]


def scores(run: Callable[..., dict[str, Any]], *replies: Any, **parameters: Any) -> Callable[[str], list[str]]:
    """The individual scores of runs with one row each."""

    def one(side: str, reply: Any) -> list[Any]:
        values = run(side, reply, **parameters)["individual_scores"]
        return [value.item() if hasattr(value, "item") else value for value in values]  # numpy's, in stock

    return lambda side: [tried(partial(one, side, reply)) for reply in replies]


def results(*replies: Any) -> Callable[[str], list[str]]:
    """The results of an LLMEvaluator for one row each."""

    def one(side: str, reply: Any) -> str:
        return str(llm(side, reply)["results"])

    return lambda side: [tried(partial(one, side, reply)) for reply in replies]


def tried(call: Callable[[], Any]) -> str:
    try:
        return shown(call)
    except FailedRowsError:
        return FailedRowsError.__name__
    except (LookupError, RuntimeError) as error:
        return built_in(error)


def own(side: str, rows: dict[str, Any], **parameters: Any) -> str:
    """The results of an LLMEvaluator with the input "a"."""
    given = {"instructions": "i", "inputs": [("a", list[str])], "outputs": ["score"], "examples": [], **parameters}
    return tried(lambda: str(make(side, "LLMEvaluator", [ONE], given)[0].run(**rows)["results"]))


def examples_shown(side: str) -> list[str]:
    evaluator, generator = make(side, "FaithfulnessEvaluator", [faithful(["a"], [1])], {"examples": []})
    evaluator.run(questions=[marker(0)], contexts=[["c"]], predicted_answers=["a"])
    prompt = generator.asked[0][0].text or ""
    return ["yes" if "statement_scores" in prompt.split("Examples:")[-1].split(marker(0))[0] else "no"]


def thoughts_shown(side: str) -> list[str]:
    answers = "predicted_answers"
    given = {"instructions": "i", "inputs": [(answers, list[str])], "outputs": ["score"], "examples": []}
    llm_judge, llm_asked = make(side, "LLMEvaluator", [ONE], given)
    judge, asked = make(side, "FaithfulnessEvaluator", [faithful(["a"], [1])], {})
    llm_judge.run(**{answers: ["<think>b?</think>a"]})
    judge.run(questions=[marker(0)], contexts=[["c"]], predicted_answers=["<think>b?</think>a"])
    return ["yes" if "b?" in str(each.asked[0][-1].text) else "no" for each in (llm_asked, asked)]


def meta(side: str) -> list[str]:
    def told(text: str, row: int) -> ChatMessage:
        return ChatMessage.from_assistant(text, meta={"id": row})

    return [str(llm(side, told(ONE, 0), RuntimeError("x"), told(ONE, 2))["meta"])]


def types(side: str) -> list[str]:
    one, two = relevance(side, relevant(["x."])), relevance(side, relevant(["x."]), relevant([]))
    return [type(value).__name__ for value in (one["score"], two["score"], two["individual_scores"][0])]


def several(side: str) -> Any:
    generator: Any = RowReplies([faithful(["a"], [1])])
    generator.generation_kwargs = {"n": 2}
    rows: dict[str, Any] = {"questions": [marker(0)], "contexts": [["c"]], "predicted_answers": ["a"]}
    evaluator = SIDES[side].FaithfulnessEvaluator(chat_generator=generator, progress_bar=False)
    return [float(score) for score in evaluator.run(**rows)["individual_scores"]]


def raised(side: str) -> list[str]:
    try:
        llm(side, ONE, "junk", raise_on_failure=True)
    except (ValueError, FailedRowsError) as error:
        kept = getattr(error, "result", None)
        # A message of json's own on the other side.
        kind = "ValueError" if isinstance(error, ValueError) else type(error).__name__
        return [kind, "nothing" if kept is None else str(kept["results"])]
    return ["nothing", ""]


def outputs(side: str) -> list[str]:
    runs = (llm(side, ONE), faithfulness(side, faithful(["a"], [1])), relevance(side, relevant(["x."])))
    return [", ".join(sorted(run)) for run in runs]


JUDGED_DIFFERENCES: dict[str, Difference] = {
    "Verdicts that are no 0 or 1": Difference(
        scores(faithfulness, *(faithful(TWO, given) for given in ([5, 10], [-1, -1], [1, None]))),
        columns=["5 and 10", "-1 and -1", "1 and null"],
        stock=["[7.5]", "[-1.0]", "TypeError"],
        ours=["[nan]"] * 3,
    ),
    "Fewer or more verdicts than statements": Difference(
        scores(faithfulness, faithful(["a", "b", "c"], [1]), faithful(["a"], [0, 1, 1, 1])),
        columns=["1 for 3", "4 for 1"],
        stock=["[1.0]", "[0.75]"],
        ours=["[nan]"] * 2,
    ),
    "A quoted sentence that is not in the context": Difference(
        scores(relevance, relevant(["The moon is made of cheese."])),
        columns=["scores"],
        stock=["[1]"],
        ours=["[0.0]"],
    ),
    "Relevant sentences that are no list of texts": Difference(
        scores(relevance, relevant("none"), relevant({"a": 1}), relevant([""]), relevant(None)),
        columns=["a text", "an object", "a list with a blank", "null"],
        stock=["[1]", "[1]", "[1]", "TypeError"],
        ours=["[nan]", "[nan]", "[0.0]", "[nan]"],
    ),
    "Contexts that are texts instead of lists": Difference(
        scores(relevance, relevant(["one two"]), contexts=["one two"]),
        columns=["scores"],
        stock=["[1]"],
        ours=["TypeError"],
    ),
    "An answer that is None": Difference(
        scores(faithfulness, faithful(["a"], [1]), answers=[None]),
        columns=["scores"],
        stock=["[1.0]"],
        ours=["TypeError"],
    ),
    "A reply with something around the JSON": Difference(
        results(f"```json\n{ONE}\n```", f"Sure! {ONE}", '{"score": 1,}'),
        columns=["code fence", "prose", "comma too many"],
        stock=["[None]"] * 3,
        ours=["[{'score': 1}]"] * 3,
    ),
    "Thoughts before an answer that is judged": Difference(
        thoughts_shown,
        columns=["LLM", "faithfulness"],
        stock=["yes"] * 2,
        ours=["no"] * 2,
    ),
    "A reply without text": Difference(
        results([], ChatMessage.from_assistant(tool_calls=[])),
        columns=["no reply", "no text"],
        stock=["IndexError", "AttributeError"],
        ours=["[None]"] * 2,
    ),
    "Several replies in each call": Difference(
        lambda side: [tried(partial(several, side))],
        columns=["n=2"],
        stock=["[1.0]"],
        ours=["ValueError"],
    ),
    "Keys that nobody asked for": Difference(
        results('{"score": 1, "more": 2}'),
        columns=["results"],
        stock=["[{'score': 1, 'more': 2}]"],
        ours=["[{'score': 1}]"],
    ),
    "What a failed row raises": Difference(
        raised,
        columns=["error", "kept"],
        stock=["ValueError", "nothing"],
        ours=["FailedRowsError", "[{'score': 1}, None]"],
    ),
    "One entry of meta for each row": Difference(
        meta,
        columns=["meta"],
        stock=["[{'id': 0}, {'id': 2}]"],
        ours=["[{'id': 0}, {}, {'id': 2}]"],
    ),
    "Floats from the judges": Difference(
        types,
        columns=["score of one row", "score of two rows", "individual score"],
        stock=["int", "float", "int"],
        ours=["float"] * 3,
    ),
    "Examples that are an empty list": Difference(
        examples_shown,
        columns=["examples in the prompt"],
        stock=["yes"],
        ours=["no"],
    ),
    "Inputs that do not fit": Difference(
        lambda side: [
            own(side, {"a": ["v"], "typo": ["w"]}),
            own(side, {}),
            own(side, {"a": []}),
        ],
        columns=["unknown", "missing", "no rows"],
        stock=["[{'score': 1}]", "ValueError", "[]"],
        ours=["TypeError", "TypeError", "ValueError"],
    ),
    "Parameters that do not fit": Difference(
        lambda side: [
            own(side, {"a": ["v"]}, examples=[{"inputs": {"b": 1}, "outputs": {"c": 2}}]),
            own(side, {"a": ["v"]}, inputs=[("a", int)]),
        ],
        columns=["keys of an example", "a type that is no list"],
        stock=["[{'score': 1}]"] * 2,
        ours=["ValueError"] * 2,
    ),
    "More outputs of the judges": Difference(
        outputs,
        columns=["LLM", "faithfulness", "context relevance"],
        stock=["meta, results", *["individual_scores, meta, results, score"] * 2],
        ours=["errors, individual_scores, meta, results, score, statuses, summary, usage"] * 3,
    ),
}
