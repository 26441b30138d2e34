"""Small tables, which pandas shows better if it is installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Iterator

import numpy as np


class Table(Mapping):
    """Columns by name. ``to_pandas()`` is a DataFrame.

    Parameters
    ----------
    columns : mapping
        Columns of equal length by name.
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._columns)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return max((len(column) for column in self._columns.values()), default=0)

    def to_pandas(self) -> Any:
        """The table as a DataFrame. Needs pandas."""
        import pandas

        return pandas.DataFrame(self._columns)

    def __repr__(self) -> str:
        try:
            return self.to_pandas().to_string()
        except ImportError:
            return self._text()

    def _repr_html_(self) -> str | None:
        try:
            return self.to_pandas().to_html()
        except ImportError:
            return None

    def _text(self) -> str:
        def cell(value: Any) -> str:
            return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)

        cells = [[name, *map(cell, column)] for name, column in self._columns.items()]
        widths = [max(map(len, column)) for column in cells]
        lines = zip(*([text.rjust(width) for text in column] for column, width in zip(cells, widths)))
        return "\n".join("  ".join(line) for line in lines)
