"""What a stage gets to know."""

import pytest
from pytest_django import Settings

from eagle3web.domain.stage_environment import is_secret, stage_environment

SECRET = {
    "DATABASE_URL": "postgres://db/eagle3",
    "REDIS_URL": "redis://broker/0",
    "EAGLE3_SECRET_KEY": "x",
    "HF_TOKEN": "hf_x",
    "WANDB_API_KEY": "x",
    "AWS_ACCESS_KEY_ID": "x",
    "AWS_SECRET_ACCESS_KEY": "x",
    "AWS_SESSION_TOKEN": "x",
    "PGPASSWORD": "x",
    "smtp_password": "x",
    "GOOGLE_APPLICATION_CREDENTIALS": "/key.json",
    "HTTPS_PROXY": "http://ada:secret@proxy:3128",
}
AWS = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}
PLAIN = {
    "PATH": "/usr/bin",
    "HOME": "/root",
    "CUDA_VISIBLE_DEVICES": "0,1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HOME": "/models",
    "NCCL_SOCKET_IFNAME": "eth0",
    "http_proxy": "http://proxy:3128",
    "EAGLE3_HOME": "/srv/eagle3",
    "KEYBOARD": "us",
}


@pytest.mark.parametrize("name", SECRET)
def test_secrets_are_kept_back(name: str) -> None:
    assert is_secret(name, SECRET[name])


def test_everything_else_is_passed_on() -> None:
    assert stage_environment(PLAIN | SECRET) == PLAIN


def test_what_an_administrator_names_is_let_through_but_never_our_own(settings: Settings) -> None:
    settings.EAGLE3_STAGE_SECRETS = ["HF_TOKEN", "DATABASE_URL"]
    assert stage_environment(SECRET) == {"HF_TOKEN": "hf_x"}


@pytest.mark.parametrize(("store", "names"), [("/mnt/store", set()), ("s3://team/eagle3", AWS)])
def test_credentials_of_a_bucket_are_let_through_where_stages_need_one(settings: Settings, store: str, names: set[str]) -> None:
    settings.EAGLE3_ARTIFACTS = store
    assert set(stage_environment(SECRET)) == names
