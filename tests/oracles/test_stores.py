"""A store of its own kind: S3, as a server on this machine speaks it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from command.process import BAD, FIXTURES, GOOD, run

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.together,
    pytest.mark.skipif(not (find_spec("s3fs") and find_spec("moto")), reason="s3fs and moto are not installed"),
]

FILES = {
    "models/good.onnx": GOOD,
    "models/sub/bad.onnx": BAD,
    "models/sub/.cache/bad.onnx": BAD,
    "models/sub/readme.md": FIXTURES.parent / "README.md",
    "models/ir.xml": FIXTURES / "openvino" / "good" / "IRL705-invalid-const.xml",
    "models/ir.bin": FIXTURES / "openvino" / "good" / "IRL705-invalid-const.bin",
}


@pytest.fixture(scope="module")
def bucket() -> Iterator[dict[str, str]]:
    """The environment in which a bucket can be read."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    env = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "AKIAIRLINT",
        "AWS_SECRET_ACCESS_KEY": "s3cr3t",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    client = boto3.client(
        "s3",
        endpoint_url=env["AWS_ENDPOINT_URL"],
        aws_access_key_id="x",
        aws_secret_access_key="x",
        region_name="us-east-1",
    )
    client.create_bucket(Bucket="hub")
    for key, path in FILES.items():
        client.put_object(Bucket="hub", Key=key, Body=path.read_bytes())
    try:
        yield env
    finally:
        server.stop()


@pytest.mark.parametrize("path", ["s3://hub", "s3://hub/models/", "s3://hub/models/**"])
def test_folders_and_globs(path: str, bucket: dict[str, str]) -> None:
    result = run(path, "--format", "concise", **bucket)
    assert result.stdout.startswith("s3://hub/models/sub/bad.onnx: error[IRL201] Add:"), result
    assert "Found 1 error in 1 of 3 models.\nChecked 2 ONNX and 1 IR models." in result.stdout
    assert (result.returncode, result.stderr) == (1, "")


def test_files_and_what_is_not_there(bucket: dict[str, str]) -> None:
    result = run("s3://hub/models/sub/bad.onnx", "s3://hub/models/lost.onnx", "--format", "concise", **bucket)
    assert (
        "s3://hub/models/lost.onnx: error[IRL009] the file cannot be opened: the store has no such file"
        in result.stdout
    )
    assert "bad.onnx: error[IRL201]" in result.stdout
    missing = run("s3://nothing/", **bucket)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "s3cr3t" not in missing.stderr


def test_a_run_goes_on_by_tag(bucket: dict[str, str], tmp_path: object) -> None:
    for expected in ("s3://hub/models/good.onnx: checked", ""):
        result = run("s3://hub/models", "--resume", "run.jsonl", "-v", cwd=tmp_path, **bucket)  # type: ignore[arg-type]
        assert "Found 1 error in 1 of 3 models." in result.stdout
        assert (expected in result.stderr) and bool(expected) is bool(result.stderr)
