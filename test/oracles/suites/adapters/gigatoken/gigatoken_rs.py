import os
from pathlib import Path


def hub_file(repo_id, filename, **_):
    path = Path(os.environ["BPE_SUITES_MODELS"], repo_id.replace("/", "--"), filename)
    if not path.exists():
        raise ConnectionError("files of Hugging Face's hub")
    return path
