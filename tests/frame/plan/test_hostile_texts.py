# SPDX-License-Identifier: Apache-2.0
"""Texts that try to leave the grammar of query and eval raise, and run nothing."""

import builtins
import os
import subprocess
import sys

import pandas as pd
import pytest
from jaxframes.frame import JaxFrame

FRAME = JaxFrame({"x": [1, 2, 3], "s": ["a", "b", "c"]})
CALLED = []


def touch(*arguments, **keywords):
    """What a hostile text would call."""
    CALLED.append((arguments, keywords))


class Trap:
    """An object whose attributes, items and operators tell that they were used."""

    def __getattr__(self, name):
        touch(name)
        return self

    def __getitem__(self, key):
        touch(key)
        return self

    def __call__(self, *arguments, **keywords):
        touch(*arguments)
        return self

    __add__ = __radd__ = __gt__ = __lt__ = __contains__ = __getitem__


TEXTS = [
    # Imports and built-in functions.
    "__import__('os').system('echo')", "import os", "from os import system", "eval('1')",
    "exec('1')", "compile('1', '', 'eval')", "open('secrets')", "open('x.txt', 'w').write('')",
    "getattr(x, 'to_pandas')", "globals()", "locals()", "vars()", "dir()", "input()", "print(x)",
    "help()", "breakpoint()", "exit()", "type(x)", "str(x)", "list(x)", "len(x)", "max(x)",
    "__builtins__", "__builtins__['eval']", "__name__", "__file__", "__loader__",
    # Attributes of objects.
    "x.__class__", "x.__class__.__mro__", "x.__class__.__bases__[0].__subclasses__()", "x.__dict__",
    "().__class__", "''.__class__", "(1).__class__", "[].__class__.__base__", "'a'.format(x)",
    "'{0.__class__}'.format(x)", "x.evaluate", "x.evaluate(1)", "x.function", "x.operands",
    "x.keywords", "x.key()", "x.columns()", "x.rename({})", "x.children", "x.of('col', 'y')",
    "x.from_pandas(1)", "x.str.__class__", "x.str._target", "x.str._prefix", "x._bottom_up()",
    "x.__reduce__()", "x.__getattr__('sum')", "x.sum.__globals__", "x.sum.__self__",
    "x.to_pandas()", "x.to_numpy()", "x.apply(touch)", "x.pipe(touch)", "x.agg('sum')",
    "x.transform('sum')", "s.str.cat.__call__", "x.rolling(2).apply(touch)", "x.rolling(2)._target",
    "sin.__class__", "sin.at(x)", "x.groupby(s).transform('__class__')",
    "x.groupby(s).transform('pipe')", "index.__class__",
    # Variables.
    "@os", "@os.system('echo')", "@os.environ", "@sys.modules", "@subprocess.run('echo')",
    "@builtins.eval('1')", "@builtins", "@touch(1)", "@touch", "@trap", "@trap.a", "@trap.a.b",
    "@trap(1)", "@trap[0]", "@trap + 1", "x > @trap", "x in @trap", "x.map(@touch)",
    "x.isin(@trap)", "@pd", "@pd.read_pickle('x')", "@pd.eval('1')", "@pd.io", "@pd.Timestamp",
    "@pd.Timestamp.now()", "@pd.Timestamp.__init__", "@pd.Timestamp('2026').__class__",
    "@pd.Timestamp(x)", "@pd.DataFrame()", "@FRAME", "@FRAME.x", "@FRAME.to_pandas()", "@lambda: 0",
    "@(x)", "@@x", "@", "x @ x", "@`x`", "@None", "@1",
    # Statements and other parts of Python.
    "lambda: 0", "(lambda: touch())()", "[y for y in x]", "{y for y in x}", "{1: x}", "{1, 2}",
    "(y for y in x)", "x if x else s", "(y := x)", "f'{x}'", "f'{touch()}'", "b'x'", "...",
    "yield x", "await x", "*x", "sin(*x)", "sin(**x)", "del x", "pass", "raise x", "assert x",
    "while x: pass", "for y in x: touch()", "if x: touch()", "def f(): touch()", "class f: pass",
    "with x: pass", "try: pass", "return x", "global x", "x; x", "x: int = 1", "x.y = 1",
    "x[0] = 1", "x, s = 1", "x = s = 1", "@x = 1", "x += 1", "x[0]", "x[x > 0]", "x << 2", "x >> 2",
    "x is x", "x is not s", "!x", "x ? s", "$x", "x\\", "x\0", "`x", "'x", "(x", "x)", "x y",
    "print x",
    # Constants that would fill the memory, and texts that would fill the stack.
    "9 ** 9 ** 9", "2 ** 10 ** 9", "(-2) ** 99999", "'a' * 10 ** 9", "'%1000000000d' % 1",
    "[0] * 10 ** 9", "10 ** 9 * [0]", "[1] + [2]", "x.map(lambda y: y)", "x[" * 300,
    "(" * 300 + "x", "(" * 300 + "x" + ")" * 300, "-" * 100_000 + "x", "x" + "+x" * 100_000,
    "x" + ".abs()" * 20_000, "not " * 100_000 + "x", "[" * 1000 + "]" * 1000, "1" * 10_000 + " > x",
    "x ** ",
]  # fmt: skip


@pytest.mark.parametrize("method", ["query", "eval"])
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_hostile_text_raises(method, text):
    variables = {
        "os": os, "sys": sys, "subprocess": subprocess, "builtins": builtins, "touch": touch,
        "trap": Trap(), "pd": pd, "FRAME": FRAME,
    }  # fmt: skip
    before = FRAME.to_pandas()
    with pytest.raises(Exception) as caught:  # noqa: PT011
        getattr(FRAME, method)(text, local_dict=variables)
    assert not isinstance(caught.value, (RecursionError, MemoryError, AssertionError))
    assert not CALLED
    pd.testing.assert_frame_equal(FRAME.to_pandas(), before)


def test_there_are_a_hundred():
    assert len(set(TEXTS)) == len(TEXTS) > 100
