"""The admin says what follows from an edit."""

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from eagle3web.admin.consequences import of_engine, of_person
from eagle3web.domain.people import issue_token
from eagle3web.models import Engine, Run, User
from tests.support import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> Client:
    client = Client()
    client.force_login(make.user("root", is_staff=True, is_superuser=True))
    return client


def run_on(engine: Engine, status: str = "running", author: User | None = None) -> Run:
    config = {"engines": [{"name": engine.name, "url": engine.url}]}
    return make.run(status=status, config=config, author=author)


def test_engine_in_use_is_named_with_its_runs() -> None:
    engine, other = make.engine(), make.engine()
    run_on(engine, "finished")
    run_on(other)
    make.run(status="running", config={"engines": "odd"})
    assert "No live run is using this engine." in of_engine(engine)
    first, second = run_on(engine), run_on(engine, "queued")
    assert of_engine(engine).startswith(f"r{second.pk}, r{first.pk} are using this engine.")


def test_switching_an_engine_off_says_what_goes_on(root: Client) -> None:
    engine = make.engine(name="kimi-a")
    run = run_on(engine)
    address = reverse("admin:eagle3web_engine_change", args=[engine.pk])
    assert f"r{run.pk} is using this engine." in root.get(address).content.decode()
    response = root.post(address, {"url": engine.url, "protocol": engine.protocol, "model_name": ""})
    said = [str(message) for message in get_messages(response.wsgi_request)]
    assert any("keeps the engines that it started with" in text for text in said)
    assert not Engine.objects.get().enabled


def test_deactivating_a_person_says_what_stops_and_what_goes_on(root: Client) -> None:
    ada = make.user("ada")
    issue_token(ada, "nightly")
    make.channel(ada)
    run = run_on(make.engine(), author=ada)
    assert of_person(ada) == (
        "Without “active” they cannot sign in, open pages close within half a minute, 1 API token stops working and 1 channel "
        f"gets no more messages. r{run.pk}, started by them, goes on. What they did stays in the audit trail."
    )
    address = reverse("admin:eagle3web_user_change", args=[ada.pk])
    assert "goes on." in root.get(address).content.decode()
    response = root.post(address, {"username": "ada"})
    assert any("goes on." in str(message) for message in get_messages(response.wsgi_request))
    assert not User.objects.get(pk=ada.pk).is_active


def test_ordinary_edit_warns_of_nothing(root: Client) -> None:
    ada = make.user("ada")
    response = root.post(reverse("admin:eagle3web_user_change", args=[ada.pk]), {"username": "ada", "is_active": "on"})
    assert not any("goes on" in str(message) for message in get_messages(response.wsgi_request))
