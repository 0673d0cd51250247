# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What users install: the contents of the wheel, and shipped files found from each kind of installation."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
import yaml

from haystack_eval_ext import _resources
from haystack_eval_ext._resources import examples_path, pipeline_names, pipeline_path
from haystack_eval_ext._version import __version__

CHECKOUT = Path(__file__).resolve().parent.parent

# Run by a fresh Python, far from the checkout. The first argument may name a folder whose .pth files are to be read.
LOOK = """
import json, site, sys
if len(sys.argv) > 1:
    site.addsitedir(sys.argv[1])
import haystack_eval_ext
from haystack_eval_ext._resources import examples_path, pipeline_names, pipeline_path
print(json.dumps({
    "package": haystack_eval_ext.__file__,
    "pipelines": {name: str(pipeline_path(name)) for name in pipeline_names()},
    "examples": str(examples_path()),
}))
"""


def hatchling_build(target: str, source: Path, folder: Path) -> Path:
    """Builds with the build backend that is installed, so without network, and returns the file it made."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = folder.iterdir()
    return made


def unpack(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def files_below(folder: Path) -> set[str]:
    """Relative paths of the files that somebody wrote (not what running them leaves behind)."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if "__pycache__" not in path.parts}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hatchling_build("wheel", CHECKOUT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def unpacked_wheel(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(wheel, tmp_path_factory.mktemp("unpacked"))


@pytest.fixture(scope="session")
def unpacked_editable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `pip install -e .` lays into site-packages: a .pth file and the metadata."""
    editable = hatchling_build("wheel:editable", CHECKOUT, tmp_path_factory.mktemp("editable"))
    return unpack(editable, tmp_path_factory.mktemp("unpacked-editable"))


@dataclass(frozen=True)
class Install:
    """How a fresh Python comes to the package, and the folder where it should then find package and files."""

    python_path: Path | None
    pth_folder: Path | None
    package_parent: Path
    files_parent: Path


def wheel_install(request: pytest.FixtureRequest) -> Install:
    folder = request.getfixturevalue("unpacked_wheel")
    return Install(folder, None, folder, folder / "haystack_eval_ext")


def editable_install(request: pytest.FixtureRequest) -> Install:
    return Install(None, request.getfixturevalue("unpacked_editable"), CHECKOUT, CHECKOUT)


def environment_install(_: pytest.FixtureRequest) -> Install:
    """The installation of the environment that runs the tests: `make test` installs with -e."""
    return Install(None, None, CHECKOUT, CHECKOUT)


def checkout_install(_: pytest.FixtureRequest) -> Install:
    return Install(CHECKOUT, None, CHECKOUT, CHECKOUT)


@pytest.mark.parametrize(
    "install",
    [
        wheel_install,
        pytest.param(editable_install, marks=pytest.mark.slow),
        pytest.param(environment_install, marks=pytest.mark.slow),
        pytest.param(checkout_install, marks=pytest.mark.slow),
    ],
)
def test_shipped_files_are_found(
    install: Callable[[pytest.FixtureRequest], Install], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    case = install(request)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if case.python_path:
        environment["PYTHONPATH"] = str(case.python_path)
    arguments = [str(case.pth_folder)] if case.pth_folder else []
    done = subprocess.run(
        [sys.executable, "-c", LOOK, *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert Path(found["package"]).parent.parent == case.package_parent.resolve()
    assert Path(found["examples"]) == case.files_parent.resolve() / "examples"
    expected = {path.stem: path.name for path in (CHECKOUT / "pipelines").glob("*.yaml")}
    folder = case.files_parent.resolve() / "pipelines"
    assert found["pipelines"] == {name: str(folder / file) for name, file in expected.items()}


@pytest.mark.slow
def test_editable_installation_holds_no_copies(unpacked_editable: Path) -> None:
    (pth,) = unpacked_editable.glob("*.pth")
    assert pth.read_text(encoding="utf-8").split() == [str(CHECKOUT)]
    assert not (unpacked_editable / "haystack_eval_ext").exists()


def test_wheel_holds_the_package_the_pipelines_and_the_examples_only(unpacked_wheel: Path) -> None:
    expected = {f"haystack_eval_ext/{name}" for name in files_below(CHECKOUT / "haystack_eval_ext")}
    for folder in ("pipelines", "examples"):
        expected |= {f"haystack_eval_ext/{folder}/{name}" for name in files_below(CHECKOUT / folder)}
    built = files_below(unpacked_wheel)
    information = {name for name in built if name.split("/")[0].endswith(".dist-info")}
    assert built - information == expected
    assert {"haystack_eval_ext/py.typed", "haystack_eval_ext/__init__.py"} <= expected
    assert any(name.endswith("/licenses/LICENSE") for name in information)


def test_wheel_holds_nothing_that_python_left_behind(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert [name for name in archive.namelist() if "__pycache__" in name or name.endswith(".pyc")] == []


def test_wheel_metadata(unpacked_wheel: Path) -> None:
    (information,) = unpacked_wheel.glob("*.dist-info")
    built = Distribution.at(information)
    assert built.metadata["Name"] == "haystack-eval-ext"
    assert built.version == __version__
    assert built.metadata["Requires-Python"] == ">=3.11"
    assert built.metadata["License-Expression"] == "Apache-2.0"
    assert {"bench", "lexical", "parquet", "sas", "test", "test-sas"} == set(
        built.metadata.get_all("Provides-Extra", [])
    )
    needed = {requirement for requirement in built.requires or [] if "extra ==" not in requirement}
    assert "haystack-ai>=3.0" in needed
    # Heavy packages are asked for by extras alone.
    assert not [requirement for requirement in needed if requirement.startswith(("torch", "pandas"))]
    (command,) = built.entry_points
    assert (command.group, command.name) == ("console_scripts", "haystack-eval")
    assert callable(command.load())


def test_installed_version_is_the_source_version() -> None:
    assert distribution("haystack-eval-ext").version == __version__


@pytest.mark.slow
def test_wheel_from_the_sdist_is_the_wheel_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    sdist = hatchling_build("sdist", CHECKOUT, tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    assert (source / "tests" / Path(__file__).name).is_file()
    from_sdist = hatchling_build("wheel", source, tmp_path / "wheel")
    with zipfile.ZipFile(wheel) as first, zipfile.ZipFile(from_sdist) as second:
        assert sorted(first.namelist()) == sorted(second.namelist())


def test_pipelines_ship_and_are_sorted() -> None:
    names = pipeline_names()
    assert {"bm25_retrieval", "retrieval"} <= set(names)
    assert names == sorted(names)


@pytest.mark.parametrize("suffix", ["", ".yaml"])
@pytest.mark.parametrize("name", ["bm25_retrieval", "retrieval"])
def test_pipeline_path(name: str, suffix: str) -> None:
    path = pipeline_path(name + suffix)
    assert path == CHECKOUT / "pipelines" / f"{name}.yaml"
    assert "components" in yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("retreival", "'retrieval'"),
        ("Retrieval.yaml", "'retrieval'"),
        ("bm25", "'retrieval'"),  # nothing is near: all names are listed
        ("", "'bm25_retrieval'"),
        ("../pyproject", "'retrieval'"),
        ("../pipelines/retrieval.yaml", "'retrieval'"),
        ("retrieval.yml", "'retrieval'"),
        ("retrieval.yaml.yaml", "'retrieval'"),
    ],
)
def test_unknown_pipeline_is_refused_with_the_nearest_names(name: str, nearest: str) -> None:
    with pytest.raises(ValueError, match="must be the name of a shipped pipeline") as caught:
        pipeline_path(name)
    assert nearest in str(caught.value)
    assert f"but is {name!r}" in str(caught.value)


def test_another_packages_folder_is_not_taken_for_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An incomplete installation says so, though site-packages has an `examples` folder that somebody else left."""
    package = tmp_path / "haystack_eval_ext"
    package.mkdir()
    (tmp_path / "examples").mkdir()
    monkeypatch.setattr(_resources, "_PACKAGE", package)
    with pytest.raises(FileNotFoundError, match="installation is incomplete"):
        examples_path()
    (package / "examples").mkdir()
    assert examples_path() == package / "examples"
