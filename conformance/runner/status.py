"""`status`: what the suite holds, how much of it is recorded, and how old that is."""

from __future__ import annotations

from collections import Counter

from .cases import Case
from .discover import plan


def status(cases: list[Case]) -> str:
    folders = [case for case in cases if case.row is None]
    adapters = sorted({case.adapter for case in folders if case.adapter})
    rows = [
        f"{len(folders)} folders, {len(cases) - len(folders)} rows, {len(plan(cases, adapters))} checks for a plug that claims everything",
        "",
    ]
    groups = sorted({case.path.split("/")[0] for case in cases})
    rows.append(
        f"{'':<22}{'folders':>8}{'rows':>7}{'recorded':>10}{'documented':>12}{'constructed':>13}{'drafts':>8}  newest recording"
    )
    for group in groups:
        mine = [case for case in folders if case.path.split("/")[0] == group]
        kinds = Counter(case.meta.get("source", {}).get("kind") for case in mine)
        dates = sorted(str(case.meta["source"]["date"]) for case in mine if case.meta.get("source", {}).get("date"))
        count = sum(case.row is not None and case.path.split("/")[0] == group for case in cases)
        drafts = sum(bool(case.meta.get("draft")) for case in mine)
        rows.append(
            f"{group:<22}{len(mine):>8}{count:>7}{kinds['recorded']:>10}{kinds['documented']:>12}{kinds['constructed']:>13}{drafts:>8}"
            f"  {dates[-1] if dates else '–'}"
        )
    return "\n".join(rows)
