# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Why a service refuses a request for good: what repairs it, and which other rows would meet the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from haystack_eval_ext._said import Said

_BAD_REQUEST = frozenset((400, 415, 422))
_FORBIDDEN = 403


class Cause(NamedTuple):
    """
    A cause of a refusal.

    :param repair: What to do about it.
    :param shared: Which requests meet the same: "none" other for certain; "all", since the account is refused; "most":
        all, unless the service has answered one of the run; "longer": perhaps those that are not shorter than this one,
        unless the service has answered one.
    """

    repair: str
    shared: Literal["none", "longer", "most", "all"]


#: The causes that are told apart.
CAUSES = {
    "login": Cause("the service does not accept the key: check the key and the account", "all"),
    "quota": Cause("the account has no quota or credit left: check its plan and billing", "all"),
    "model": Cause("the service does not know this model: check the generator's model", "most"),
    "address": Cause("check the generator's model and address", "most"),
    "parameter": Cause(
        "the service refuses this parameter or its value: change it in the generator's generation_kwargs, or leave it "
        "out there",
        "most",
    ),
    "format": Cause(
        "the service refuses this way to ask for JSON: set the policy's structured_output to 'json_object' or 'text'",
        "most",
    ),
    "long": Cause(
        "the request is too long for the model: take a model with a longer context, or shorter or fewer contexts",
        "none",
    ),
    "filter": Cause(
        "change the settings of the service's content filter, or ask another judge about such rows",
        "none",
    ),
    "forbidden": Cause("the service refuses this request, but has answered others: perhaps its filter", "none"),
    "unknown": Cause(
        "perhaps the request is too long for the model, or the server takes none of its parameters", "longer"
    ),
}

_CODES = {
    "login": ("invalid_api_key", "api_key_invalid", "invalid_authentication", "authentication_error"),
    "quota": (
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_balance",
        "exceeded_current_quota_error",
    ),
    "model": (
        "model_not_found",
        "model_not_available",
        "model_not_supported",
        "unknown_model",
        "invalid_model",
        "deploymentnotfound",
    ),
    "parameter": (
        "unsupported_parameter",
        "unsupported_value",
        "unknown_parameter",
        "invalid_parameter",
        "extra_forbidden",
    ),
    "long": (
        "context_length_exceeded",
        "string_above_max_length",
        "exceed_context_size_error",
        "request_too_large",
        "tokens_limit_reached",
    ),
    "filter": (
        "content_filter",
        "content_policy_violation",
        "content_policy_violation_error",
        "responsibleaipolicyviolation",
        "data_inspection_failed",
    ),
}
_CAUSE_OF_CODE = {code: cause for cause, codes in _CODES.items() for code in codes}
_CAUSE_OF_STATUS = {401: "login", 402: "quota", 404: "address", 405: "address", 413: "long"}
# Of the request's own texts; a parameter is something else.
_TEXTS = ("messages", "input", "prompt", "contents")
_FORMAT = ("response_format", "text.format", "format")


def cause_of(said: Said, *, served_before: bool) -> Cause | None:
    """
    Tell why a service refused a request.

    :param said: What it said.
    :param served_before: Whether it answered somebody with this account before. If so, "forbidden" concerns the one
        text, as a moderation filter's 403 does.
    :returns: The cause; None if the failure is none of those, such as a server that is overloaded.
    """
    name = _name_of(said)
    if name is None and said.status == _FORBIDDEN:
        name = "forbidden" if served_before else "login"
    return None if name is None else CAUSES[name]


def may_be_the_format(said: Said) -> bool:
    """
    Whether a server may have refused the way in which the form of the reply was asked for.

    :param said: What it said.
    :returns: True for the HTTP statuses 400, 415, 422 and 501, which say that a request is malformed or unknown, unless
        the service names another cause.
    """
    unnamed = "parameter" if said.param is None else "format"
    return said.status == 501 or (said.status in _BAD_REQUEST and _name_of(said) in ("unknown", "format", unnamed))  # noqa: PLR2004


def _name_of(said: Said) -> str | None:
    words = [word.casefold() for word in (*said.codes, said.type or "")]
    named = {cause for word in words if (cause := _CAUSE_OF_CODE.get(word)) is not None}
    for cause in ("quota", "login", "filter", "long", "model"):
        if cause in named:
            return cause
    if said.status in _BAD_REQUEST:
        param = said.param or ""
        if param.startswith(_FORMAT):
            return "format"
        if param == "model":
            return "model"
        if "parameter" in named or (param and not param.startswith(_TEXTS)):
            return "parameter"
        return "unknown"
    return _CAUSE_OF_STATUS.get(said.status or 0)
