# SPDX-License-Identifier: Apache-2.0
"""Writes the stub of the methods that lazy objects record: `python tests/lazy_stubs.py`."""

import inspect
import re
from pathlib import Path
from typing import Any

from jaxframes.frame.plan import _recorded

STUB = Path(__file__).resolve().parents[1] / "frame/plan/_recorded.pyi"
_HEADER = '''\
# SPDX-License-Identifier: Apache-2.0
"""The methods of lazy objects that record themselves. Written by `tests/lazy_stubs.py`."""
'''


_LINE = 100


def stub() -> str:
    """The text of the stub: the signatures of the eager methods."""
    parts: list[str] = []
    for made, eager, names in _recorded.RECORDED:
        methods = [_text_of(name, inspect.signature(getattr(eager, name))) for name in names]
        parts.append("\n".join([f"class {made.__name__}:", *methods]))
    parts.append("RECORDED: tuple[tuple[type, type, collections.abc.Sequence[str]], ...]\n")
    imports: dict[str, set[str]] = {}

    def imported(name: re.Match[str]) -> str:
        imports.setdefault(name[1], set()).add(name[2])
        return name[2]

    body = re.sub(r"\b([a-z_][\w.]*)\.([A-Z]\w*)", imported, "\n\n".join(parts))
    lines = [f"from {one} import {', '.join(sorted(imports[one]))}\n" for one in sorted(imports)]
    return f"{_HEADER}\n{''.join(lines)}\n{body}"


def _text_of(name: str, signature: inspect.Signature) -> str:
    """A method of a stub, without the values of its defaults."""
    every = signature.parameters.values()
    parameters: list[str] = []
    for parameter in every:
        is_first_name = parameter.kind is parameter.KEYWORD_ONLY and "*" not in parameters
        if is_first_name and all(one.kind is not one.VAR_POSITIONAL for one in every):
            parameters.append("*")
        parameters.append(_parameter(parameter))
    returned = "typing.Self" if "Self" in str(signature.return_annotation) else "typing.Any"
    line = f"    def {name}({', '.join(parameters)}) -> {returned}: ..."
    if len(re.sub(r"\b[a-z_][\w.]*\.([A-Z])", r"\1", line)) <= _LINE:
        return line
    listed = "".join(f"        {parameter},\n" for parameter in parameters)
    return f"    def {name}(\n{listed}    ) -> {returned}: ..."


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.name == "self":
        return "self"
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = "" if parameter.default is parameter.empty else " = ..."
    return f"{stars}{parameter.name}: {_annotation(parameter.annotation)}{default}"


def _annotation(annotation: Any) -> str:
    if not isinstance(annotation, type) or hasattr(annotation, "__args__"):
        return annotation if isinstance(annotation, str) else repr(annotation)
    if annotation.__module__ == "builtins":
        return annotation.__name__
    return f"{annotation.__module__}.{annotation.__qualname__}"


if __name__ == "__main__":
    STUB.write_text(stub())
