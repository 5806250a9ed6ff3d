"""Signed-in browsers without a script."""

import pytest
from django.test import Client

from tests.support import factories


def client_of(*permissions: str) -> Client:
    client = Client()
    client.force_login(factories.user(permissions=permissions))
    return client


@pytest.fixture
def viewer(db: None) -> Client:
    return client_of("view_run")


@pytest.fixture
def operator(db: None) -> Client:
    return client_of(
        "view_run", "add_run", "change_run", "add_dataset", "change_dataset", "add_engine", "change_engine", "change_host",
        "change_checkpoint",
    )  # fmt: skip
