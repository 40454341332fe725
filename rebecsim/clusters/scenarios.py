"""From scenario files of any kind to plans, and from stored runs back to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebecsim.clusters.kinds import find_kind, kind_names, load_installed_plugins, loaded_plugins
from rebecsim.clusters.kit.plugins import UnknownNameError
from rebecsim.errors import UserError
from rebecsim.studies.plan import Plan, SweptStudy, plan_study
from rebecsim.studies.record import (
    FORMAT,
    ResultsError,
    described,
    recorded_scenario,
    require_same_results,
)
from rebecsim.studies.run_directory import RECORD, require_plain
from rebecsim.studies.scenario import StudyScenario, validated
from rebecsim.studies.scenario_files import (
    FieldError,
    FieldPath,
    ScenarioError,
    ScenarioProblem,
    ScenarioText,
    builtin_folder,
    field_problems,
    line_of,
    read_scenario_text,
)
from rebecsim.studies.study import Study
from rebecsim.trust import Consent, refuse_programs, require_consent

if TYPE_CHECKING:  # storing takes packages that models alone do not need
    from rebecsim.studies.stored_runs import StoredRun


@dataclass(frozen=True)
class LoadedScenario:
    """A scenario, what paths in it start from, and what is searched in it, if anything is."""

    scenario: Any
    folder: Path = Path()
    search: Any = None

    @property
    def study(self) -> Study:
        """Its kind."""
        return find_kind(self.scenario.kind)

    def plan(self, **changes: object) -> Plan:
        """Lay out its cells, with some fields changed. Raises ScenarioError."""
        return plan_scenario(self.scenario.replace(**changes), self.folder).asked(self.search)


def load(source: str | Path | ScenarioText, consent: Consent = refuse_programs) -> LoadedScenario:
    """Read and validate a scenario of any kind.

    `source` is the name of a built-in scenario, or the path of a TOML file (a file that is called
    like a built-in scenario needs a folder in its path, such as `./for_edf`). Its kind, policies
    and patterns are those of this package, of plug-ins loaded before and of installed plug-ins. A
    model in Python that it names is executed, for which `consent` is asked first.

    Raises ScenarioError, which names everything that is wrong with the file, PluginError for a
    plug-in that cannot be used, and UntrustedCodeError without consent.
    """
    load_installed_plugins()
    text = source if isinstance(source, ScenarioText) else read_scenario_text(source)
    study = kind_of(text)
    scenario = validated(study.scenario, text.origin, text.values, text.lines)
    folder = text.folder
    named = SweptStudy(study, scenario).files()
    if missing := tuple(_missing_files(named, folder, text)):
        raise ScenarioError(text.origin, missing)
    require_consent(consent, text.origin, (folder / each for each in named.values()))
    try:
        return LoadedScenario(scenario.completed(folder), folder)
    except FieldError as error:
        raise ScenarioError(text.origin, field_problems(error, text.lines)) from error


def load_scenario(source: str | Path) -> Any:
    """Read and validate a scenario without the folder of its file; else as `load`."""
    return load(source).scenario


def plan_scenario(scenario: StudyScenario, folder: Path = Path()) -> Plan:
    """Lay out the cells of a scenario; paths in it start from `folder`."""
    return plan_study(find_kind(scenario.kind), scenario, folder, loaded_plugins())


def open_run(directory: Path, name: str | None = None) -> StoredRun:
    """Open a run to read it; its kind and its plug-ins are not needed.

    Raises ResultsError when there is none, something in it leads elsewhere, or its record is
    damaged.
    """
    from rebecsim.studies.results import Results
    from rebecsim.studies.stored_runs import stored_run

    require_plain(directory)
    record = Results(directory).record()
    if record["format"] < FORMAT:
        plan = _earlier_plan(directory, record)
        record |= {"kind": plan.study.kind} | described(plan)
    return stored_run(directory, record, name)


_LARGEST_FILE = 512 * 1024 * 1024


def plan_of_run(run: StoredRun) -> Plan:
    """Lay out the cells of a stored run anew.

    Paths in its scenario start from the working directory, or from the folder where the files that
    it names are as they were: a trace has the names of jobs and users.

    Raises ResultsError when its kind is that of a plug-in which is not loaded, its scenario is
    none, or has other cells and columns than the run.
    """
    path = run.results.directory / RECORD
    try:
        study = find_kind(run.kind)
    except UnknownNameError as error:
        raise ResultsError(
            f"{path}: {error}; a kind of a plug-in is reported with that plug-in only"
        ) from error
    scenario = recorded_scenario(path, run.record, study.scenario)
    plan = _planned(path, scenario)
    if plan.files():
        for folder in (Path(), run.results.directory.parent, builtin_folder()):
            if _has_files_of(run, replace(plan, folder=folder)):
                plan = _planned(path, scenario, folder)
                break
    stored = {name for columns in run.record["tables"].values() for name in columns}
    plan = replace(plan, lacking=study.later_columns - stored).asked(run.record.get("search"))
    require_same_results(path, run.record, plan)
    return plan


def _has_files_of(run: StoredRun, plan: Plan) -> bool:
    files = [plan.folder / each for each in plan.files().values()]
    try:
        return all(
            each.is_file() and each.stat().st_size <= _LARGEST_FILE for each in files
        ) and all(run.record.get(name) == digest for name, digest in plan.fingerprints().items())
    except OSError:
        return False


def _planned(path: Path, scenario: StudyScenario, folder: Path = Path()) -> Plan:
    """Lay out the scenario of a record. Raises ResultsError if that is not possible."""
    try:
        return plan_scenario(scenario, folder)
    except UserError as error:
        raise ResultsError(f"{path}: holds an invalid scenario: {error}") from error


def _earlier_plan(directory: Path, record: Mapping[str, Any]) -> Plan:
    """Plan a run of a format that did not say of which kind its scenario is."""
    path = directory / RECORD
    if isinstance(record["scenario"].get("workload"), dict):
        raise ResultsError(
            f"{path}: is of format {record['format']}, which stores schedules differently; run "
            "the comparison again"
        )
    return _planned(path, recorded_scenario(path, record, _like(record["scenario"]).scenario))


def _like(values: Mapping[str, Any]) -> Study:
    """Find the kind that a scenario without a name of a kind looks like; without one, the first."""
    names = kind_names()
    like = (each for each in map(find_kind, names) if each.scenario.is_like(values))
    return next(like, None) or find_kind(names[0])


def kind_of(text: ScenarioText) -> Study:
    """Find the kind that a scenario names. Raises ScenarioError."""
    name = text.values.get("kind")
    if isinstance(name, str):
        try:
            return find_kind(name)
        except UnknownNameError as error:
            problem = ScenarioProblem(str(error), "kind", line_of(("kind",), text.lines))
            raise ScenarioError(text.origin, [problem]) from error
    names = kind_names()
    if name is not None:
        what = f"must be one of {', '.join(names)}, in quotes"
    else:
        like = _like(text.values).kind
        what = f'is missing (the kind of cluster: {", ".join(names)}); add kind = "{like}"'
    raise ScenarioError(
        text.origin, [ScenarioProblem(what, "kind", line_of(("kind",), text.lines))]
    )


def _missing_files(
    named: Mapping[FieldPath, str], folder: Path, text: ScenarioText
) -> Iterator[ScenarioProblem]:
    for path, name in named.items():
        if not (folder / name).is_file():
            field = ".".join(map(str, path))
            yield ScenarioProblem(
                f"there is no file {folder / name}", field, line_of(path, text.lines)
            )
