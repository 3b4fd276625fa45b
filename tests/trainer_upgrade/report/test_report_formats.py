"""Every way of showing findings: by its schema or its reader, and by what it must hold."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest

from trainer_upgrade import arguments, settings
from trainer_upgrade.cli import main
from trainer_upgrade.report.estimate import estimate
from trainer_upgrade.report.summary import Report, ReportedFile

SCHEMA = Path(__file__).parents[2] / "data" / "sarif-schema-2.1.0.json"
SOURCE = """import pytorch_lightning as pl

é = "é"; trainer = pl.Trainer(gpus=2, max_epochs=1)


class Log(pl.Callback):
    def on_batch_end(self, trainer, module):
        print("<script>alert(1)</script>", trainer.lr_schedulers)


class Net(pl.LightningModule):
    def validation_epoch_end(
        self, outputs
    ):
        print(outputs)
"""
BROKEN = "import lightning\nx = = 1\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "train.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "pkg" / "sp ace.py").write_text(BROKEN)
    (tmp_path / "pkg" / "clean.py").write_text("x = 1\n")
    (tmp_path / "requirements.txt").write_text("pytorch-lightning==1.7.0\n")
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], name: str, *more: str) -> str:
    options = ["--check", "--target", "lightning", "--file-types", "python", "--output-format", name, *more]
    assert main([*options, "pkg"]) == 2  # a file is broken
    return capsys.readouterr().out


def listed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(shown(capsys, "json"))
    return found


def test_the_parser_and_the_settings_have_the_same_formats() -> None:
    assert arguments.FORMATS == settings.FORMATS


def test_sarif_is_valid_and_its_fixes_can_be_made(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema comes with the extra dev")
    log = json.loads(shown(capsys, "sarif"))
    jsonschema.Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(log)
    (run,) = log["runs"]
    rules = [each["id"] for each in run["tool"]["driver"]["rules"]]
    results = {each["ruleId"]: each for each in run["results"]}
    assert rules == sorted(results)
    assert all(rules[each["ruleIndex"]] == each["ruleId"] for each in run["results"])
    assert results["TRU001"]["level"] == "error"
    assert results["TRU101"]["level"] == "warning"  # 1.7 still has it
    assert results["TRU264"]["level"] == "warning"
    assert results["TRU264"]["properties"]["consequence"] == "2.x never calls it and raises no error"
    place = results["TRU001"]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "pkg/sp%20ace.py", "uriBaseId": "SRCROOT"}
    assert run["invocations"] == [{"executionSuccessful": False}]
    prints = [tuple(each["partialFingerprints"].items()) for each in run["results"]]
    assert len(set(prints)) == len(prints)
    # Rows and columns count characters, as columnKind says.
    (change,) = results["TRU101"]["fixes"][0]["artifactChanges"]
    lines = SOURCE.splitlines(keepends=True)
    for each in sorted(change["replacements"], key=lambda one: -one["deletedRegion"]["startColumn"]):
        region = each["deletedRegion"]
        assert region["startLine"] == region["endLine"] == 3
        row = lines[2]
        lines[2] = (
            row[: region["startColumn"] - 1]
            + each["insertedContent"]["text"]
            + row[region["endColumn"] - 1 :]
        )
    assert lines[2] == 'é = "é"; trainer = pl.Trainer(accelerator="gpu", devices=2, max_epochs=1)\n'


def test_sarif_of_nothing_is_valid(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema comes with the extra dev")
    assert main(["--check", "--output-format", "sarif", "pkg/clean.py"]) == 0
    log = json.loads(capsys.readouterr().out)
    jsonschema.Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(log)
    assert log["runs"][0]["results"] == []


def test_json_and_json_lines_hold_the_same(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = listed(capsys)
    lines = shown(capsys, "jsonl").splitlines()
    assert [json.loads(line) for line in lines] == whole
    by_code = {each["code"]: each for each in whole}
    assert by_code["TRU264"]["silent"] is True
    assert str(by_code["TRU264"]["message"]).endswith("[silent: 2.x never calls it and raises no error]")
    assert by_code["TRU101"]["severity"] == "warning"
    assert by_code["TRU201"]["fix"]["applicability"] == "safe"  # type: ignore[index]


def test_pages_are_linked_where_the_settings_name_a_site(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert {each["url"] for each in listed(capsys)} == {None}
    settings_file = project / "pyproject.toml"
    settings_file.write_text("[tool.trainer-upgrade]\ndocs-url = 'https://docs.example.org/x/'\n")
    urls = {each["code"]: each["url"] for each in listed(capsys)}
    assert urls["TRU101"] == "https://docs.example.org/x/rules/TRU101/"
    (run,) = json.loads(shown(capsys, "sarif"))["runs"]
    assert {each["id"]: each["helpUri"] for each in run["tool"]["driver"]["rules"]} == urls
    settings_file.write_text("[tool.trainer-upgrade]\ndocs-url = 'file:///srv/site'\n")
    assert "file:///srv/site/rules/TRU101/index.html" in {each["url"] for each in listed(capsys)}
    settings_file.write_text("[tool.trainer-upgrade]\ndocs-url = 'docs.example.org'\n")
    assert main(["--check", "pkg"]) == 2
    assert "docs-url: must be an address that begins with https://" in capsys.readouterr().err


def test_edits_of_a_notebook_count_in_its_cells(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Train"]},
        {
            "cell_type": "code",
            "metadata": {},
            "source": ["import pytorch_lightning as pl\n", "\n", "t = pl.Trainer(gpus=2)"],
            "outputs": [],
            "execution_count": None,
        },
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (project / "run.ipynb").write_text(json.dumps(notebook, indent=1))
    assert main(["--check", "--target", "lightning", "--output-format", "json", "run.ipynb"]) == 1
    found = {each["code"]: each for each in json.loads(capsys.readouterr().out)}
    finding = found["TRU101"]
    assert (finding["cell"], finding["location"]) == (2, {"row": 3, "column": 16})
    assert finding["fix"]["edits"] == [
        {
            "cell": 2,
            "content": 't = pl.Trainer(accelerator="gpu", devices=2)',
            "location": {"row": 3, "column": 1},
            "end_location": {"row": 3, "column": 23},
        }
    ]


def test_github_takes_one_command_a_finding(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "github").splitlines()
    assert len(lines) == len(listed(capsys))
    for line in lines:
        assert re.fullmatch(
            r"::(error|warning) title=trainer-upgrade \(TRU\d{3}\),file=pkg/[\w. ]+,line=\d+"
            r"(,col=\d+)?,endLine=\d+(,endColumn=\d+)?::TRU\d{3} .+",
            line,
        )
    assert any(
        line.startswith("::error title=trainer-upgrade (TRU001),file=pkg/sp ace.py,line=2") for line in lines
    )


def test_github_escapes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "pkg" / "a,b%c.py").write_text("import pytorch_lightning as pl\npl.Trainer(gpus='50%')\n")
    line = next(each for each in shown(capsys, "github").splitlines() if "TRU101" in each and "%25c" in each)
    assert "file=pkg/a%2Cb%25c.py," in line


def test_gitlab_has_the_fields_it_reads(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(shown(capsys, "gitlab"))
    assert len(found) == len(listed(capsys))
    for each in found:
        assert set(each) == {"check_name", "description", "fingerprint", "severity", "location"}
        assert each["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert not each["location"]["path"].startswith(("/", "./"))
        assert 1 <= each["location"]["lines"]["begin"] <= each["location"]["lines"]["end"]
    assert len({each["fingerprint"] for each in found}) == len(found)
    severities = {each["check_name"]: each["severity"] for each in found}
    assert (severities["TRU264"], severities["TRU101"], severities["TRU001"]) == (
        "critical",
        "minor",
        "blocker",
    )


def test_fingerprints_survive_moved_lines(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {each["fingerprint"] for each in json.loads(shown(capsys, "gitlab"))}
    path = project / "pkg" / "train.py"
    path.write_text(
        "# one\n# more\n" + SOURCE.replace("    def on_batch_end", "    # here\n    def on_batch_end"),
        encoding="utf-8",
    )
    assert {each["fingerprint"] for each in json.loads(shown(capsys, "gitlab"))} == before


def test_junit_counts_what_it_holds(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    top = ElementTree.fromstring(shown(capsys, "junit"))
    suites = top.findall("testsuite")
    assert [each.get("name") for each in suites] == ["pkg/clean.py", "pkg/sp ace.py", "pkg/train.py"]
    for element in (top, *suites):
        assert element.get("tests") == str(len(list(element.iter("testcase"))))
        assert element.get("failures") == str(len(list(element.iter("failure"))))
        assert element.get("errors") == str(len(list(element.iter("error"))))
    assert [len(each) for each in suites[0].iter("testcase")] == [0]
    assert [each.get("type") for each in top.iter("error")] == ["TRU001"]


def test_grouped_and_concise(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "concise").splitlines()
    assert all(re.match(r"pkg/[\w. ]+:\d+:\d+: TRU\d{3} ", line) for line in lines)
    assert len(lines) == len(listed(capsys))
    grouped = shown(capsys, "grouped")
    rows = grouped[grouped.index("pkg/train.py:") :].splitlines()[1:]
    assert re.match(r"\s+7:5  TRU264", rows[0])  # the silent one first


def test_statistics_and_summary_name_the_silent_ones_first(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(capsys, "text", "--statistics").splitlines()
    assert lines[0].split()[:2] == ["1", "TRU264"]
    summary = next(line for line in lines if line.startswith("Found"))
    assert "findings (1 silent, " in summary
    assert "With pytorch-lightning==1.7.0 (requirements.txt:1): 0 errors (gone already), " in lines[-2]
    assert lines[-1].startswith("Work left: about ")
    assert "10 min for the first of a code" in lines[-1]


def test_the_estimate_adds_up(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    work = estimate(Report(files=[ReportedFile(Path("x"), [])]))
    assert (work.total, work.minutes) == (0, 0)
    found = listed(capsys)
    manual = [each["code"] for each in found if each["fix"] is None and each["code"] != "TRU001"]
    unsafe = [each for each in found if each["fix"] and each["fix"]["applicability"] == "unsafe"]  # type: ignore[index]
    minutes = len(unsafe) * 2 + len(set(manual)) * 10 + (len(manual) - len(set(manual))) * 3
    text = shown(capsys, "text", "--statistics").splitlines()[-1]
    assert f"about {minutes} min " in text or f"about {minutes // 60} h" in text


class Page(HTMLParser):
    """Collects what matters of a page."""

    VOID = {"meta", "input", "br", "rect"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.articles: list[dict[str, str | None]] = []
        self.ids: list[str] = []
        self.fields: set[str] = set()
        self.labels: set[str | None] = set()
        self.links: list[str | None] = []
        self.addresses: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "article":
            self.articles.append(values)
        if values.get("id"):
            self.ids.append(str(values["id"]))
        if tag in ("input", "select") and values.get("type") != "checkbox":
            self.fields.add(str(values["id"]))
        if tag == "label":
            self.labels.add(values.get("for"))
        if tag == "a":
            self.links.append(values.get("href"))
        self.addresses += [str(values[name]) for name in ("src", "data", "action") if name in values]

    def handle_endtag(self, tag: str) -> None:
        assert tag in self.VOID or self.open.pop() == tag


def test_the_page_stands_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "html")
    page = Page(text)
    assert len(page.articles) == len(listed(capsys))
    assert [each["data-silent"] for each in page.articles][:2] == ["true", "false"]  # silent first
    assert page.addresses == []
    assert "http://" not in text
    assert "https://" not in text
    assert len(set(page.ids)) == len(page.ids)
    assert {str(link)[1:] for link in page.links} <= set(page.ids)  # links lead to places of the page
    assert page.fields <= page.labels
    assert "<script>alert(1)</script>" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "Content-Security-Policy" in text
    assert "accelerator=&quot;gpu&quot;, devices=2" in text


BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_the_page_works_in_a_browser(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    number = len(listed(capsys))
    (project / "page.html").write_text(shown(capsys, "html"), encoding="utf-8")
    done = subprocess.run(
        [
            str(BROWSER),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={project / 'profile'}",
            "--dump-dom",
            (project / "page.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    )
    # The policy lets the script run, which shows the filters and counts.
    assert f">{number} findings</p>" in done.stdout
    assert re.search(r'<form [^>]*id="filters"(?![^>]*hidden)[^>]*>', done.stdout)


def test_the_page_of_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", "--output-format", "html", "pkg/clean.py"]) == 0
    page = Page(capsys.readouterr().out)
    assert page.articles == []


def test_reports_are_written_beside_the_output(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["r.html", "r.md", "r.sarif", "r.json", "r.jsonl", "r.xml", "r.txt"]
    assert "TRU101" in shown(capsys, "text", *(f"--report={name}" for name in names))
    assert (project / "r.html").read_text().startswith("<!DOCTYPE html>")
    assert json.loads((project / "r.sarif").read_text())["version"] == "2.1.0"
    assert len(json.loads((project / "r.json").read_text())) == len(
        (project / "r.jsonl").read_text().splitlines()
    )
    assert ElementTree.parse(project / "r.xml").getroot().tag == "testsuites"
    markdown = (project / "r.md").read_text()
    assert markdown.index("## Silent") < markdown.index("## By code") < markdown.index("## By file")
    assert main(["--check", "--report", "r.pdf", "pkg"]) == 2
    assert "--report r.pdf: the name must end in one of .html" in capsys.readouterr().err
    assert main(["--check", "--report", "gone/r.md", "pkg"]) == 2
    assert "gone/r.md: cannot be written" in capsys.readouterr().err


def test_colour_only_where_it_is_wanted(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b[" not in shown(capsys, "text")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in shown(capsys, "text")
    assert "\x1b[" not in shown(capsys, "concise")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in shown(capsys, "text")
