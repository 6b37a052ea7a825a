#!/usr/bin/env python3
"""Draws docs/benchmark.svg from docs/benchmark.json: `.ci/chart.py`, or `.ci/chart.py --check` to compare only."""
import html
import json
import pathlib
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
WIDTH, LABEL, BAR, GAP = 760, 210, 20, 8
STYLE = """text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600;font-size:15px}.small{font-size:11px;fill:#59636e}
.peer{fill:#afb8c1}.ours{fill:#8250df}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9198a1}.peer{fill:#6e7681}.ours{fill:#a371f7}}"""


def draw(data):
    body, y = [], 24
    body.append(f'<text class="title" x="0" y="{y}">{html.escape(data["title"])}</text>')
    y += 18
    body.append(f'<text class="small" x="0" y="{y}">{html.escape(data["subtitle"])}</text>')
    for group in data["groups"]:
        y += 30
        body.append(f'<text x="0" y="{y}">{html.escape(group["name"])}</text>')
        y += 10
        longest = max(value for _, value in group["bars"])
        for name, value in group["bars"]:
            kind = "ours" if name.startswith("tflock") else "peer"
            width = max(2, round((WIDTH - LABEL - 80) * value / longest))
            middle = y + BAR - 6
            body.append(f'<text x="16" y="{middle}">{html.escape(name)}</text>')
            body.append(f'<rect class="{kind}" x="{LABEL}" y="{y}" width="{width}" height="{BAR}" rx="3"/>')
            body.append(f'<text x="{LABEL + width + 8}" y="{middle}">{value:g} {data["unit"]}</text>')
            y += BAR + GAP
    label = f'{data["title"]}: ' + "; ".join(
        f'{group["name"]}: ' + ", ".join(f'{name} {value:g} {data["unit"]}' for name, value in group["bars"])
        for group in data["groups"])
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 8}" width="{WIDTH}" height="{y + 8}" role="img" '
            f'aria-label="{html.escape(label)}">\n<style>{STYLE}</style>\n' + "\n".join(body) + "\n</svg>\n")


def main(arguments):
    picture = draw(json.loads((DOCS / "benchmark.json").read_text()))
    if "--check" in arguments:
        if (DOCS / "benchmark.svg").read_text() != picture:
            sys.exit("docs/benchmark.svg is not what .ci/chart.py draws")
    else:
        (DOCS / "benchmark.svg").write_text(picture)


main(sys.argv[1:])
