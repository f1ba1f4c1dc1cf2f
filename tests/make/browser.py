"""Writes ``.github/report.png`` and ``.github/report-dark.png``, the page for a browser as the README shows it, where
there is a headless Chromium: ``python tests/make/browser.py`` after the page changed. With ``pngquant`` the pictures
take a third of the room."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
MODEL = "fixtures/onnx/bad/IRL201-behind-a-convolution.onnx"

#: What shows a page in each of the two schemes.
SCHEMES = {"report.png": (), "report-dark.png": ("--force-dark-mode", "--blink-settings=preferredColorScheme=0")}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def page(folder: Path) -> Path:
    """The page on the model that the README shows in a terminal, too."""
    command = [
        sys.executable,
        "-m",
        "irlint",
        MODEL,
        "--isolated",
        "--fail-on",
        "never",
        "--output",
        str(folder / "report.html"),
    ]
    subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, check=True
    )
    return folder / "report.html"


def main() -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit("no Chromium is installed")
    with TemporaryDirectory() as name:
        address = page(Path(name)).as_uri()
        for file, options in SCHEMES.items():
            picture = ROOT / ".github" / file
            shot = (
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--force-device-scale-factor=1.5",
            )
            size = ("--window-size=1120,830", f"--screenshot={picture}")
            subprocess.run([browser, *shot, *size, *options, address], check=True, capture_output=True)
            if shutil.which("pngquant"):
                subprocess.run(["pngquant", "--force", "--output", str(picture), "64", str(picture)], check=True)
            print(f"wrote .github/{file}")


if __name__ == "__main__":
    main()
