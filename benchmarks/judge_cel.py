"""Time of CEL for the rules of judge.py that it can express; run by judge.py under a Python that has CEL.

Reads a JSON object on its input: `expressions`, and `nodes`, each the facts of one node. Each expression is compiled
once. Prints for each available runtime the seconds of converting the facts into its own types and of evaluating, and
how many results were true, and how many missing.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

Way = tuple[Callable[[Any], Any], list[Callable[[Any], bool]]]


def pure(expressions: list[str]) -> Way:
    """Compile for cel-python, which is Python."""
    import celpy  # noqa: PLC0415  the available runtimes are measured

    env = celpy.Environment()
    programs = [env.program(env.compile(text)) for text in expressions]
    asked = [lambda facts, run=program.evaluate: bool(run({"facts": facts})) for program in programs]
    return celpy.json_to_cel, asked


def native(expressions: list[str]) -> Way:
    """Compile for cel-expr-python, which is cel-cpp."""
    from cel_expr_python import cel  # noqa: PLC0415

    env = cel.NewEnv(variables={"facts": cel.Type.Map(cel.Type.STRING, cel.Type.DYN)})
    programs = [env.compile(text) for text in expressions]
    asked = [lambda facts, run=program.eval: bool(run(data={"facts": facts}).value()) for program in programs]
    return lambda facts: facts, asked


def main() -> None:
    """Measure each runtime and print."""
    given = json.load(sys.stdin)
    for name, compiled in (("cel-python", pure), ("cel-expr-python", native)):
        try:
            known = version(name)
        except PackageNotFoundError:
            print(json.dumps({"name": name}))
            continue
        brought, asked = compiled(given["expressions"])
        began = time.perf_counter()
        facts = [brought(node) for node in given["nodes"]]
        ready = time.perf_counter()
        true = failed = 0
        for node in facts:
            for answer in asked:
                try:
                    true += answer(node)
                except Exception:  # noqa: BLE001  an exception of a runtime counts as no result
                    failed += 1
        value = {"brought": ready - began, "evaluated": time.perf_counter() - ready, "true": true, "failed": failed}
        print(json.dumps({"name": name, "version": known} | value))


if __name__ == "__main__":
    main()
