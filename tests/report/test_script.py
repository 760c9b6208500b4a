"""The part of Plotly's script that a page contains."""

import re
import shutil
import subprocess

import pytest
from plotly.offline import get_plotlyjs

from windlass.report.script import scatter_only, used_part

NODE = shutil.which("node")


def _script(body: str) -> str:
    return f"/** plotly.js v4.1.1 */var Plotly=(()=>{{{body}return z();}})();window.Plotly=Plotly;"


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("var a=W(()=>{});var z=W(()=>{b()});var b=W(()=>{});", "var z=W(()=>{b()});var b=W(()=>{});"),
        # Brackets of strings, templates, comments and regular expressions are none of the program.
        ("""var a="}{(";var z=W(()=>{"({"});""", """var z=W(()=>{"({"});"""),
        ("var a='\\'}';var z=`${b?`(`:c({})}`;var b=1;", "var z=`${b?`(`:c({})}`;var b=1;"),
        ("var z=1/* { */;var a=2;", "var z=1/* { */;"),
        ("var a=(/[/({]\\//g,1);var z=x.match(/[{]/);", "var z=x.match(/[{]/);"),
        ("function a(){}function z(){return b}class b{}", "function z(){return b}class b{}"),
        # A statement counts for each of its names, and exports of a module go with the module.
        ("var a,b,c=W(()=>{a=1});var z=b;", "var a,b,c=W(()=>{a=1});var z=b;"),
        (
            "var m={};E(m,{k:()=>f});var f=1;var n={};E(n,{k:()=>g});var g=1;var z=m;",
            "var m={};E(m,{k:()=>f});var f=1;var z=m;",
        ),
        # What has an effect of its own is kept.
        ("a.b=f;var f=1;var z=2;", "a.b=f;var f=1;var z=2;"),
        # Only the kinds of traces that are registered are left out.
        (
            "var t=W(()=>{});var z=W((e,x)=>{var r=c();r.register([t(),u()]);x.exports=r});var c=W(()=>{});",
            "var z=W((e,x)=>{var r=c();r.register([]);x.exports=r});var c=W(()=>{});",
        ),
    ],
)
def test_statements_that_nothing_mentions_are_left_out(body: str, left: str) -> None:
    assert used_part(_script(body)) == _script(left)
    assert scatter_only(_script(body)) == _script(left)


@pytest.mark.parametrize("body", ["var z=(;", "var z=1);", "var z={;"])
def test_a_script_of_another_form_is_not_changed(body: str) -> None:
    assert used_part(_script(body)) == _script(body)
    assert used_part("var Plotly=1;var a=2;") == "var Plotly=1;var a=2;"


def test_another_release_is_not_changed() -> None:
    script = _script("var a=1;var z=2;")
    other = script.replace("v4.1.1", "v4.1.2")
    assert scatter_only(other) == other
    assert scatter_only(script) != script


@pytest.mark.matrix(0)
def test_the_installed_release_is_shortened_and_keeps_its_licences() -> None:
    whole, part = get_plotlyjs(), scatter_only(get_plotlyjs())
    assert 1_000_000 < len(part) < 0.5 * len(whole)
    assert part.startswith(whole[: whole.index('"use strict"')])
    assert re.findall("@license.*", part)[-1] == re.findall("@license.*", whole)[-1]


@pytest.mark.matrix(0)
@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_part_has_no_errors_of_syntax(tmp_path) -> None:
    file = tmp_path / "part.js"
    file.write_text(scatter_only(get_plotlyjs()), encoding="utf-8")
    assert subprocess.run([str(NODE), "--check", str(file)], check=False).returncode == 0
