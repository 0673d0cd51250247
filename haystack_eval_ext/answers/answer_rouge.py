# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""ROUGE. Source: Lin, ROUGE: A Package for Automatic Evaluation of Summaries, ACL workshop 2004; rouge-score."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, get_args

from haystack import component

from haystack_eval_ext._parameters import check_choice, check_flag
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._text import CharacterTable, segment
from haystack_eval_ext.answers._base import Overlap, OverlapEvaluator, overlap_of
from haystack_eval_ext.errors import MissingPackageError

RougeType = Literal["rougeL", "rouge1", "rouge2", "rougeLsum"]
RougeMeasure = Literal["f1", "precision", "recall"]

_LATIN_1 = 256
_MIN_STEMMED = 4
_ASCII = str.maketrans({character: " " for character in map(chr, range(128)) if not character.isalnum()})


def _separated(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] in "LMN":
        return "" if "VARIATION SELECTOR" in unicodedata.name(character, "") else character
    if category == "Cf":
        return ""  # marks of direction, joiners, soft hyphens: not to be seen
    if category in ("So", "Sk", "Cn", "Co") and ord(character) >= _LATIN_1:
        return f" {character} "  # an emoji is a word; the signs of Latin-1 (degree, copyright) are punctuation
    return " "


_SEPARATORS = CharacterTable(_separated, _ASCII)


class RougeTokenizer:
    """
    Tokens for ROUGE in every script; for ASCII text those of rouge-score's own tokenizer.

    rouge-score's tokenizer keeps a to z and digits, so that a Japanese or Russian text has no tokens at all.

    ```python
    from haystack_eval_ext.answers.answer_rouge import RougeTokenizer

    print(RougeTokenizer().tokenize("It's the Café-Bar in 東京!"))
    # ['it', 's', 'the', 'café', 'bar', 'in', '東', '京']
    ```
    """

    def __init__(self, *, use_stemmer: bool = False) -> None:
        """
        Create a tokenizer.

        :param use_stemmer: Whether to reduce English words of more than three letters to their stem (Porter's).
        :raises ImportError: If the stemmer is asked for and nltk is not installed.
        """
        self._stem = _porter_stemmer().stem if use_stemmer else None

    def tokenize(self, text: str) -> list[str]:
        """
        Split a text into words; in scripts without spaces into characters.

        :param text: Any text.
        :returns: Its tokens, in one Unicode form and case, without punctuation.
        """
        if text.isascii():
            tokens = text.lower().translate(_ASCII).split()
        else:
            tokens = segment(unicodedata.normalize("NFKC", text).casefold().translate(_SEPARATORS))
        if self._stem is None:
            return tokens
        stem = self._stem
        return [stem(token) if len(token) >= _MIN_STEMMED and token.isascii() else token for token in tokens]


def _porter_stemmer() -> Any:
    # Loaded when used: nltk takes seconds where scipy and scikit-learn are installed.
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError as error:
        msg = 'use_stemmer needs nltk, which is not installed: run `pip install "haystack-eval-ext[lexical]"`.'
        raise MissingPackageError(msg) from error
    return PorterStemmer()


def shared_runs(prediction: Sequence[str], reference: Sequence[str], length: int) -> Overlap:
    """
    ROUGE-N: the runs of N tokens that two texts share, each as often as both have it.

    :param prediction: Tokens of the answer.
    :param reference: Tokens of the reference.
    :param length: N.
    :returns: Precision, recall and F1.
    """
    ours, theirs = (
        Counter(zip(*(tokens[start:] for start in range(length)), strict=False)) for tokens in (prediction, reference)
    )
    return overlap_of((ours & theirs).total(), ours.total(), theirs.total())


def longest_common(prediction: Sequence[str], reference: Sequence[str]) -> Overlap:
    """
    ROUGE-L: the longest common subsequence of the tokens.

    :param prediction: Tokens of the answer.
    :param reference: Tokens of the reference.
    :returns: Precision, recall and F1.
    """
    from rapidfuzz.distance import LCSseq  # loaded when used

    return overlap_of(LCSseq.similarity(prediction, reference), len(prediction), len(reference))


def longest_common_of_lines(prediction: Sequence[Sequence[str]], reference: Sequence[Sequence[str]]) -> Overlap:
    """
    ROUGE-Lsum: for each line of the reference the union of its longest common subsequences with the answer's lines.

    :param prediction: Tokens of each line of the answer.
    :param reference: Tokens of each line of the reference.
    :returns: Precision, recall and F1. A token counts as often as both texts have it.
    """
    left = [Counter(token for line in lines for token in line) for lines in (prediction, reference)]
    sizes = [counts.total() for counts in left]
    hits = 0
    for line in reference:
        for place in sorted(set().union(*(_common_places(line, other) for other in prediction))):
            token = line[place]
            if all(counts[token] > 0 for counts in left):
                hits += 1
                for counts in left:
                    counts[token] -= 1
    return overlap_of(hits, *sizes)


def _common_places(reference: Sequence[str], prediction: Sequence[str]) -> set[int]:
    """Places in the reference of one longest common subsequence: of several the one that rouge-score finds."""
    table = [[0] * (len(prediction) + 1)]
    for token in reference:
        above, row = table[-1], [0]
        for place, other in enumerate(prediction):
            row.append(above[place] + 1 if token == other else max(above[place + 1], row[place]))
        table.append(row)
    places = set()
    i, j = len(reference), len(prediction)
    while i and j:
        if reference[i - 1] == prediction[j - 1]:
            i, j = i - 1, j - 1
            places.add(i)
        elif table[i][j - 1] > table[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return places


class Rouge:
    """
    ROUGE of an answer against one reference, with our tokenizer.

    ```python
    from haystack_eval_ext.answers.answer_rouge import Rouge

    print(Rouge("rouge1").score("the cat sat", "the cat"))
    # Overlap(precision=0.6666666666666666, recall=1.0, f1=0.8)
    ```
    """

    def __init__(self, rouge_type: RougeType = "rougeL", *, use_stemmer: bool = False) -> None:
        """
        Prepare the comparison.

        :param rouge_type: "rougeL", "rouge1", "rouge2" or "rougeLsum".
        :param use_stemmer: Whether English words are reduced to their stem.
        :raises ImportError: If the stemmer is asked for and nltk is not installed.
        """
        self._type = rouge_type
        self._tokenizer = RougeTokenizer(use_stemmer=use_stemmer)
        # Most references and many answers come several times.
        self._tokens = lru_cache(maxsize=1024)(self._tokenizer.tokenize)

    def score(self, prediction: str, reference: str) -> Overlap:
        """
        Compare an answer with a reference.

        :param prediction: The answer.
        :param reference: The reference.
        :returns: Lin's values. Where there is nothing to count, as in an empty text or in a pair of words of a single
            word, that would be 0; here, equal tokens score 1.
        """
        ours, theirs = self._tokens(prediction), self._tokens(reference)
        if self._type == "rougeLsum":
            found = longest_common_of_lines(
                *([self._tokens(line) for line in text.split("\n") if line] for text in (prediction, reference))
            )
        elif self._type == "rougeL":
            found = longest_common(ours, theirs)
        else:
            found = shared_runs(ours, theirs, int(self._type[-1]))
        return Overlap(1.0, 1.0, 1.0) if not found.f1 and ours == theirs else found


@component
class AnswerRougeEvaluator(OverlapEvaluator):
    """
    Scores how many word sequences an answer shares with its reference, by ROUGE. From 0 to 1, higher is better.

    Values are those of the package rouge-score for ASCII text, with a tokenizer that works beyond Latin script: words
    in one Unicode form and case, without punctuation; in scripts without spaces, such as Japanese, Chinese and Thai,
    single characters; each emoji a word. For English text in ASCII it is rouge-score's own. Of several references the
    best one counts. An answer with the same tokens as its reference scores 1 even where rouge-score finds nothing to
    count and says 0: empty texts, and single words for "rouge2".

    Usage example:
    ```python
    from haystack_eval_ext import AnswerRougeEvaluator

    evaluator = AnswerRougeEvaluator()
    result = evaluator.run(
        ground_truth_answers=["The cat sat on the mat.", ["東京タワー", "東京の塔"]],
        predicted_answers=["The cat lay on the mat", "東京の塔です"],
    )
    print([round(score, 4) for score in result["individual_scores"]])
    # [0.8333, 0.8]
    print(result["results"][1])
    # {'precision': 0.6666666666666666, 'recall': 1.0, 'f1': 0.8, 'reference': 1}
    ```
    """

    def __init__(
        self,
        *,
        rouge_type: RougeType = "rougeL",
        measure: RougeMeasure = "f1",
        use_stemmer: bool = False,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create an AnswerRougeEvaluator component.

        :param rouge_type: What is counted: "rougeL" (the longest common subsequence of words), "rouge1" (words),
            "rouge2" (pairs of words) or "rougeLsum" (as "rougeL" for each line of a text).
        :param measure: What the score is: "f1", "precision" (share of the answer) or "recall" (share of the reference).
            The best reference is the one with the highest score.
        :param use_stemmer: Whether English words of more than three letters are reduced to their stem, so that
            "opens" and "opening" are the same; needs `pip install "haystack-eval-ext[lexical]"`.
        :param on_undefined: "zero", "nan" or "raise": kept for old pipelines; no score of this metric is undefined.
            A question without a reference is "not_run" and left out of the mean, whatever is set here.
        :raises ValueError: If a parameter has no such value.
        :raises TypeError: If a parameter has the wrong type.
        """
        check_choice("rouge_type", rouge_type, get_args(RougeType))
        check_choice("measure", measure, get_args(RougeMeasure))
        check_flag("use_stemmer", use_stemmer)
        OverlapEvaluator.__init__(self, on_undefined=on_undefined)
        self.rouge_type: RougeType = rouge_type
        self.measure: RougeMeasure = measure
        self.use_stemmer = use_stemmer

    def _overlaps(self, predictions: list[str], references: Sequence[Sequence[str]]) -> list[list[Overlap]]:
        rouge = Rouge(self.rouge_type, use_stemmer=self.use_stemmer)
        return [
            [rouge.score(prediction, reference) for reference in row]
            for prediction, row in zip(predictions, references, strict=True)
        ]
