"""The columns by which rows of different tables belong together."""

from dataclasses import dataclass

from orchestrator.tables.columns import ColumnKind, TableColumn

RUN = TableColumn("run", ColumnKind.TEXT, "Name of the run, as `orchestrator runs` lists it.", "run")
CELL = TableColumn("cell", ColumnKind.TEXT, "Id of the cell, such as `mxnet-1.9.1-cpu/lenet-train-b200`.", "cell_id")
REPEAT = TableColumn("repeat", ColumnKind.INTEGER, "Number of the repeat, from 0.", "repeat", "")
OF_REPEAT = (RUN, CELL, REPEAT)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatKey:
    """The repeat that a row is of."""

    run: str
    cell_id: str
    repeat: int
