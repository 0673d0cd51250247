# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The components of Haystack 2 that Haystack 3 lacks, and what takes their place (source: its MIGRATION.md)."""

import re

_PATH = re.compile(r"\bhaystack(?:\.\w+)+\.(\w+)")

# Components that have a package of their own now: the package, the module, and the class if it has a new name.
_MOVED = {
    "AzureOCRDocumentConverter": ("azure-form-recognizer-haystack", "converters.azure_form_recognizer", ""),
    "DocumentLanguageClassifier": ("langdetect-haystack", "classifiers.langdetect", ""),
    "ExtractiveReader": ("transformers-haystack", "readers.transformers", "TransformersExtractiveReader"),
    "HuggingFaceAPIChatGenerator": ("huggingface-api-haystack", "generators.huggingface_api", ""),
    "HuggingFaceAPIDocumentEmbedder": ("huggingface-api-haystack", "embedders.huggingface_api", ""),
    "HuggingFaceAPITextEmbedder": ("huggingface-api-haystack", "embedders.huggingface_api", ""),
    "HuggingFaceLocalChatGenerator": (
        "transformers-haystack",
        "generators.transformers",
        "TransformersChatGenerator",
    ),
    "HuggingFaceTEIRanker": ("huggingface-api-haystack", "rankers.huggingface_api", ""),
    "LocalWhisperTranscriber": ("whisper-haystack", "audio.whisper", ""),
    "NamedEntityExtractor": (
        "transformers-haystack",
        "extractors.transformers",
        "TransformersNamedEntityExtractor",
    ),
    "OpenAPIConnector": ("openapi-haystack", "connectors.openapi", ""),
    "OpenAPIServiceConnector": ("openapi-haystack", "connectors.openapi", ""),
    "OpenAPIServiceToFunctions": ("openapi-haystack", "converters.openapi", ""),
    "RemoteWhisperTranscriber": ("whisper-haystack", "audio.whisper", ""),
    "SearchApiWebSearch": ("searchapi-haystack", "websearch.searchapi", ""),
    "SentenceTransformersDiversityRanker": ("sentence-transformers-haystack", "rankers.sentence_transformers", ""),
    "SentenceTransformersDocumentEmbedder": ("sentence-transformers-haystack", "embedders.sentence_transformers", ""),
    "SentenceTransformersDocumentImageEmbedder": (
        "sentence-transformers-haystack",
        "embedders.sentence_transformers",
        "",
    ),
    "SentenceTransformersSimilarityRanker": ("sentence-transformers-haystack", "rankers.sentence_transformers", ""),
    "SentenceTransformersSparseDocumentEmbedder": (
        "sentence-transformers-haystack",
        "embedders.sentence_transformers",
        "",
    ),
    "SentenceTransformersSparseTextEmbedder": (
        "sentence-transformers-haystack",
        "embedders.sentence_transformers",
        "",
    ),
    "SentenceTransformersTextEmbedder": ("sentence-transformers-haystack", "embedders.sentence_transformers", ""),
    "SerperDevWebSearch": ("serperdev-haystack", "websearch.serperdev", ""),
    "TextLanguageRouter": ("langdetect-haystack", "routers.langdetect", ""),
    "TikaDocumentConverter": ("tika-haystack", "converters.tika", ""),
    "TransformersSimilarityRanker": (
        "sentence-transformers-haystack",
        "rankers.sentence_transformers",
        "SentenceTransformersSimilarityRanker",
    ),
    "TransformersTextRouter": ("transformers-haystack", "routers.transformers", ""),
    "TransformersZeroShotDocumentClassifier": ("transformers-haystack", "classifiers.transformers", ""),
    "TransformersZeroShotTextRouter": ("transformers-haystack", "routers.transformers", ""),
}

_CHAT = "haystack.components.generators.chat"
_IN_PLACE = {
    "AsyncPipeline": "use haystack.Pipeline, which has its methods",
    "AzureOpenAIGenerator": f"use {_CHAT}.AzureOpenAIChatGenerator, behind a ChatPromptBuilder",
    "DALLEImageGenerator": "use haystack.components.generators.OpenAIImageGenerator",
    "HuggingFaceAPIGenerator": (
        "install huggingface-api-haystack and use haystack_integrations.components.generators.huggingface_api."
        "HuggingFaceAPIChatGenerator, behind a ChatPromptBuilder"
    ),
    "HuggingFaceLocalGenerator": (
        "install transformers-haystack and use haystack_integrations.components.generators.transformers."
        "TransformersChatGenerator, behind a ChatPromptBuilder"
    ),
    "OpenAIGenerator": f"use {_CHAT}.OpenAIChatGenerator, behind a ChatPromptBuilder",
    "ToolInvoker": "give the tools to haystack.components.agents.Agent",
}


def removed_class(text: str) -> str | None:
    """
    Find a class of Haystack 2 in what Haystack said about a pipeline.

    :param text: The path of a class, or a message that holds one.
    :returns: A sentence that names the class and what takes its place; None if there is none.
    """
    for path in _PATH.finditer(text):
        name = path[1]
        if name in _IN_PLACE:
            return f"{path[0]} was part of Haystack 2; Haystack 3 does not have it: {_IN_PLACE[name]}."
        if name in _MOVED:
            package, module, new_name = _MOVED[name]
            new = f"haystack_integrations.components.{module}.{new_name or name}"
            return (
                f"{path[0]} was part of Haystack 2; Haystack 3 does not have it: "
                f"pip install {package}, and write {new}."
            )
    return None
