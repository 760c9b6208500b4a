"""``windlass plan profile``: accuracy and cost of each plan of a video pipeline on a clip."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from windlass.cli.output import check_report, note, print_lines, print_tables, write_json, write_report
from windlass.cli.plan.clip import needs_opencv
from windlass.cli.plan.profile_output import best_plans, summary, table_of, tree_of
from windlass.cli.progress import counted_progress
from windlass.io import check_file
from windlass.model import InputError
from windlass.plan.profile import stream_plans, write_plans
from windlass.plan.profile.comparison import front, run_alone
from windlass.plan.profile.tracks import Tracks, read_truth

if TYPE_CHECKING:
    from windlass.plan.profile.agreement import GoldenAgreement
    from windlass.plan.profile.clipinfo import ClipInfo
    from windlass.plan.profile.pipeline import Pipeline
    from windlass.plan.profile.running import PlanProfile

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """The pipeline, the clip, and the files to write.

    Parameters
    ----------
    pipeline, clip, truth
        The files to read. Without a truth, the tracks of the pipeline's golden plan are the labels. With one, the
        golden plan is compared with it.
    cache
        Maximum size of cached outputs, bytes.
    alone
        Also run each plan separately.
    out, report
        The files to write.
    keep_within
        Keep the profile of ``out`` if the plans of its front differ by at most this in accuracy; None to
        always profile.
    """

    pipeline: Path
    clip: Path
    truth: Path | None
    cache: float
    alone: bool
    out: Path
    report: Path | None
    keep_within: float | None = None


def bytes_of(given: str) -> float:
    """Return an amount of bytes, read from the option.

    Raises
    ------
    InputError
        The text is not an amount of bytes.

    Examples
    --------
    >>> bytes_of("900MB"), bytes_of("1.5 GiB")
    (900000000.0, 1610612736.0)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", given)
    if found is None or found[2].upper() not in _UNITS:
        raise InputError(f"--cache is {given!r}, expected an amount of bytes, as in 900MB")
    return float(found[1]) * _UNITS[found[2].upper()]


def profile_command(options: ProfileOptions, *, as_json: bool) -> None:
    """Profile a pipeline, and write and print the profile."""
    needs_opencv("profile")
    # Imported here, since OpenCV is optional.
    from windlass.plan.profile.clip import about
    from windlass.plan.profile.pipeline import read_pipeline
    from windlass.plan.profile.running import profile

    pipeline, clip = read_pipeline(options.pipeline), about(options.clip)
    inputs = tuple(file for file in (options.pipeline, options.clip, options.truth) if file is not None)
    check_file("--out", options.out, inputs, b"PAR1")
    check_report(options.report, inputs)
    truth = _labels(options, pipeline, clip)
    if options.keep_within is not None and options.out.exists():
        line, kept = _still_holds(options, options.keep_within, pipeline, clip, truth)
        note(line)
        if kept:
            return
    golden_check = _golden_check(options, pipeline, clip, truth)
    with counted_progress("plans") as update:
        found = profile(pipeline.plans, clip, truth, options.cache, notify=update)
    plans = [each.plan for each in found.plans]
    write_plans(plans, options.out)
    alone = None
    if options.alone:
        with counted_progress("separate plans") as update:
            alone = run_alone(pipeline.plans, clip, truth, found, update)
    agreed = None if golden_check is None else golden_check(found)
    lead, lines = best_plans(plans), summary(found, options, clip, alone, agreed)
    if options.report is not None:
        from windlass.cli.plan.plots import page_of

        title = f"Plans of {pipeline.name} on {options.clip.name}"
        write_report(options.report, page_of(title, [lead, *lines], plans, front(plans)))
    if as_json:
        write_json(tree_of(pipeline.name, clip, options, found, alone, agreed))
        return
    print_lines([lead], wrap=True)
    print_tables(table_of(plans))
    print_lines([*lines, f"written: {options.out}"], wrap=True)


def _labels(options: ProfileOptions, pipeline: Pipeline, clip: ClipInfo) -> Tracks:
    """Return the true tracks of the clip, or those of the golden plan."""
    from windlass.plan.profile.golden import golden_tracks

    if options.truth is not None:
        return read_truth(options.truth, clip)
    if pipeline.golden is None:
        raise InputError(
            f"{options.pipeline}: golden is missing, expected a plan that labels the clip; or pass --truth"
        )
    return golden_tracks(pipeline.golden, clip)


def _golden_check(
    options: ProfileOptions, pipeline: Pipeline, clip: ClipInfo, truth: Tracks
) -> Callable[[PlanProfile], GoldenAgreement] | None:
    """Run the golden plan, and return its comparison with the true tracks; None if the command lacks one of them."""
    if options.truth is None or pipeline.golden is None:
        return None
    # Imported here, since few runs need SciPy's statistics, and golden plans need OpenCV.
    from windlass.plan.profile.agreement import agreement
    from windlass.plan.profile.golden import tracks_of

    labels = tracks_of(pipeline.golden, clip)
    return partial(agreement, pipeline.golden, labels, truth, pipeline.plans, clip=clip)


def _still_holds(
    options: ProfileOptions, most: float, pipeline: Pipeline, clip: ClipInfo, truth: Tracks
) -> tuple[str, bool]:
    """Return what the check of the existing profile found, as a sentence, and whether the profile is kept."""
    from windlass.plan.profile.recheck import recheck

    try:
        found = recheck(stream_plans(options.out), pipeline.plans, clip, truth, options.cache)
    except InputError as error:
        raise InputError(f"--keep-within: {options.out}: {error}") from error
    kept = found.largest <= most
    return (
        f"{options.out}: {len(found.labels)} of its plans differ by at most {found.largest:.3f} in accuracy on "
        f"{options.clip.name}, {found.seconds:.1f} CPU s; "
        + ("the profile is kept" if kept else f"more than {most:g}, so all plans are profiled"),
        kept,
    )
