"""Pages with parts that a command writes."""

from pathlib import Path


def table(rows: list[list[str]]) -> str:
    """A table in Markdown, of rows that are all as long."""
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def headed(rows: list[list[str]]) -> str:
    """A table in Markdown, whose first row is its heading."""
    return table([rows[0], ["---"] * len(rows[0]), *rows[1:]])


def share(part: int, whole: int) -> str:
    """A number, and its share."""
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "-"


def write(page: Path, mark: str, text: str) -> None:
    """Put a text between its marks."""
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, rest = page.read_text().split(begin)
    _, after = rest.split(end)
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")
