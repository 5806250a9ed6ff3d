"""Datasets, checkpoints, engines and hosts at a shell, against a real server."""

import json

from tests.pipeline.remote.conftest import Remote
from tests.support import factories


def test_datasets_are_listed_with_their_revisions(remote: Remote) -> None:
    dataset = factories.dataset(slug="B3_math", title="Sums")
    revision = factories.revision(dataset)
    assert "B3_math" in remote("datasets", "-q", "math")[1]
    assert revision.revision[:12] in remote("dataset", "B3_math")[1]
    assert json.loads(remote("dataset", "B3_math", "--json")[1])["revisions"][0]["accepted"] == 1000


def test_checkpoint_is_promoted_and_its_command_printed(remote: Remote) -> None:
    row = factories.checkpoint(best=True, step=400, folder=True)
    code, out, _ = remote("checkpoints", "--run", f"r{row.run_id}")
    assert code == 0
    assert out.splitlines()[1].split()[:5] == [str(row.pk), f"r{row.run_id}", "400", "2.69", "1.352"]
    assert "not approved" in remote("promote", row.pk)[2]
    assert remote("promote", row.pk, "--anyway")[1] == f"r{row.run_id} step 400 is the drafter of {row.project.slug}\n"
    assert [found["id"] for found in json.loads(remote("checkpoints", "--promoted", "--json")[1])] == [row.pk]
    code, out, _ = remote("command", row.pk)
    assert code == 0
    assert len(out.splitlines()) == 1
    assert f"--speculative-draft-model-path {row.path}" in " ".join(out.split())


def test_engines_and_hosts_are_listed(remote: Remote) -> None:
    factories.engine(name="kimi-a", state="down", reason="refused")
    factories.host(name="gpu-07")
    assert "refused" in remote("engines")[1]
    assert remote("hosts")[1].splitlines()[1].split()[0] == "gpu-07"
    factories.project(slug="kimi")
    assert "kimi" in remote("projects")[1]
