"""Kind D: how notes fade. The clock is an argument, so these go through the library."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest
from memgrep.search import today

DAYS = {
    name: date.fromisoformat(name).toordinal() - 719_163
    for name in ("2026-03-01", "2026-03-30", "2026-06-09")
}
EXPONENTIAL = {"query__hybrid__temporalDecay__enabled": True, "query__minScore": 0.0}


def factors(ws, day: int, **more: object) -> dict[str, float]:
    with ws.memory(today=day, **EXPONENTIAL, **more) as memory:
        memory.index()
        return {hit.path: hit.explanation.decay for hit in memory.search("lantern oil")}


def test_f033_a_date_counts_at_any_depth(ws):
    ws.write("memory/daily/2026-01-30.md", "lantern oil\n")
    ws.write("memory/topics/x.md", "lantern oil\n")

    decay = factors(ws, DAYS["2026-03-01"])

    assert decay == {"memory/daily/2026-01-30.md": pytest.approx(0.5, rel=0.01), "memory/topics/x.md": 1.0}


def test_f034_a_suffix_does_not_stop_ageing(ws):
    ws.write("memory/2026-02-28-standup.md", "lantern oil\n")

    assert factors(ws, DAYS["2026-03-30"]) == {"memory/2026-02-28-standup.md": pytest.approx(0.5)}


def test_f035_an_impossible_date_is_no_date(ws):
    names = ["memory/2026-02-30.md", "memory/2026-13-01.md", "memory/0000-00-00.md"]
    for name in names:
        ws.write(name, "lantern oil\n")

    assert factors(ws, DAYS["2026-03-30"]) == dict.fromkeys(names, 1.0)


def test_f036_extra_paths_are_evergreen(ws, tmp_path):
    runbook = ws.write("runbooks/r.md", "lantern oil\n")
    import os

    os.utime(runbook, (1.7e9, 1.7e9))

    assert factors(ws, DAYS["2026-03-30"], extraPaths=["runbooks"]) == {"runbooks/r.md": 1.0}


def test_f037_age_is_counted_where_the_user_is(ws):
    """02:10 in Shanghai is still yesterday in UTC."""
    now = datetime(2026, 6, 9, 2, 10, tzinfo=ZoneInfo("Asia/Shanghai")).timestamp()
    ws.write("memory/2026-06-09.md", "lantern oil\n")

    day = today("Asia/Shanghai", now)

    assert day == DAYS["2026-06-09"]
    assert today("UTC", now) == day - 1
    assert factors(ws, day) == {"memory/2026-06-09.md": 1.0}
    assert factors(ws, day - 1) == {"memory/2026-06-09.md": 1.0}, "the future does not count more than today"


def test_the_seeds_table_of_ages(ws):
    """Today 1.00, 7 days 0.85, 30 days 0.50, 90 days 0.125."""
    for name in ("2026-03-30", "2026-03-23", "2026-02-28", "2025-12-30"):
        ws.write(f"memory/{name}.md", "lantern oil\n")

    decay = factors(ws, DAYS["2026-03-30"])

    assert {path[7:17]: round(factor, 3) for path, factor in decay.items()} == {
        "2026-03-30": 1.0,
        "2026-03-23": 0.851,
        "2026-02-28": 0.5,
        "2025-12-30": 0.125,
    }
