"""Judges the groups of an archive on Ray: `on_ray.py ARCHIVE TO WORKERS`. Says when each begins, and the seconds that it took."""

import logging
import sys
import time
from pathlib import Path

import make
import ray
import seamgate.ray


def main(archive: Path, to: Path, workers: int) -> None:
    """Judge each group by its contract."""
    ray.init(
        num_cpus=workers + 1,
        object_store_memory=1024**3,
        include_dashboard=False,
        logging_level=logging.ERROR,
        log_to_driver=False,
    )
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    # Many pieces, so that there is a middle.
    context.target_max_block_size = 1024**2
    for group in make.GROUPS:
        print("begin", group, flush=True)
        start = time.monotonic()
        dataset = ray.data.read_parquet(str(archive / group), override_num_blocks=make.FILES)
        judged = seamgate.ray.judge(dataset, make.contract(group), finish="finish", workers=workers)
        judged.write_parquet(str(to / group))
        print("end", time.monotonic() - start, flush=True)
    summary = seamgate.ray.summary(ray.data.read_parquet(str(to)))
    (to / "summary.html").write_text(seamgate.archive.page(summary))
    ray.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
