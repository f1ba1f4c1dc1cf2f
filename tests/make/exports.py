"""Makes some hundred models with the exporters that people use, and measures irlint on them by asking their engines.

``python tests/make/exports.py make FOLDER [PART...]`` writes the models whose names begin with or contain a PART (all
without one) of which the packages are installed, and lists what failed; what already exists is not made again. Random
weights, no downloads.

    networks of torch           torch, onnx, onnxscript, onnxruntime, openvino; for what a recipe names: torchvision,
    timm,
                                transformers, segmentation-models-pytorch, nncf, onnxslim, onnxsim, onnxconverter-common
    estimators of scikit-learn  scikit-learn, skl2onnx
    networks of TensorFlow      tensorflow-cpu, tf2onnx (best in an environment of their own)

``python tests/make/exports.py probe FOLDER [PART...]`` needs irlint (from PYTHONPATH), onnxruntime and openvino: it
asks irlint of each model, then the engine at many sizes, and prints the figures and each disagreement; ``--json FILE``
keeps them, and ``--resume`` goes on with such a file.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).parent))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("command", choices=["list", "make", "probe"])
    options.add_argument("folder", type=Path)
    options.add_argument("parts", nargs="*")
    options.add_argument("--json", type=Path)
    options.add_argument("--sizes", type=int, default=40, help="so many sizes are asked of each model")
    options.add_argument("--resume", action="store_true", help="asks only of models that the JSON file does not have")
    options.add_argument("--again", action="store_true", help="makes what is there or failed before once more")
    given = options.parse_args()
    if given.command == "probe":
        from exporting import probing

        probing.run(given.folder, given.parts, given.sizes, given.json, given.resume)
    else:
        from exporting import making

        making.run(given.folder, given.parts, listing=given.command == "list", again=given.again)


if __name__ == "__main__":
    main()
