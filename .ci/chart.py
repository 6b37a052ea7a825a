#!/usr/bin/env python3
"""Draws docs/benchmark.svg from docs/benchmark.json, and docs/trust-chain.svg; with --check it only compares."""
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


# What attests what: the name of each box, what it is, its place in columns and rows, and where its arrows lead.
CHAIN = {
    "trust file": (".tflock.trust.hcl", 0, 0, {"signing key": "remembers"}),
    "signing key": ("listed by the registry", 1, 0, {"signature": "made"}),
    "signature": ("SHA256SUMS.sig", 2, 0, {"SHA256SUMS": "covers"}),
    "SHA256SUMS": ("one line for each platform", 2, 1, {"zh:": "lists"}),
    "zh:": ("hash of a package's archive", 1, 1, {"h1:": "contents"}),
    "h1:": ("hash of the files in it", 0, 1, {}),
    "lock file": ("records every zh:, and one h1: for each platform", 0, 2, {}),
}


def box(column, row):
    """The corner of a box, and its size."""
    return column * 260 + 1, row * 92 + 34, 180, 52


def arrow(start, end, label):
    (x, y, width, height), (to_x, to_y, _, _) = start, end
    if y == to_y:
        right = to_x > x
        x1, x2, middle = (x + width, to_x - 7, y + height / 2) if right else (x, to_x + width + 7, y + height / 2)
        text = f'<text class="small" text-anchor="middle" x="{(x1 + x2) / 2:g}" y="{middle - 6:g}">{label}</text>'
        return f'<path marker-end="url(#tip)" d="M{x1:g} {middle:g}H{x2:g}"/>{text}'
    middle = x + width / 2
    text = f'<text class="small" x="{middle + 8:g}" y="{(y + height + to_y) / 2 + 4:g}">{label}</text>'
    return f'<path marker-end="url(#tip)" d="M{middle:g} {y + height:g}V{to_y - 7:g}"/>{text}'


def draw_chain():
    body = ['<text class="title" x="0" y="16">What attests the hashes in a lock file</text>']
    for name, (what, column, row, arrows) in CHAIN.items():
        x, y, width, height = box(column, row)
        width = 700 if row == 2 else width
        kind = "ours" if name in ("trust file", "lock file") else "theirs"
        body.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>')
        body.append(f'<text x="{x + width / 2:g}" y="{y + 22}" text-anchor="middle" font-weight="600">{name}</text>')
        body.append(f'<text class="small" x="{x + width / 2:g}" y="{y + 40}" text-anchor="middle">{what}</text>')
        body += [arrow(box(column, row), box(*CHAIN[to][1:3]), label) for to, label in arrows.items()]
    for column in (0, 1):
        body.append(arrow(box(column, 1), box(column, 2), "recorded in"))
    style = STYLE.replace(".peer{fill:#afb8c1}.ours{fill:#8250df}", "rect{fill:none;stroke:#8c959f}.ours{stroke:#8250df;stroke-width:2}"
                          "path{fill:none;stroke:#59636e}marker path{fill:#59636e;stroke:none}") \
        .replace(".peer{fill:#6e7681}.ours{fill:#a371f7}", "rect{stroke:#6e7681}.ours{stroke:#a371f7}path{stroke:#9198a1}marker path{fill:#9198a1}")
    label = "; ".join(f"{name} ({what})" + "".join(f", {word} {to}" for to, word in arrows.items())
                      for name, (what, _, _, arrows) in CHAIN.items())
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 704 274" width="704" height="274" role="img" '
            f'aria-label="What attests the hashes in a lock file: {html.escape(label)}">\n<style>{style}</style>\n'
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="0" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0 0L8 4L0 8z"/></marker></defs>\n' + "\n".join(body) + "\n</svg>\n")


def main(arguments):
    pictures = {"benchmark.svg": draw(json.loads((DOCS / "benchmark.json").read_text())), "trust-chain.svg": draw_chain()}
    for name, picture in pictures.items():
        if "--check" not in arguments:
            (DOCS / name).write_text(picture)
        elif (DOCS / name).read_text() != picture:
            sys.exit(f"docs/{name} is not what .ci/chart.py draws")


main(sys.argv[1:])
