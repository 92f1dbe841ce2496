"""The session that python/README.md shows, run as a reader would."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "session.py"


class Session(unittest.TestCase):
    def test_the_session_runs_from_its_first_line_to_its_last(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "HF_HOME": home, "HF_HUB_OFFLINE": "1", "PYTHONWARNINGS": "default"}
            command = [sys.executable, str(SCRIPT)]
            run = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=100)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertNotIn("Exception ignored", run.stderr)
            self.assertTrue(Path(home, "session-tokenizer", "tokenizer.json").is_file())
        lines = run.stdout.splitlines()
        self.assertEqual(
            lines[0],
            "<bpe_trainer.Tokenizer of 2,000 tokens, 3 of them special> "
            "{'bos_token': '<s>', 'eos_token': '</s>', 'pad_token': '<pad>'}",
        )
        self.assertTrue(lines[1].startswith("[('import', (0, 6)), ("), lines[1])
        self.assertIn("    features: ['input_ids', 'attention_mask'],", lines)

    def test_the_page_shows_the_session(self) -> None:
        code = SCRIPT.read_text("utf-8").split('"""\n\n', 1)[1]
        self.assertIn(f"```python\n{code}```", (ROOT / "python" / "README.md").read_text("utf-8"))


if __name__ == "__main__":
    unittest.main()
