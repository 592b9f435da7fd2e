"""Judges the groups of an archive on Spark: `on_spark.py ARCHIVE TO WORKERS`. Says when each begins, and the seconds that it took."""

import sys
import time
from pathlib import Path

import make
import seamgate.spark
from pyspark.sql import SparkSession


def main(archive: Path, to: Path, workers: int) -> None:
    """Judge each group by its contract."""
    spark = (
        # A task whose worker ends is tried again, three times.
        SparkSession.builder.master(f"local[{workers},4]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")
        # A file is a task.
        .config("spark.sql.files.maxPartitionBytes", "64m")
        .config("spark.sql.files.openCostInBytes", "64m")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "1024")
        .getOrCreate()
    )
    for group in make.GROUPS:
        print("begin", group, flush=True)
        start = time.monotonic()
        frame = spark.read.parquet(str(archive / group))
        judged = seamgate.spark.judge(frame, make.contract(group), finish="finish")
        judged.write.parquet(str(to / group))
        print("end", time.monotonic() - start, flush=True)
    whole = spark.read.parquet(*[str(to / group) for group in make.GROUPS])
    (to / "summary.html").write_text(seamgate.archive.page(seamgate.spark.summary(whole)))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
