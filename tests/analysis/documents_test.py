"""Every command of docs/figures.md runs, and the figures that stand there are the ones it draws."""

import os
import shutil
import subprocess
import sys
import unittest

import support

support.need_modules()

import matplotlib  # noqa: E402

#: Of the figures that are committed: other releases place things otherwise.
DRAWN_WITH = "3.6.3"


class Figures(support.Scratch):
    def test_commands_run_and_draw_the_figures(self):
        text = (support.SOURCE / "docs" / "figures.md").read_text(encoding="utf-8")
        for folder in ("scenarios", "platforms", "analysis"):
            os.symlink(support.SOURCE / folder, self.path / folder)
        for folder in ("build", "bin", "docs/figures"):
            (self.path / folder).mkdir(parents=True)
        os.symlink(support.simgrad(), self.path / "build" / "simgrad")
        os.symlink(sys.executable, self.path / "bin" / "python3")
        environment = dict(os.environ, PATH=f"{self.path / 'bin'}:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1")
        blocks = [block.split("```")[0] for block in text.split("```sh\n")[1:]]
        self.assertGreaterEqual(len(blocks), 5)
        for block in blocks:
            called = subprocess.run(["bash", "-euc", block], cwd=self.path, env=environment, capture_output=True, text=True,
                                    timeout=100)
            self.assertEqual(called.returncode, 0, block + called.stderr)
        shown = sorted(path.name for path in (support.SOURCE / "docs" / "figures").glob("*.svg"))
        self.assertEqual(sorted(path.name for path in (self.path / "docs" / "figures").glob("*.svg")), shown)
        for name in shown:
            committed = support.SOURCE / "docs" / "figures" / name
            self.assertIn(f"(figures/{name})", text)
            self.assertLess(committed.stat().st_size, 60_000)
            if matplotlib.__version__ == DRAWN_WITH:
                drawn = self.path / "docs" / "figures" / name
                self.assertEqual(committed.read_text(encoding="utf-8"), drawn.read_text(encoding="utf-8"),
                                 f"{name} is another figure now: run the commands of docs/figures.md again")


if __name__ == "__main__":
    if not shutil.which("bash"):
        support.skip("no bash")
    unittest.main()
