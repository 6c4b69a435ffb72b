"""The conformance suite's command line.

    python3 conformance/runner run [options] -- CMD...        check an implementation that speaks JSON lines
    python3 conformance/runner run --serve -- CMD...          start an Interlingua server and check it over gRPC
    python3 conformance/runner run --grpc HOST:PORT           check a running Interlingua server
    python3 conformance/runner doctor -- CMD...               is the plug itself in order?
    python3 conformance/runner lint | status | trace | mutants | render | diff | gaps | upstream | record | fill | freeze

Exit status: 0 nothing unexpected, 1 something failed or nothing passed, 2 wrong use, 3 the plug does not start or claims what does not exist.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import shlex
import sys
from pathlib import Path

if __package__ in (None, ""):
    # Run as a folder: give the modules their package name, so that they import each other the same way everywhere.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from runner import PROTOCOL_VERSION, SUITE_VERSION, render
from runner.cases import Case, CaseError, read, wires
from runner.parallel import planned, run_in_processes
from runner.plug import NO_PROXY, PlugError, nearest
from runner.reaching import UsageError, plugged, reached
from runner.requirements import scored
from runner.session import Session
from runner.upstream import environment
from runner.verdict import BAD, Gap, GapError, assign_gaps, clean, conforms, read_gaps
from runner.verdict import run as run_checks


def main(arguments: list[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    command: list[str] = []
    if "--" in arguments:
        split = arguments.index("--")
        arguments, command = arguments[:split], arguments[split + 1 :]
    if not arguments:
        _parser().print_help()
        return 2
    options = _parser().parse_args(arguments)
    options.command = command
    try:
        return options.verb(options)
    except (UsageError, GapError, CaseError, render.ReportFormatError) as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    except PlugError as error:
        print(f"conformance: {error}\nconformance: try `doctor`", file=sys.stderr)
        return 3
    except BrokenPipeError:
        # The reader of the output left; leave quietly, and keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="conformance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    _run_options(verbs.add_parser("run", help="check an implementation"))
    doctor = verbs.add_parser("doctor", help="explain in words what is wrong with a plug")
    _plug_options(doctor)
    doctor.add_argument("--cases", action="append", type=Path, metavar="DIR", help="the folder of a wire of your own")
    doctor.set_defaults(verb=_doctor)
    _other_verbs(verbs)
    return parser


def _plug_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--grpc", metavar="HOST:PORT", help="a running Interlingua server instead of a command")
    parser.add_argument(
        "--upstream",
        metavar="HOST:PORT",
        help="with --grpc: where the server finds its providers, see protocol.md#generate; play them there",
    )
    parser.add_argument(
        "--policy",
        type=Path,
        metavar="FILE",
        help="with --grpc or --serve: the file in which the server was told to find its policy; it is written while checks run",
    )
    parser.add_argument("--serve", action="store_true", help="the command starts a server; ask it over gRPC")
    parser.add_argument("--timeout", type=float, default=10.0, metavar="SECONDS", help="for one answer (10)")


def _run_options(parser: argparse.ArgumentParser) -> None:
    _plug_options(parser)
    parser.add_argument(
        "-k", action="append", metavar="PATTERN", help="only checks whose id holds this, or fits this glob"
    )
    parser.add_argument("--adapter", help="only checks of this adapter")
    parser.add_argument(
        "--cases", action="append", type=Path, metavar="DIR", help="other cases than the suite's own; may repeat"
    )
    parser.add_argument("--profile", help="only the checks of this profile, and a verdict on it")
    parser.add_argument("--gaps", type=Path, metavar="FILE", help="declared gaps, TOML")
    parser.add_argument(
        "--jobs",
        type=_jobs,
        default=1,
        metavar="N",
        help="run in N processes, each with an implementation of its own (1)",
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write report.jsonl")
    for name in ("junit", "tap", "markdown", "badge"):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=f"write the report as {name} too")
    parser.add_argument("--all", action="store_true", help=f"show all failures, not the first {render.MOST_SHOWN}")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only the headline and what failed")
    parser.add_argument("--list", action="store_true", help="print the ids of the checks and run nothing")
    parser.set_defaults(verb=_run)


def _other_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    lint = verbs.add_parser("lint", help="check the suite's own files")
    lint.add_argument("--cases", action="append", type=Path, metavar="DIR")
    lint.set_defaults(verb=_lint)
    status = verbs.add_parser("status", help="what the suite holds: cases, sources, drafts")
    status.add_argument("--cases", action="append", type=Path, metavar="DIR")
    status.set_defaults(verb=_status)
    trace = verbs.add_parser("trace", help="which clause of the specification and which requirement is shown by what")
    trace.add_argument("--strict", action="store_true", help="fail when a MUST clause has no check and no reason")
    trace.add_argument("--output", type=Path, metavar="FILE", help="write the table here (Markdown)")
    trace.set_defaults(verb=_trace)
    mutants = verbs.add_parser("mutants", help="run the broken plugs that must be caught")
    mutants.add_argument("-k", metavar="PATTERN", help="only mutants whose name holds this")
    mutants.add_argument("--cases", action="append", type=Path, metavar="DIR")
    mutants.set_defaults(verb=_mutants)
    rendered = verbs.add_parser("render", help="another format of a report")
    rendered.add_argument("report", type=Path, nargs="+")
    rendered.add_argument("--format", choices=sorted(render.FORMATS), default="text")
    rendered.add_argument("--profile")
    rendered.add_argument("--all", action="store_true", help="as text: show all failures")
    rendered.set_defaults(verb=_render)
    differ = verbs.add_parser("diff", help="compare two reports")
    differ.add_argument("before", type=Path)
    differ.add_argument("after", type=Path)
    differ.set_defaults(verb=_diff)
    gaps = verbs.add_parser("gaps", help="draft a gap file from a report")
    gaps.add_argument("report", type=Path)
    gaps.add_argument("--write", type=Path, metavar="FILE", help="add to this file; comments in it are kept")
    gaps.set_defaults(verb=_gaps)
    upstream = verbs.add_parser("upstream", help="the environment in which a server finds the scripted providers")
    upstream.add_argument("address", metavar="HOST:PORT")
    upstream.set_defaults(verb=_environment)
    _writing_verbs(verbs)


def _writing_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    record = verbs.add_parser("record", help="save one exchange as a case: wire files, scrubbed")
    record.add_argument("case", help="adapter/name")
    record.add_argument(
        "--request", type=Path, metavar="FILE", help="the request: {method, path, body}, or the body alone"
    )
    record.add_argument("--stream", action="store_true", help="the answer is a stream")
    record.add_argument("--title", default="")
    record.add_argument("--provider", default=None)
    record.add_argument("--cases", type=Path, metavar="DIR")
    record.set_defaults(verb=_record)
    fill = verbs.add_parser("fill", help="let an implementation draft the canonical side of a case")
    fill.add_argument("case", help="adapter/name")
    fill.add_argument("--cases", type=Path, metavar="DIR")
    _plug_options(fill)
    fill.set_defaults(verb=_fill)
    freeze = verbs.add_parser("freeze", help="write the requirements of a release: checks and hashes of their files")
    freeze.add_argument("version")
    freeze.add_argument("--release", metavar="DATE", type=_day, help="the day of the release; the file then stays")
    freeze.set_defaults(verb=_freeze)


def _jobs(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError("a whole number, one or more")
    return int(text)


def _day(text: str) -> str:
    try:
        return dt.date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError("a day as YYYY-MM-DD") from None


def _run(options: argparse.Namespace) -> int:
    if options.jobs > 1 and (options.grpc or options.policy):
        raise UsageError(
            "--jobs starts an implementation for each process: it goes with a command, and without --policy"
        )
    cases = read(options.cases)
    if options.adapter and options.adapter not in (known := wires(options.cases)):
        raise UsageError(f"--adapter {options.adapter} is not an adapter of the suite{nearest(options.adapter, known)}")
    with reached(options) as session:
        checks = planned(options, cases, session)
        if options.list:
            print("\n".join(check.id for check in checks))
            return 0
        if not checks:
            raise UsageError(f"no check fits{_nearest_ids(options, cases)}")
        partial = bool(options.k or options.adapter or options.profile)
        gaps, renamed = _gaps_of(options, cases)
        assigned = assign_gaps(gaps, checks, renamed, partial)
        if options.jobs == 1:
            results = list(run_checks(session, checks, assigned))
    if options.jobs > 1:
        results = run_in_processes(options, checks, assigned)
    counts = scored()
    for result in results:
        # A must-check that the newest release does not know; the other levels never decide on conformance.
        result.scored = bool(options.cases) or result.check.level != "must" or counts(result.check.id)
    return _write(options, render.Report(_header(options, session, partial), [result.line() for result in results]))


def _nearest_ids(options: argparse.Namespace, cases: list[Case]) -> str:
    """What may be meant by a pattern that fits nothing: the cases with a name like it."""
    if not options.k:
        return ""
    known = {case.path for case in cases} | {case.path.rpartition("/")[2] for case in cases}
    return "".join(f" {pattern!r}{nearest(pattern.partition('#')[0], known)}" for pattern in options.k)


def _gaps_of(options: argparse.Namespace, cases: list[Case]) -> tuple[list[Gap], dict[str, str]]:
    """The declared gaps, and the cases that have another name by now."""
    gaps = read_gaps(options.gaps) if options.gaps else []
    renamed = {old: case.path for case in cases for old in case.meta.get("was", [])}
    for gap in gaps:
        old = gap.check.partition("#")[0]
        if old in renamed:
            print(f"conformance: renamed: {old} is now {renamed[old]}", file=sys.stderr)
    return gaps, renamed


def _header(options: argparse.Namespace, session: Session, partial: bool) -> dict[str, object]:
    return {
        "kind": "header",
        "suite": SUITE_VERSION,
        "protocol": PROTOCOL_VERSION,
        "implementation": session.hello["implementation"],
        "adapters": session.adapters,
        "operations": session.hello.get("operations", []),
        "profile": options.profile,
        "partial": partial,
        "narrowed": bool(options.k or options.adapter),
    }


def _write(options: argparse.Namespace, report: render.Report) -> int:
    if options.report:
        options.report.write_text("\n".join(report.lines()) + "\n", "utf-8")
    for name in ("junit", "tap", "markdown", "badge"):
        path = getattr(options, name)
        if path:
            shown = render.badge(report, options.profile) if name == "badge" else render.FORMATS[name](report)
            path.write_text(shown, "utf-8")
    if options.serve:
        again = ["--serve", "--", *options.command]
    elif options.grpc:
        again = ["--grpc", options.grpc, *(["--upstream", options.upstream] if options.upstream else [])]
    else:
        again = ["--", *options.command]
    if options.policy:
        again = ["--policy", str(options.policy), *again]
    most = None if options.all else render.MOST_SHOWN
    print(render.text(report, flags(), again, options.profile, most, verdicts=not options.quiet), end="")
    if not clean(report.checks) or not any(line["outcome"] == "pass" for line in report.checks):
        return 1
    return 0 if not options.profile or conforms(report.checks, options.profile)[0] else 1


def flags() -> dict[str, dict[str, object]]:
    from runner.compare import loads
    from runner.schema import CONFORMANCE

    path = CONFORMANCE / "flags.json"
    return loads(path.read_bytes())["flags"] if path.is_file() else {}


def _doctor(options: argparse.Namespace) -> int:
    from runner.doctor import examine

    with plugged(options) as (plug, _):
        advice = examine(plug, wires(options.cases))
    print("\n".join(advice.lines))
    return 0 if advice.healthy else 1


def _lint(options: argparse.Namespace) -> int:
    from runner.lint import lint

    problems, warnings = lint(options.cases)
    for warning in warnings:
        print(f"note  {warning}")
    for problem in problems:
        print(f"lint  {problem}")
    print(f"{len(problems)} problems, {len(warnings)} notes")
    return 1 if problems else 0


def _status(options: argparse.Namespace) -> int:
    from runner.status import status

    print(status(read(options.cases)))
    return 0


def _trace(options: argparse.Namespace) -> int:
    from runner import seeds
    from runner.trace import trace

    table, unchecked = trace(read(None))
    table = f"# Clauses\n\n{table}\n# Requirements\n\n{seeds.page(seeds.read())}"
    if options.output:
        options.output.write_text(table, "utf-8")
    else:
        print(table, end="")
    for clause in unchecked:
        print(f"trace  {clause}: neither a check nor a reason", file=sys.stderr)
    return 1 if unchecked and options.strict else 0


def _mutants(options: argparse.Namespace) -> int:
    from runner.mutants import run_mutants

    return run_mutants(options.cases, options.k)


def _render(options: argparse.Namespace) -> int:
    reports = [render.read_report(path) for path in options.report]
    if options.format == "markdown":
        print(render.markdown(reports), end="")
        return 0
    for report in reports:
        shown = (
            render.text(report, flags(), None, options.profile, None if options.all else render.MOST_SHOWN)
            if options.format == "text"
            else render.FORMATS[options.format](report)
        )
        print(render.badge(report, options.profile) if options.format == "badge" else shown, end="")
    return 0


def _diff(options: argparse.Namespace) -> int:
    before, after = render.read_report(options.before), render.read_report(options.after)
    print(render.diff(before, after), end="")
    old = {line["id"]: line["outcome"] for line in before.checks}
    return 1 if any(line["outcome"] in BAD and old.get(line["id"]) not in BAD for line in after.checks) else 0


def _gaps(options: argparse.Namespace) -> int:
    from runner.gaps import draft

    report = render.read_report(options.report)
    if report.header.get("partial"):
        raise UsageError("the report is of a partial run; gaps are drafted only from a whole one")
    added = draft(report, options.write)
    print(added, end="")
    return 0


def _record(options: argparse.Namespace) -> int:
    from runner.recording import record

    print(
        record(
            options.case,
            options.command,
            options.request,
            options.stream,
            options.title,
            options.provider,
            options.cases,
        )
    )
    return 0


def _fill(options: argparse.Namespace) -> int:
    from runner.recording import fill

    with reached(options) as session:
        print(fill(options.case, session, options.cases))
    return 0


def _environment(options: argparse.Namespace) -> int:
    host, _, port = options.address.rpartition(":")
    if not host or not port.isdigit():
        raise UsageError(f"HOST:PORT is wanted, got {options.address!r}")
    told = {**NO_PROXY, **environment(options.address)}
    print("\n".join(f"export {name}={shlex.quote(value)}" for name, value in told.items()))
    return 0


def _freeze(options: argparse.Namespace) -> int:
    from runner.requirements import freeze

    print(freeze(options.version, read(None), options.release))
    return 0


if __name__ == "__main__":
    sys.exit(main())
