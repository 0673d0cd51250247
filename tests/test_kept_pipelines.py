# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""YAML that a run keeps holds no secrets, and everything else as it was."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from haystack_eval_ext.runs._pipeline_text import kept_yaml, without_secrets

WORD = "hunter2-zebra"

SECRETS: list[Any] = [
    *(
        {name: WORD}
        for name in (
            "api_key", "apikey", "apiKey", "API_KEY", "x-api-key", "api-key", "X-API-Key", "Ocp-Apim-Subscription-Key",
            "openai_api_key", "secret_key", "account_key", "private_key", "aws_secret_access_key", "access_key",
            "x-functions-key",
            "password", "passwd", "db_password", "pwd", "passphrase", "secret", "client_secret", "credentials",
            "credential", "bearer", "auth", "http_auth", "basic-auth", "oauth", "authorization", "Authorization",
            "token", "hf_token", "auth_token", "access-token", "bearerToken", "tokens", "X-Amz-Security-Token",
            "cookie",
        )
    ),
    {"api_keys": [WORD, WORD]},
    {"api_keys": {"openai": WORD}},
    {"basic_auth": ["user", WORD]},
    {"auth": {"user": WORD, "nested": {"more": [WORD]}}},
    {"credentials": {"type": "service_account", "client_email": WORD}},
    {"extra_headers": {"Authorization": f"Bearer {WORD}"}},
    {"headers": {"X-Custom": f"Bearer {WORD}"}},
    {"url": f"https://user:{WORD}@host/path"},
    {"url": f"https://{WORD}@host/path"},
    {"url": f"postgresql://user:p@ss{WORD}@host:5432/db"},
    {"url": f"https://host/path?api_key={WORD}&x=1"},
    {"url": f"https://host.net/c?sv=2024&sig={WORD}"},
    {"dsn": f"Server=tcp:host,1433;User ID=me;Password={WORD};Encrypt=yes"},
    {"dsn": f"host=h dbname=d password='{WORD}' user=u"},
    {"dsn": f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={WORD};EndpointSuffix=x"},
    {"note": f"of the first one: sk-proj-{WORD}"},
    {"note": f"AIzaSyA-1234567890-{WORD}"},
    {"note": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{WORD}"},
    {"command": f"curl -H 'x-api-key: {WORD}' https://host"},
    {"dsn": f"jdbc:postgresql://host/db?user=u&password={WORD}"},
]  # fmt: skip


@pytest.mark.parametrize("parameters", SECRETS, ids=str)
def test_secrets_go(parameters: dict[str, Any]) -> None:
    text = yaml.safe_dump({"components": {"c": {"type": "x.Y", "init_parameters": parameters}}})
    kept = kept_yaml(text)
    assert kept is not None
    assert WORD not in kept
    assert set(yaml.safe_load(kept)["components"]["c"]["init_parameters"]) == set(parameters)


PLAIN: list[Any] = [
    {"max_tokens": 5, "max_new_tokens": "20", "max_completion_tokens": "many", "stop_tokens": ["</s>"]},
    {"pad_token": "<pad>", "eos_token": "</s>", "special_tokens": ["<x>"], "num_tokens": "9", "image_token": "<i>"},
    {"document_comparison_field": ["meta.file", "meta.page"], "comparison_keys": ["a"], "join_keys": ["id"]},
    {"key_field": "name", "sort_key": "score", "group_by_key": "file", "meta_keys": ["a", "b"]},
    {"template": "Use bearer authentication. Password: none. api_key: a text.", "model": "hf-internal-testing/tiny"},
    {"key": "id", "keys": ["a"], "secretary": "x"},
    {"author": "Ada", "author_name": "x", "auth_type": "basic", "tokenizer": "bert", "token_count": "3"},
    {"monkey": "x", "hockey": "y", "passage": "text", "passages_field": "p", "signature": "q -> a", "bypass": "x"},
    {"template": "Password? Say basic retrieval; token embeddings. {{ question }} https://x.y/?q=1 for more"},
    {"template": "Bearer of news: {{ x }}", "url": "https://host/v1", "model": "basic retrieval"},
    {"url": "https://host/openai/deployments/d?api-version=2024-02-01"},
    {"token": {"type": "env_var", "env_vars": ["HF_TOKEN", "HF_API_TOKEN"], "strict": False}},
    {"api_key": {"type": "env_var", "env_vars": ["OPENAI_API_KEY"], "strict": True}},
    {"auth": None, "use_auth": True, "token": None, "api_key": None},
]  # fmt: skip


@pytest.mark.parametrize("parameters", PLAIN, ids=str)
def test_everything_else_stays(parameters: dict[str, Any]) -> None:
    assert without_secrets(parameters) == parameters


def test_what_is_hidden_shows_the_rest() -> None:
    given = {
        "url": f"https://u:{WORD}@host/p?api_key={WORD}&api-version=1#part",
        "dsn": f"Server=h;Password={WORD};Encrypt=yes",
        "credentials": {"type": "service_account", "project": WORD},
    }
    assert without_secrets(given) == {
        "url": "https://...@host/p?api_key=(not kept)&api-version=1#part",
        "dsn": "Server=h;Password=(not kept);Encrypt=yes",
        "credentials": {"type": "service_account", "project": "(not kept)"},
    }
