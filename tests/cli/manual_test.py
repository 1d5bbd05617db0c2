"""The man pages and the shells' completion say what the program says of itself."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import stria_program

MANUAL = pathlib.Path(os.environ["STRIA_MANUAL"])
HEADER = pathlib.Path(__file__).parents[2] / "include" / "stria.h"


def commands(described, above=()):
    """Yields (path, description) of a command and all below it."""
    path = (*above, described["name"])
    yield path, described
    for below in described["commands"]:
        yield from commands(below, path)


@pytest.fixture(scope="module")
def described():
    done = subprocess.run([stria_program.PROGRAM, "--describe"], capture_output=True, text=True, check=True)
    return list(commands(json.loads(done.stdout)))


def plain(page):
    """Returns the words of a page without its marks."""
    return re.sub(r"\\f[BIR]|\\&", "", page.read_text()).replace("\\-", "-").replace("\\e", "\\")


def test_every_command_and_option_has_its_words(described):
    assert len(described) > 20
    for path, command in described:
        text = plain(MANUAL / "man1" / f"{'-'.join(path)}.1")
        assert command["help"] in text, path
        for option in command["options"]:
            for name in option["names"]:
                assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text), (path, name)
        for below in command["commands"]:
            assert f"{'-'.join(path)}-{below['name']}" in text, (path, below["name"])


def test_every_call_of_c_has_a_page():
    calls = set(re.findall(r"^[a-z][\w *]*?\b(stria_\w+)\(", HEADER.read_text(), flags=re.MULTILINE))
    assert len(calls) > 50
    assert calls == {page.stem for page in (MANUAL / "man3").iterdir()} - {"stria.h"}


def test_only_calls_that_return_codes_have_errors():
    assert "ERRORS" in plain(MANUAL / "man3" / "stria_put.3")
    assert "ERRORS" not in plain(MANUAL / "man3" / "stria_dataset_rank.3")
    assert "ERRORS" not in plain(MANUAL / "man3" / "stria_commit_done.3")


def test_a_page_says_by_itself_what_its_call_does():
    for page in (MANUAL / "man3").iterdir():
        words = plain(page)
        if not words.startswith(".so"):
            name = re.search(r"^\.SH NAME\n(.*?)\n\.SH", words, flags=re.MULTILINE | re.DOTALL)[1]
            assert "..." not in name and "nULL" not in name and name.count("(") == name.count(")"), name
            description = re.search(r"^\.SH DESCRIPTION\n(?:\.\w+\n)*(.*)", words, flags=re.MULTILINE)[1]
            assert not re.match(r"Likewise|The same|These|Their ", description), (page.name, description)
    assert "a string of the list" in plain(MANUAL / "man3" / "stria_list_at.3")
    assert "the damage with this number" in plain(MANUAL / "man3" / "stria_verdict_at.3")


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_pages_are_right_for_groff():
    pages = sorted(MANUAL.glob("man?/*"))
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z", *pages], cwd=MANUAL, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def completed(*words):
    """Returns what bash offers for the last word."""
    script = f"""
source {MANUAL / "completion" / "stria"}
COMP_WORDS=({" ".join(f"'{word}'" for word in words)})
COMP_CWORD={len(words) - 1}
_stria
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_completes_commands_options_and_values():
    assert completed("stria", "insp") == ["inspect"]
    stria_program.needs_laboratory()
    assert completed("stria", "fl") == ["flash"]
    assert {"io", "sedov", "picture"} <= set(completed("stria", "flash", ""))
    assert "--checkpoint-every" in completed("stria", "flash", "sedov", "--ch")
    assert completed("stria", "bench", "tile", "--through", "") == ["library", "mpiio", "posix"]
    assert completed("stria", "bench", "tile", "--through", "=", "mp") == ["mpiio"]
    assert completed("stria", "bench", "tile", "--rounds", "") == []
    # A flag that may have a value has it in the same word.
    assert completed("stria", "flash", "io", "--compress", "=", "zs") == ["zstd"]
    assert "zfp_relative:" in completed("stria", "flash", "sedov", "--compress", "=")
    assert "zstd" not in completed("stria", "flash", "io", "--compress", "")


@pytest.mark.parametrize(("shell", "script"), [("bash", "stria"), ("zsh", "_stria"), ("fish", "stria.fish")])
def test_scripts_are_right_for_their_shell(shell, script):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    subprocess.run([shell, "-n", MANUAL / "completion" / script], check=True)
