"""Reads files of ids with the programs that train models. A line of stdin names files, and a line of stdout describes
them."""

import hashlib
import json
import os
import sys
import traceback
import warnings

import numpy as np

# Megatron warns of two missing libraries, which reading does not need.
warnings.filterwarnings("ignore")


def described(kind, documents, **more):
    documents = [np.asarray(document, dtype=np.int64) for document in documents]
    ids = np.concatenate([*documents, np.zeros(0, np.int64)])
    assert ids.size == 0 or (ids.min() >= 0 and ids.max() < 2**32)
    ends = np.cumsum([len(document) for document in documents], dtype=np.int64).tolist()
    digest = hashlib.sha256(ids.astype("<u4").tobytes()).hexdigest()
    return {"type": str(np.dtype(kind)), "count": int(ids.size), "sha256": digest, "ends": ends, **more}


def megatron(base, width):
    from megatron.core.datasets.indexed_dataset import IndexedDataset, _IndexReader

    if os.path.getsize(f"{base}.bin") == 0:
        # All documents are empty, so the file of ids is, too. IndexedDataset cannot map an empty file into memory, so
        # only its index is read.
        index = _IndexReader(f"{base}.idx", multimodal=False)
        return described(index.dtype, [np.zeros(length) for length in index.sequence_lengths])
    data = IndexedDataset(base)
    first = data.document_indices
    sequences = [data[i] for i in range(len(data))]
    documents = [np.concatenate([*sequences[a:b], np.zeros(0, np.int64)]) for a, b in zip(first[:-1], first[1:])]
    return described(data.index.dtype, documents)


def olmo(base, width):
    from olmo_core.data.types import NumpyDatasetDType
    from olmo_core.data.utils import iter_document_indices

    kind = NumpyDatasetDType[f"uint{8 * width}"].as_np_dtype()
    if os.path.getsize(f"{base}.npy") == 0:
        return described(kind, [])
    ids = np.memmap(f"{base}.npy", mode="r", dtype=kind)
    return described(kind, [ids[a:b] for a, b in iter_document_indices(f"{base}.npy", dtype=kind)])


def datatrove(base, width):
    from datatrove.pipeline.tokens.merger import get_data_reader, load_doc_ends
    from datatrove.utils.dataset import DatatroveFileDataset

    kind = np.dtype(f"<u{width}")
    ends = load_doc_ends(open(f"{base}.ds.index", "rb"))
    documents = [np.frombuffer(data, kind) for data in get_data_reader(open(f"{base}.ds", "rb"), ends, width)]
    # nanotron trains on windows of `length` + 1 ids, and on the positions of these ids. A position counts from the
    # beginning of the id's document, or of the window if that is later.
    length = 63
    windows = DatatroveFileDataset(f"{base}.ds", length, token_size=width, return_positions=True)
    ids = np.concatenate([*documents, np.zeros(0, kind)])
    starts = np.repeat([0, *ends][: len(documents)], [len(document) for document in documents])
    for i in range(len(windows)):
        at = slice(i * (length + 1), (i + 1) * (length + 1))
        assert np.array_equal(windows[i]["input_ids"].numpy(), ids[at].astype(np.int64))
        places = np.arange(at.start, at.stop) - np.maximum(starts[at], at.start)
        assert np.array_equal(windows[i]["positions"].numpy(), places)
    return described(kind, documents)


def llmc(base, width):
    """Loads a shard like train_gpt2.py and train_llama3.py of llm.c, which is not a package."""
    head = np.fromfile(f"{base}.bin", "<i4", 256)
    magic, version, kind = {2: (20240520, 1, "<u2"), 4: (20240801, 7, "<u4")}[width]
    assert (head[0], head[1]) == (magic, version)
    ids = np.fromfile(f"{base}.bin", kind, offset=1024)
    assert len(ids) == head[2]
    return described(kind, [ids])


def parquet(base, width):
    import datasets
    import duckdb
    import pyarrow.parquet

    path = f"{base}.parquet"
    table = pyarrow.parquet.read_table(path)
    kind = table.schema.field("input_ids").type.value_type.to_pandas_dtype()
    documents = table["input_ids"].to_pylist()
    datasets.disable_progress_bars()
    loaded = datasets.load_dataset("parquet", data_files=path, split="train", cache_dir=f"{base}-cache")
    assert loaded["input_ids"][:] == documents
    rows = duckdb.sql(f"select input_ids from '{path}'").fetchall()
    assert [row[0] for row in rows] == documents
    kept = {name: [str(value) for value in table[name].to_pylist()] for name in table.column_names if name != "input_ids"}
    assert all([str(value) for value in loaded[name][:]] == values for name, values in kept.items())
    return described(kind, documents, kept=kept)


readers = {"megatron": megatron, "olmo": olmo, "datatrove": datatrove, "llmc": llmc, "parquet": parquet}
for line in sys.stdin:
    asked = json.loads(line)
    try:
        # OLMo-core looks for a name without a directory in "/".
        found = readers[asked["format"]](os.path.abspath(asked["base"]), asked["width"])
    except Exception:
        found = {"error": traceback.format_exc()}
    print(json.dumps(found), flush=True)
