"""Trains a tokenizer on a Spark cluster: plans, counts on the executors, adds up, trains.

    spark-submit --master spark://... --files dist/bpe examples/spark/train.py \
        /shared/corpus/*.txt --vocab-size 32000 --special-token "<|endoftext|>" --output /shared/tokenizer

`--files` sends the executable to the executors, which need nothing else but Python. (On YARN, a driver outside of the
cluster does not get these files: submit from the directory of `bpe`.) Executors must have the corpus under the same
paths (a shared folder). The driver needs memory for training, and space in $TMPDIR for the sum of the counts: about 15
bytes for each distinct word. Counting is exact unless `--min-count` is given, and a task that runs twice counts once:
the merges are those of one process, wherever the corpus is cut and whatever is retried.
"""

import argparse
import contextlib
import itertools
import operator
import os
import stat
import subprocess
import sys
import tempfile

from pyspark import SparkContext, SparkFiles, StorageLevel


def parse_arguments():
    parser = argparse.ArgumentParser(description="train a tokenizer with a Spark cluster")
    parser.add_argument("files", nargs="+", help="corpus, under paths that every executor sees")
    parser.add_argument("-n", "--vocab-size", required=True)
    parser.add_argument("-o", "--output", required=True, help="tokenizer directory")
    parser.add_argument("-s", "--special-token", action="append", default=[], help="repeatable")
    parser.add_argument("-p", "--pattern", default="gpt2")
    parser.add_argument("--compat", default="cs336")
    parser.add_argument("--range-size", default="256MB", help="how much text a task counts")
    parser.add_argument("--min-count", default="1", help="a task leaves out words that it meets fewer times")
    parser.add_argument("--partitions", type=int, default=64, help="of the sum; the driver reads one after another")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    special_tokens = [f"--special-token={token}" for token in arguments.special_token]
    options = [*special_tokens, f"--pattern={arguments.pattern}", f"--compat={arguments.compat}"]
    spark = SparkContext(appName="bpe train")
    # Make a plan, with one line for each range. Paths are absolute, because every task runs in its own directory.
    paths = [os.path.abspath(path) for path in arguments.files]
    plan = list(run_bpe("plan", *paths, "--quiet", f"--range-size={arguments.range_size}", *options))
    words = (
        spark.parallelize(plan, len(plan))
        .mapPartitions(lambda ranges: count(ranges, [*options, f"--min-count={arguments.min_count}"]))
        .reduceByKey(operator.add, arguments.partitions)
        .mapPartitions(as_tsv)
        .persist(StorageLevel.DISK_ONLY)
    )
    words.count()  # Computes all partitions in parallel. Below, they are written one after another.
    with tempfile.TemporaryDirectory() as directory:
        counts = os.path.join(directory, "sum.tsv")
        with open(counts, "wb") as file:
            file.write(header(options))
            file.writelines(words.toLocalIterator())
        sizes = [f"--vocab-size={arguments.vocab_size}", f"--output={arguments.output}"]
        trained = subprocess.run([bpe(), "train", f"--counts={counts}", *options, *sizes])
    spark.stop()
    sys.exit(trained.returncode)


def header(options):
    """Returns the first line of counts, which has the options that affect words. It does not depend on the text."""
    return next(run_bpe("count", "-", "--quiet", *options, stdin=b"any"))


def count(ranges, options):
    """Yields the distinct words of a task with their counts. Words stay escaped, because they are only keys."""
    lines = run_bpe("count", "--ranges=-", "--workers=1", "--quiet", *options, stdin=b"".join(ranges))
    next(lines)  # The header: it is the same for all tasks.
    for line in lines:
        word, count = line.split(b"\t")
        yield word, int(count)


def as_tsv(words):
    """Yields blocks of lines, because each object is work for the driver."""
    while block := b"".join(b"%b\t%d\n" % word for word in itertools.islice(words, 10_000)):
        yield block


def run_bpe(*arguments, stdin=b""):
    """Yields the lines that `bpe` prints. If `bpe` fails, its stderr becomes the error of the task, or of the job."""
    pipe = subprocess.PIPE
    with subprocess.Popen([bpe(), *arguments], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        # A process that fails at once does not read its stdin. Its message is raised below.
        with contextlib.suppress(BrokenPipeError), process.stdin:
            process.stdin.write(stdin)
        yield from process.stdout
        message = process.stderr.read().decode(errors="replace").strip()
    if process.returncode != 0:
        raise RuntimeError(f"bpe {arguments[0]} ended with {process.returncode}: {message}")


def bpe():
    """Returns the path of the executable that --files sent: that of SparkFiles or, on YARN, the working directory."""
    found = [path for path in (SparkFiles.get("bpe"), os.path.abspath("bpe")) if os.path.isfile(path)]
    if not found:
        raise FileNotFoundError("the executable did not come with the job: spark-submit --files dist/bpe")
    if not os.access(found[0], os.X_OK):
        os.chmod(found[0], os.stat(found[0]).st_mode | stat.S_IXUSR)
    return found[0]


main()
