#!/usr/bin/env python3
"""Draws a part of a timeline (mpiexec -timeline FILE) as SVG.

usage: timeline.py FILE.json BEGIN END > PICTURE.svg      times in milliseconds since the first call
"""
import html
import json
import sys

COLOURS = {
    "send": "#4c78a8",
    "receive": "#f58518",
    "exchange": "#72b7b2",
    "completion": "#e45756",
    "collective": "#54a24b",
    "other": "#b0b0b0",
    "sleep": "#d8d8d8",
}
WIDTH, LEFT, ROW, TOP = 1000, 60, 46, 30


def main():
    file, begin, end = sys.argv[1], float(sys.argv[2]) * 1000, float(sys.argv[3]) * 1000
    with open(file) as text:
        events = json.load(text)["traceEvents"]
    ranks = sorted({event["pid"] for event in events})
    row = {rank: TOP + at * ROW for at, rank in enumerate(ranks)}
    scale = (WIDTH - LEFT - 10) / (end - begin)

    def x(time):
        return LEFT + (min(max(time, begin), end) - begin) * scale

    out = []
    height = TOP + ROW * len(ranks) + 40
    out.append(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">')
    out.append(f'<rect width="{WIDTH}" height="{height}" fill="white"/>')
    for rank in ranks:
        out.append(f'<text x="4" y="{row[rank] + 18}">rank {rank}</text>')
        out.append(f'<rect x="{LEFT}" y="{row[rank]}" width="{WIDTH - LEFT - 10}" height="28" fill="#f4f4f4"/>')
    for event in events:
        if event["ph"] != "X" or event["ts"] > end or event["ts"] + event["dur"] < begin:
            continue
        left, right = x(event["ts"]), x(event["ts"] + event["dur"])
        asleep = event.get("cat") == "sleep"
        y, tall = row[event["pid"]] + (20 if asleep else 0), 8 if asleep else 20
        width = max(right - left, 0.6)
        colour = COLOURS.get(event.get("cat"), "#b0b0b0")
        name = html.escape(event["name"])
        out.append(f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{tall}" fill="{colour}"><title>{name}, {event["dur"]:.1f} us</title></rect>')
        if not asleep and width > 7 * len(event["name"]):
            out.append(f'<text x="{left + 3:.1f}" y="{y + 14}" fill="white">{name}</text>')
    starts = {(e["name"], e["id"]): e for e in events if e["ph"] == "s"}
    for event in events:
        start = starts.get((event.get("name"), event.get("id"))) if event["ph"] == "f" else None
        if start is None or start["ts"] < begin or event["ts"] > end:
            continue
        dash = "" if event["name"] == "message" else ' stroke-dasharray="4 3"'
        out.append(
            f'<line x1="{x(start["ts"]):.1f}" y1="{row[start["pid"]] + 10}" x2="{x(event["ts"]):.1f}" '
            f'y2="{row[event["pid"]] + 10}" stroke="#333" stroke-width="0.8"{dash}/>'
        )
    for part in range(6):
        time = begin + (end - begin) * part / 5
        out.append(f'<text x="{x(time) - 14:.0f}" y="{TOP - 10}">{time / 1000:.2f} ms</text>')
    for at, (kind, colour) in enumerate(COLOURS.items()):
        left = LEFT + at * 130
        out.append(f'<rect x="{left}" y="{height - 22}" width="12" height="12" fill="{colour}"/>')
        out.append(f'<text x="{left + 17}" y="{height - 12}">{kind}</text>')
    out.append("</svg>")
    print("\n".join(out))


main()
