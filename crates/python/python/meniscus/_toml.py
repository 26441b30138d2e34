"""Scenes as dictionaries, written as TOML."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def document(scene: Mapping) -> str:
    """A scene file with the content of a dictionary."""
    lines: list[str] = []
    tables: list[str] = []
    for key, content in scene.items():
        if isinstance(content, Mapping):
            tables.append(f"\n[{_key(key)}]\n" + "".join(f"{_key(k)} = {value(v, f'{key}.{k}')}\n" for k, v in content.items()))
        elif _is_tables(content):
            for index, one in enumerate(content):
                path = f"{key}[{index}]"
                tables.append(f"\n[[{_key(key)}]]\n" + "".join(f"{_key(k)} = {value(v, f'{path}.{k}')}\n" for k, v in one.items()))
        else:
            lines.append(f"{_key(key)} = {value(content, str(key))}\n")
    return "".join(lines) + "".join(tables)


def value(content: Any, path: str) -> str:
    """A value as TOML.

    Raises
    ------
    TypeError
        If there is no TOML for it.
    """
    if isinstance(content, np.ndarray):
        content = content.tolist()
    elif isinstance(content, np.generic):
        content = content.item()
    if isinstance(content, bool):
        return "true" if content else "false"
    if isinstance(content, int):
        return str(content)
    if isinstance(content, float):
        if math.isinf(content) or math.isnan(content):
            return {True: "inf", False: "-inf"}[content > 0] if math.isinf(content) else "nan"
        return repr(content)
    if isinstance(content, (str, os.PathLike)):
        return _string(os.fspath(content))
    if isinstance(content, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {value(v, f'{path}.{k}')}" for k, v in content.items()) + " }"
    if isinstance(content, Sequence) and not isinstance(content, (bytes, bytearray)):
        return "[" + ", ".join(value(v, f"{path}[{i}]") for i, v in enumerate(content)) + "]"
    raise TypeError(f"{path} is a {type(content).__name__}, which a scene can't contain")


def _is_tables(content: Any) -> bool:
    is_list = isinstance(content, Sequence) and not isinstance(content, (str, bytes))
    return is_list and len(content) > 0 and all(isinstance(one, Mapping) for one in content)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of a scene is a {type(key).__name__}, expected a string")
    return key if _BARE.match(key) else _string(key)


def _string(text: Any) -> str:
    if isinstance(text, bytes):
        text = text.decode()
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    controls = {c: f"\\u{ord(c):04x}" for c in escaped if ord(c) < 32 or ord(c) == 127}
    return '"' + "".join(controls.get(c, c) for c in escaped) + '"'
