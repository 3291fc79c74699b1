#!/usr/bin/env python3
"""The cost model of benches/MODEL.md: staged collective operations of n ranks of one node, each with a core of its own.

Prints the tables of that page; `--write` puts them there, `--far` prints those for cores that share no cache. It measures nothing.
Microseconds and kilobytes. Geometry and parts are those of src/transport/shm/staging/area.rs and src/coll/choose/staging.rs.
"""

import math
import pathlib
import re
import sys

FAR = "--far" in sys.argv
LINE = 0.25 if FAR else 0.1  # a line that another core has written
MORE = 0.025  # a further line that comes with others
COPY, REDUCE = 1 / 12, 1 / 10  # a kilobyte
MESSAGE = 0.5
CALL, PAGES = 2.3, 0.06  # process_vm_readv: a call, and what a kilobyte costs more than copying
RADIX, INLINE = 8, 48 / 1024


def lines(number):
    """So many lines, asked for together."""
    return LINE + (number - 1) * MORE if number > 0 else 0


def slot(n):
    return 16 if n <= 4 else 8 if n <= 16 else 4 if n <= 64 else 2


def large_ring(n):
    return 2048 if n <= 4 else 1024 if n <= 16 else 512 if n <= 64 else 256


def part(n):
    """The longest part of what every rank publishes for each."""
    return 2.0 ** math.floor(math.log2(min(large_ring(n) / 4 / n, 128)))


def levels(n):
    """Children of a rank at each level of the tree."""
    wide = []
    while n > 1:
        wide.append(min(n, RADIX) - 1)
        n = math.ceil(n / RADIX)
    return wide


def beside(b):
    """The first line of data that does not lie in the flag line."""
    return 0 if b <= INLINE else MORE


def barrier_direct(n):
    return lines(n - 1)


def barrier_tree(n):
    return 2 * sum(map(lines, levels(n)))


def allreduce_direct(n, b):
    return b * COPY + lines(n - 1) + (n - 1) * (b * (COPY + REDUCE) + beside(b))


def allreduce_tree(n, b):
    up = sum(lines(w) + w * (b * (COPY + REDUCE) + beside(b)) + b * COPY for w in levels(n))
    down = sum(lines(w) + 2 * b * COPY + beside(b) for w in levels(n))
    return up + down


def rounds_of_parts(n, b):
    """Two rounds a piece; of each other rank's data a flag line and the first line of data come."""
    pieces = math.ceil(b / n / part(n))
    return 2 * LINE + pieces * 2 * (n - 1) * 2 * MORE


def allreduce_parts(n, b):
    """Publish, read and reduce, write twice, take."""
    most = (n - 1) / n * b
    return rounds_of_parts(n, b) + 3 * most * COPY + b / n * COPY + most * REDUCE


def allreduce_messages(n, b):
    steps = math.ceil(math.log2(n))
    doubling = steps * (MESSAGE + b * (2 * COPY + REDUCE))
    halving = 2 * steps * MESSAGE + (n - 1) / n * b * (4 * COPY + REDUCE) + b * COPY
    return min(doubling, halving)


def reduce_direct(n, b):
    """The others publish the next pieces while the root reads one."""
    return min(b, 16) * COPY + lines(n - 1) + (n - 1) * (b * (COPY + REDUCE) + beside(b))


def reduce_tree(n, b):
    return sum(lines(w) + w * (b * (COPY + REDUCE) + beside(b)) + b * COPY for w in levels(n)) + LINE + b * COPY


def bcast_direct(n, b):
    """A piece takes the time of its copy, or, where that is longer, of its flag line to all readers."""
    if b <= 4:
        return 2 * b * COPY + lines(n - 1) + beside(b)
    s = max(min(b, 8), min(b / math.ceil(b / 16), large_ring(n) / 8))
    pieces = math.ceil(b / s)
    room = math.floor(b / large_ring(n)) * lines(n - 1)
    return LINE + s * COPY + pieces * max(s * COPY + MORE, (n - 1) * MORE) + room


def bcast_tree(n, b):
    return LINE + sum(lines(w) + 2 * b * COPY for w in levels(n))


def bcast_messages(n, b):
    steps = math.ceil(math.log2(n))
    chain = (n - 2 + math.ceil(b / 32)) * (MESSAGE + 2 * min(b, 32) * COPY)
    scattered = (steps + n - 1) * MESSAGE + 2 * (n - 1) / n * b * 2 * COPY
    return min(steps * (MESSAGE + 2 * b * COPY), chain, scattered)


def allgather_direct(n, b):
    """b kilobytes of each rank."""
    s = min(max(b, 8), 64, large_ring(n) / 8) if b > 2 else b
    pieces = math.ceil(b / s)
    return LINE + pieces * (n - 1) * (MORE + beside(s)) + n * b * COPY


def allgather_ring(n, b):
    return (n - 1) * (MESSAGE + 2 * b * COPY)


def alltoall_small(n, b):
    """b kilobytes for each rank, in the small rings."""
    return alltoall_staged(n, b, slot(n) / (n - 1))


def alltoall_staged(n, b, longest=None):
    pieces = math.ceil(b / (longest or part(n)))
    return LINE + pieces * (n - 1) * 2 * MORE + 2 * (n - 1) * b * COPY


def alltoall_single_copy(n, b):
    return lines(2 * (n - 1)) + (n - 1) * (CALL + b * (COPY + PAGES)) + min(barrier_direct(n), barrier_tree(n))


RANKS = [4, 16, 64, 256]
ROWS = [
    ("barrier", "direct", lambda n, b: barrier_direct(n), [0]),
    ("", "tree", lambda n, b: barrier_tree(n), [0]),
    ("allreduce", "direct", allreduce_direct, [8 / 1024, 4]),
    ("", "tree", allreduce_tree, [8 / 1024, 4]),
    ("", "parts", allreduce_parts, [4, 64, 1024]),
    ("", "messages", allreduce_messages, [8 / 1024, 4, 64, 1024]),
    ("reduce", "direct", reduce_direct, [1, 64]),
    ("", "tree", reduce_tree, [1]),
    ("", "parts", allreduce_parts, [1, 64]),
    ("bcast", "direct", bcast_direct, [8 / 1024, 64, 1024]),
    ("", "tree", bcast_tree, [8 / 1024]),
    ("", "messages", bcast_messages, [8 / 1024, 64, 1024]),
    ("allgather", "direct", allgather_direct, [1, 64]),
    ("", "messages", allgather_ring, [1, 64]),
    ("alltoall", "small rings", alltoall_small, [1]),
    ("", "large rings", alltoall_staged, [1, 64]),
    ("", "single copy", alltoall_single_copy, [1, 64]),
]
SIZES = [2.0 ** (k / 8) / 1024 for k in range(24, 200)]


def size(b):
    return "" if b == 0 else f"{b * 1024:.0f} B" if b < 1 else f"{b:.0f} KB" if b < 1024 else "1 MB"


def number(us):
    return f"{us:.2f}" if us < 1 else f"{us:.1f}" if us < 10 else f"{float(f'{us:.2g}'):,.0f}"


def border(first, second, values):
    """The least value from which on the second way is cheaper."""
    worse = [at for at, value in enumerate(values) if first(value) <= second(value)]
    at = worse[-1] + 1 if worse else 0
    return values[at] if at < len(values) else None


def times():
    """The table of times."""
    rows = ["| operation | method | bytes |" + "".join(f" {n} |" for n in RANKS)]
    rows.append("|---|---|---:|" + "---:|" * len(RANKS))
    for operation, way, cost, sizes in ROWS:
        for b in sizes:
            rows.append(f"| {operation} | {way} | {size(b)} |" + "".join(f" {number(cost(n, b))} |" for n in RANKS))
            operation = way = ""
    return rows


def trees():
    """The numbers of ranks from which a tree is cheaper."""
    ranks = range(3, 257)
    tree = {"barrier": border(barrier_direct, barrier_tree, ranks)}
    tree["bcast, 8 B"] = border(lambda n: bcast_direct(n, 8 / 1024), lambda n: bcast_tree(n, 8 / 1024), ranks)
    for b in [8 / 1024, 0.25, 1, 4]:
        tree[f"allreduce, {size(b)}"] = border(lambda n: allreduce_direct(n, b), lambda n: allreduce_tree(n, b), ranks)
    return ["ranks from which a tree is cheaper: " + ", ".join(f"{what}: {n}" for what, n in tree.items())]


def borders():
    """The table of bytes from which a method is cheaper."""
    rows = ["| ranks | allreduce in parts | reduce in parts | allreduce by messages | alltoall in large rings | alltoall by single copy |"]
    rows.append("|---:|" + "---:|" * 5)
    for n in [3, 4, 8, 16, 32, 64, 128, 256]:
        def small(n, b):
            return min(allreduce_direct(n, b), allreduce_tree(n, b))

        def rooted(n, b):
            return min(reduce_direct(n, b), reduce_tree(n, b))

        pairs = [(small, allreduce_parts), (rooted, allreduce_parts), (allreduce_parts, allreduce_messages),
                 (alltoall_small, alltoall_staged), (alltoall_staged, alltoall_single_copy)]
        found = [border(lambda b: first(n, b), lambda b: second(n, b), SIZES) for first, second in pairs]
        texts = ["never" if b is None else "always" if b == SIZES[0] else f"{float(f'{1024 * b:.2g}'):,.0f}" for b in found]
        rows.append(f"| {n} | " + " | ".join(texts) + " |")
    return rows


def write(**tables):
    """Puts tables between the marks of the page."""
    page = pathlib.Path(__file__).with_name("MODEL.md")
    text = page.read_text()
    for name, rows in tables.items():
        text, found = re.subn(f"(<!-- {name}: .*\\n)[^!]*(<!-- end of {name} -->)", "\\1" + "\n".join(rows) + "\n\\2", text)
        assert found == 1, name
    page.write_text(text)


if "--write" in sys.argv:
    write(times=times(), bytes=borders())
else:
    print("\n".join([*times(), "", *trees(), "", *borders()]))
