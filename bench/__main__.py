"""`python -m bench`: fill, api, executions, engine, streams, scale, sweep, one_organization."""

from __future__ import annotations

import argparse
import os
from typing import Any


def main() -> None:
    """Choose a program."""
    chosen = _parser().parse_args()
    programs = {
        "fill": lambda: _fill(chosen.items),
        "api": lambda: _api(chosen),
        "sweep": lambda: _sweep(chosen),
        "scale": lambda: _scale(chosen),
        "one_organization": lambda: _one_organization(chosen),
        "executions": lambda: _executions(chosen),
        "engine": lambda: _engine(chosen),
        "streams": lambda: _streams(chosen),
    }
    programs[chosen.program]()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    programs = parser.add_subparsers(dest="program", required=True)
    fill = programs.add_parser("fill", help="rows in bulk")
    fill.add_argument("--items", type=int, default=10_000)
    api = programs.add_parser("api", help="over HTTP beside bare psycopg")
    api.add_argument("--items", type=int, default=10_000)
    api.add_argument("--seconds", type=float, default=4)
    api.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    api.add_argument("--only", nargs="+", default=[], metavar="CALL")
    sweep = programs.add_parser("sweep", help="requests beside retention")
    sweep.add_argument("--rows", type=int, default=200_000)
    sweep.add_argument("--seconds", type=float, default=10)
    sweep.add_argument("--clients", type=int, default=8)
    scale = programs.add_parser("scale", help="how costs grow with the rows, and the plans")
    scale.add_argument("--sizes", type=int, nargs="+", default=[10_000, 1_000_000])
    scale.add_argument("--seconds", type=float, default=3)
    one = programs.add_parser("one_organization", help="creates into one beside eight")
    one.add_argument("--rounds", type=int, default=10)
    one.add_argument("--seconds", type=float, default=3)
    _of_executions(programs)
    return parser


def _of_executions(programs: Any) -> None:
    executions = programs.add_parser("executions", help="executions beside bare psycopg")
    executions.add_argument("--rows", type=int, default=100_000)
    executions.add_argument("--seconds", type=float, default=3)
    executions.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    executions.add_argument("--only", nargs="+", default=[], metavar="CALL")
    engine = programs.add_parser("engine", help="executions through the runner protocol")
    engine.add_argument("--runners", type=int, nargs="+", default=[1, 4, 16])
    engine.add_argument("--seconds", type=float, default=4)
    streams = programs.add_parser("streams", help="open streams: memory, wake-ups, clean-up")
    streams.add_argument("--streams", type=int, default=1000)
    streams.add_argument("--wakes", type=int, default=50)


def _fill(items: int) -> None:
    from bench import fill, installation

    installation.prepare()
    fill.principals()
    fill.fill(items)


def _scale(chosen: argparse.Namespace) -> None:
    from bench import installation

    installation.prepare()
    from bench import scale

    scale.run(sizes=chosen.sizes, seconds=chosen.seconds)


def _sweep(chosen: argparse.Namespace) -> None:
    from bench import installation

    installation.prepare()
    from bench import sweep

    sweep.run(rows=chosen.rows, seconds=chosen.seconds, clients=chosen.clients)


def _engine(chosen: argparse.Namespace) -> None:
    from bench import installation

    installation.prepare()
    from bench import engine

    engine.run(runners=chosen.runners, seconds=chosen.seconds)


def _executions(chosen: argparse.Namespace) -> None:
    from bench import executions

    executions.run(
        rows=chosen.rows, seconds=chosen.seconds, clients=chosen.clients, only=chosen.only
    )


def _one_organization(chosen: argparse.Namespace) -> None:
    from bench import installation

    installation.prepare()
    from bench import one_organization

    one_organization.run(rounds=chosen.rounds, seconds=chosen.seconds)


def _streams(chosen: argparse.Namespace) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stigmer.settings")
    from bench import streams

    streams.run(streams=chosen.streams, wakes=chosen.wakes)


def _api(chosen: argparse.Namespace) -> None:
    from bench import api

    api.run(items=chosen.items, seconds=chosen.seconds, clients=chosen.clients, only=chosen.only)


if __name__ == "__main__":
    main()
