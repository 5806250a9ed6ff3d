"""One table over every way in: each address, method, API operation and socket topic refuses whoever may not.

A new route, method or topic without an entry here fails `test_table_covers_everything`.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from eagle3web.api import api
from eagle3web.asgi import application, sockets
from eagle3web.domain.datasets import revision_folder
from eagle3web.enums import AttemptStatus, Prunable
from eagle3web.models import User
from eagle3web.pages.topics import ID, TOPICS
from tests.support import factories as make
from tests.support.system import System

PUBLIC = "public"
SIGNED_IN = ""
"""Every signed-in person, whatever their role."""
OWN = SIGNED_IN
"""What belongs to the person: another one's is not theirs, whatever their role (see the views' own tests)."""
LOOK = "view_run"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
Rule = dict[str, str]
"""Method → permissions, all of which are needed, separated by spaces. Every other method is not allowed to anybody."""


def pages(needs: str, *methods: str) -> Rule:
    return dict.fromkeys(methods or ("GET",), needs)


def acts(needs: str) -> Rule:
    return pages(f"{LOOK} {needs}", "GET", "POST")


ATTEMPT = "runs/<int:run_id>/attempts/<int:number>/"
PAGES: dict[str, Rule] = {
    "": pages(LOOK),
    "sign-in/": pages(PUBLIC, *METHODS),
    "sign-in/link/<str:token>": pages(PUBLIC, "GET", "POST"),
    "sign-out/": pages(SIGNED_IN, "POST"),
    "projects/": pages(LOOK),
    "budgets/": pages(LOOK),
    "runs/": pages(LOOK),
    "projects/<str:slug>/": pages(LOOK),
    "needs/<int:project_id>/": pages(LOOK),
    "projects/<str:slug>/budgets/": pages(LOOK),
    "projects/<str:slug>/budgets/plan/": pages(LOOK),
    "projects/<str:slug>/budgets/plan/save/": acts("change_tokenbudget"),
    "answers/": pages(LOOK),
    "projects/<str:slug>/answers/": pages(LOOK),
    "projects/<str:slug>/answers/summary/": pages(LOOK),
    "projects/<str:slug>/answers/review/": pages(LOOK),
    "projects/<str:slug>/answers/<int:answer_id>/": pages(LOOK),
    "projects/<str:slug>/answers/<int:answer_id>/flag/": pages(f"{LOOK} add_answerflag", "POST"),
    "projects/<str:slug>/flags/<int:flag_id>/exclude/": pages(f"{LOOK} change_answerflag", "POST"),
    "projects/<str:slug>/flags/<int:flag_id>/keep/": pages(f"{LOOK} change_answerflag", "POST"),
    "projects/<str:slug>/runs/": pages(LOOK),
    "projects/<str:slug>/runs.csv": pages(LOOK),
    "projects/<str:slug>/runs.json": pages(LOOK),
    "projects/<str:slug>/runs/stop/": acts("change_run"),
    "projects/<str:slug>/runs/tag/": acts("change_run"),
    "projects/<str:slug>/compare/": pages(LOOK),
    "projects/<str:slug>/views/": pages(LOOK, "POST"),
    "projects/<str:slug>/runs/new/": acts("add_run"),
    "projects/<str:slug>/runs/new/pipeline/": acts("add_run"),
    "projects/<str:slug>/runs/new/extract/": acts("add_run"),
    "projects/<str:slug>/runs/new/train/": acts("add_run"),
    "projects/<str:slug>/runs/new/benchmark/": acts("add_run"),
    "projects/<str:slug>/runs/new/serve/": acts("add_run"),
    "runs/<int:run_id>/": pages(LOOK),
    ATTEMPT: pages(LOOK),
    f"{ATTEMPT}log/": pages(LOOK),
    f"{ATTEMPT}log.txt": pages(LOOK),
    f"{ATTEMPT}points/": pages(LOOK),
    f"{ATTEMPT}samples/": pages(LOOK),
    "runs/<int:run_id>/star/": pages(LOOK, "POST"),
    "runs/<int:run_id>/tags/": acts("change_run"),
    "runs/<int:run_id>/notes/": acts("change_run"),
    "runs/<int:run_id>/stop/": acts("change_run"),
    "runs/<int:run_id>/pause/": acts("change_run"),
    "runs/<int:run_id>/unpause/": acts("change_run"),
    "runs/<int:run_id>/resume/": acts("change_run"),
    "runs/<int:run_id>/settle/": acts("change_run"),
    "runs/<int:run_id>/concurrency/": acts("change_run"),
    "runs/<int:run_id>/drafter/": acts("change_run"),
    "runs/<int:run_id>/clone/": acts("add_run"),
    "checkpoints/": pages(LOOK),
    "projects/<str:slug>/checkpoints/": pages(LOOK),
    "checkpoints/<int:checkpoint_id>/": pages(LOOK),
    "checkpoints/<int:checkpoint_id>/promote/": acts("change_checkpoint"),
    "checkpoints/<int:checkpoint_id>/propose/": acts("change_checkpoint"),
    "checkpoints/<int:checkpoint_id>/approve/": acts("change_checkpoint"),
    "checkpoints/<int:checkpoint_id>/reject/": acts("change_checkpoint"),
    "checkpoints/<int:checkpoint_id>/comments/": pages(LOOK, "GET", "POST"),
    "runs/<int:run_id>/comments/": pages(LOOK, "GET", "POST"),
    "comments/<int:comment_id>/": pages(OWN, "GET", "POST"),
    "comments/<int:comment_id>/remove/": pages(OWN, "GET", "POST"),
    "checkpoints/<int:checkpoint_id>/download.tar": pages(LOOK),
    "benchmarks/": pages(LOOK),
    "projects/<str:slug>/benchmarks/": pages(LOOK),
    "benchmarks/<int:benchmark_id>/": pages(LOOK),
    "datasets/": pages(LOOK),
    "datasets/import/": acts("add_dataset"),
    "datasets/<str:slug>/": pages(LOOK),
    "datasets/<str:slug>/edit/": acts("change_dataset"),
    "datasets/<str:slug>/prompts/": pages(LOOK),
    "datasets/<str:slug>/revisions/<int:revision_id>/report.json": pages(LOOK),
    "datasets/<str:slug>/revisions/<int:revision_id>/dismiss/": acts("add_dataset"),
    "engines/": pages(LOOK),
    "engines/register/": acts("add_engine"),
    "hosts/<path:name>/": pages(LOOK),
    "hosts/<path:name>/drain/": acts("change_host"),
    "hosts/<path:name>/undrain/": acts("change_host"),
    "retention/": pages(LOOK),
    "retention/preview/": pages(LOOK),
    "retention/prune/": pages(f"{LOOK} change_retentionpolicy", "GET", "POST"),
    "retention/rules/<str:kind>/": pages(f"{LOOK} change_retentionpolicy", "GET", "POST"),
    "retention/own/<int:policy_id>/drop/": pages(f"{LOOK} change_retentionpolicy", "GET", "POST"),
    "search/": pages(LOOK),
    "me/": pages(OWN),
    "me/time-zone/": pages(OWN, "POST"),
    "me/password/": pages(OWN, "GET", "POST"),
    "me/tokens/": pages(OWN, "POST"),
    "me/tokens/<int:token_id>/revoke/": pages(OWN, "GET", "POST"),
    "me/channels/new/": pages(OWN, "GET", "POST"),
    "me/channels/<int:channel_id>/": pages(OWN, "GET", "POST"),
    "me/channels/<int:channel_id>/test/": pages(OWN, "POST"),
    "me/channels/<int:channel_id>/remove/": pages(OWN, "GET", "POST"),
    "audit/": pages("view_auditentry"),
    "audit/export.csv": pages("view_auditentry"),
    "audit/export.json": pages("view_auditentry"),
    "healthz": pages(PUBLIC),
    "favicon.ico": pages(PUBLIC),
}
"""The site's own pages."""
API: dict[str, Rule] = {
    "openapi.json": pages(SIGNED_IN),
    "docs": pages(SIGNED_IN),
    "me": pages(SIGNED_IN),
    "projects": {"GET": "view_project", "POST": "add_project"},
    "projects/<slug>": {"GET": "view_project", "PATCH": "change_project"},
    "projects/<slug>/budgets": {"GET": "view_tokenbudget", "POST": "add_tokenbudget"},
    "projects/<slug>/forecast": pages("view_tokenbudget"),
    "projects/<slug>/plan": pages("view_tokenbudget", "POST"),
    "projects/<slug>/answers": pages("view_answer"),
    "projects/<slug>/flags": pages("view_answerflag"),
    "projects/<slug>/exclusions": pages("view_answerflag"),
    "answers/<answer_id>": pages("view_answer"),
    "answers/<answer_id>/flag": pages("add_answerflag", "POST"),
    "answers/flags/<flag_id>/exclude": pages("change_answerflag", "POST"),
    "answers/flags/<flag_id>/keep": pages("change_answerflag", "POST"),
    "budgets/<budget_id>": {"GET": "view_tokenbudget", "PATCH": "change_tokenbudget"},
    "budgets/<budget_id>/history": pages("view_tokenbudget"),
    "datasets": pages("view_dataset"),
    "datasets/import": pages("add_dataset", "POST"),
    "datasets/<slug>": pages("view_dataset"),
    "datasets/<slug>/revisions": pages("view_datasetrevision"),
    "datasets/<slug>/revisions/<revision_id>": pages("view_datasetrevision"),
    "pipelines": pages("add_run", "POST"),
    "runs": {"GET": "view_run", "POST": "add_run"},
    "runs/stop": pages("change_run", "POST"),
    "runs/export": pages("view_run"),
    "runs/<run_id>": pages("view_run", "GET", "PATCH"),
    "runs/<run_id>/stop": pages("change_run", "POST"),
    "runs/<run_id>/resume": pages("change_run", "POST"),
    "runs/<run_id>/settle": pages("change_run", "POST"),
    "runs/<run_id>/pause": pages("change_run", "POST"),
    "runs/<run_id>/unpause": pages("change_run", "POST"),
    "runs/<run_id>/concurrency": pages("change_run", "POST"),
    "runs/<run_id>/drafter": pages("change_run", "POST"),
    "runs/<run_id>/clone": pages("add_run", "POST"),
    "attempts/<attempt_id>": pages("view_attempt"),
    "attempts/<attempt_id>/datasets": pages("view_datasetprogress"),
    "attempts/<attempt_id>/events": pages("view_event"),
    "attempts/<attempt_id>/decisions": pages("view_event"),
    "attempts/<attempt_id>/points": pages("view_metricpoint"),
    "attempts/<attempt_id>/log": pages("view_logchunk"),
    "attempts/<attempt_id>/log/raw": pages("view_logchunk"),
    "checkpoints": pages("view_checkpoint"),
    "checkpoints/<checkpoint_id>": pages("view_checkpoint"),
    "checkpoints/<checkpoint_id>/promote": pages("change_checkpoint", "POST"),
    "checkpoints/<checkpoint_id>/reviews": pages("view_checkpointreview"),
    "checkpoints/<checkpoint_id>/propose": pages("change_checkpoint", "POST"),
    "checkpoints/<checkpoint_id>/approve": pages("change_checkpoint", "POST"),
    "checkpoints/<checkpoint_id>/reject": pages("change_checkpoint", "POST"),
    "checkpoints/<checkpoint_id>/comments": pages("view_comment", "GET", "POST"),
    "runs/<run_id>/comments": pages("view_comment", "GET", "POST"),
    "comments/<comment_id>": pages(OWN, "PATCH", "DELETE"),
    "audit": pages("view_auditentry"),
    "audit/export": pages("view_auditentry"),
    "benchmarks": pages("view_benchmarkrow"),
    "benchmarks/<benchmark_id>": pages("view_benchmarkrow"),
    "engines": {"GET": "view_engine", "POST": "add_engine"},
    "engines/<name>": {"GET": "view_engine", "PATCH": "change_engine"},
    "engines/<name>/samples": pages("view_enginesample"),
    "hosts": pages("view_host"),
    "hosts/<name>": pages("view_host"),
    "hosts/<name>/samples": pages("view_hostsample"),
    "hosts/<name>/drain": pages("change_host", "POST"),
    "hosts/<name>/undrain": pages("change_host", "POST"),
    "retention/rules": pages("view_run"),
    "retention/preview": pages("view_run"),
    "retention/pruned": pages("view_run"),
}
"""The API, below `api/`; its root exists for reversing only, and answers 404."""
TABLES = {
    "auth": "group",
    "eagle3web": "answer answerfile answerflag apitoken attempt auditentry benchmarkrow checkpoint checkpointreview comment "
    "controlmessage dataset datasetprogress datasetrevision draftedanswer engine enginesample event host hostsample lease "
    "logchunk metricpoint notification notificationchannel project pruned retentionpolicy run runinput savedview star "
    "tokenbudget transition user",
}
"""Tables of the admin, by app. Django asks for staff, and for the table's own view, add, change or delete permission."""
TOPICS_LOOKED_AT = {
    f"project/{ID}": "project/1",
    f"budgets/{ID}": "budgets/1",
    f"runs/{ID}/{ID}": "runs/1/1",
    f"run/{ID}/{ID}": "run/1/1",
    f"checkpoints/{ID}": "checkpoints/1",
    f"checkpoint/{ID}": "checkpoint/1",
    f"benchmarks/{ID}": "benchmarks/1",
    f"benchmark/{ID}": "benchmark/2",
    f"dataset/{ID}": "dataset/1",
    "datasets": "datasets",
    "engines": "engines",
    f"host/{ID}": "host/1",
    f"nav/{ID}": "nav/1",
}
"""Topics of the socket, each with an example; all need LOOK."""

ROUTES = PAGES | {f"api/{route}": rule for route, rule in API.items()}
GUARDED = [
    (route, method) for route, rule in ROUTES.items() for method, needs in rule.items() if needs not in (PUBLIC, SIGNED_IN)
]
ARGUMENTS = {
    "answer_id": "1", "flag_id": "1", "policy_id": "1", "kind": "logs",
    "slug": "k2", "name": "k2", "token": "x", "number": "1", "run_id": "1", "attempt_id": "1", "revision_id": "1",
    "budget_id": "1", "checkpoint_id": "1", "benchmark_id": "2", "comment_id": "1", "project_id": "1",
    "token_id": "1", "channel_id": "1", "id": "1", "object_id": "1", "content_type_id": "1",
}  # fmt: skip


def walk(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route
        else:
            yield from walk(pattern, route)


def address(route: str) -> str:
    """The route with keys of the rows that `world` makes."""
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: ARGUMENTS[found[1]], route)


def send(client: Client, method: str, route: str) -> int | str:
    """The status, or `refused` for every way in which people are sent away."""
    answer = client.generic(method, address(route), b"{}", content_type="application/json")
    b"".join(answer)  # a download closes its file at the end
    sent_to = urlsplit(answer.headers.get("Location", "")).path
    if answer.status_code in (401, 403) or (answer.status_code == 302 and sent_to in ("/sign-in/", "/admin/login/", "/admin/")):
        return "refused"
    return answer.status_code


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def holder(*codenames: str, staff: bool = False) -> User:
    return make.user(permissions=codenames, is_staff=staff)


def everybody_but(*codenames: str, staff: bool = False) -> User:
    """Somebody with all permissions but these."""
    user = make.user(is_staff=staff)
    user.user_permissions.set(Permission.objects.exclude(codename__in=codenames))
    return user


@pytest.fixture
def world(db: None, home: Path) -> None:
    """Rows with the keys of ARGUMENTS, and the files of one."""
    project, dataset = make.project(pk=1, slug="k2"), make.dataset(pk=1, slug="k2")
    folder = revision_folder(make.revision(dataset, pk=1))
    folder.mkdir(parents=True)
    (folder / "report.json").write_text("{}")
    make.budget(project, dataset, pk=1)
    make.flag(make.stored_answer(project, pk=1), pk=1)
    make.engine(pk=1, name="k2")
    make.host(pk=1, name="k2")
    attempt = make.attempt(make.run(project, pk=1), pk=1, status=AttemptStatus.RUNNING)
    make.comment(make.checkpoint(attempt, pk=1, folder=True), pk=1)
    make.attempt(make.run(project, pk=2, stage="benchmark"), pk=2)
    make.policy(Prunable.LOGS, project, pk=1)


def test_table_covers_everything() -> None:
    found = set(walk(get_resolver()))
    own = {route for route in found if not route.startswith("admin/")}
    assert own == set(ROUTES) | {"api/"}
    tables = {(app, model) for app, models in TABLES.items() for model in models.split()}
    assert {(model._meta.app_label, model._meta.model_name) for model in admin.site._registry} == tables
    assert set(TOPICS) == set(TOPICS_LOOKED_AT)
    assert [str(route.pattern) for route in sockets] == ["ws/live/"]


def test_table_names_the_methods_of_every_api_operation() -> None:
    schema: dict[str, Any] = api.get_openapi_schema()
    found = {
        path.removeprefix("/api/").replace("{", "<").replace("}", ">"): {method.upper() for method in methods}
        for path, methods in schema["paths"].items()
    }
    assert found == {route: set(rule) for route, rule in API.items() if route not in ("docs", "openapi.json")}


@pytest.mark.usefixtures("world")
def test_strangers_are_refused_everywhere() -> None:
    stranger, wrong = Client(), []
    for route, rule in ROUTES.items():
        for method in METHODS:
            outcome = send(stranger, method, route)
            if outcome == "refused" if rule.get(method) == PUBLIC else outcome not in ("refused", 405):
                wrong.append((method, route, outcome))
    assert wrong == []


@pytest.mark.usefixtures("world")
def test_people_without_a_role_are_refused_everywhere() -> None:
    nobody, wrong = client_of(make.user()), []
    for route, rule in ROUTES.items():
        for method in METHODS:
            if rule.get(method) in (PUBLIC, SIGNED_IN) or route == "sign-out/":
                continue
            outcome = send(nobody, method, route)
            if outcome not in (("refused",) if method in rule else ("refused", 405)):
                wrong.append((method, route, outcome))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.usefixtures("world")
def test_each_needed_permission_is_needed_and_all_together_suffice() -> None:
    without, having, wrong = (
        cache(lambda name: client_of(everybody_but(name))),
        cache(lambda *names: client_of(holder(*names))),
        [],
    )
    for route, method in GUARDED:
        needs = ROUTES[route][method].split()
        for missing in needs:
            if (outcome := send(without(missing), method, route)) != "refused":
                wrong.append((method, route, f"without {missing}", outcome))
        outcome = send(having(*needs), method, route)
        if outcome in ("refused", 404, 405) or (isinstance(outcome, int) and outcome >= 500):
            wrong.append((method, route, f"with {', '.join(needs)}", outcome))
    assert wrong == []


@pytest.mark.usefixtures("world")
def test_methods_that_the_table_does_not_name_are_not_allowed() -> None:
    root, wrong = client_of(make.user(is_superuser=True)), []
    for route, rule in ROUTES.items():
        for method in set(METHODS) - set(rule):
            if (outcome := send(root, method, route)) != 405:
                wrong.append((method, route, outcome))
    assert wrong == []


def admin_routes() -> list[str]:
    """All of the admin, each regular expression once with an example."""
    examples = {"^(?P<app_label>eagle3web|auth)/$": "eagle3web/", "(?P<url>.*)$": "nothing/"}
    found = [route.removeprefix("admin/") for route in walk(get_resolver()) if route.startswith("admin/")]
    return [f"admin/{examples.get(route, route)}" for route in found]


@pytest.mark.usefixtures("world")
def test_admin_refuses_strangers_and_everybody_who_is_no_staff() -> None:
    stranger, outsider, wrong = Client(), client_of(everybody_but()), []
    for route in admin_routes():
        for method in ("GET", "POST"):
            if (outcome := send(stranger, method, route)) != "refused":
                wrong.append((method, route, "stranger", outcome))
            if route != "admin/login/" and (outcome := send(outsider, method, route)) != "refused":
                wrong.append((method, route, "no staff", outcome))
    assert wrong == []


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(("app", "model"), [(app, model) for app, models in TABLES.items() for model in models.split()])
def test_admin_asks_for_the_tables_own_permissions(app: str, model: str) -> None:
    mine = [f"{act}_{model}" for act in ("view", "add", "change", "delete")]
    client, base, wrong = client_of(everybody_but(*mine, staff=True)), f"admin/{app}/{model}/", []
    for route in [base, *(f"{base}{rest}" for rest in ("add/", "1/change/", "1/delete/", "1/history/"))]:
        for method in ("GET", "POST"):
            # Django looks for the row before it asks for the permission, and sends people to the index when there is none.
            if (outcome := send(client, method, route)) not in ("refused", 405):
                wrong.append((method, route, outcome))
    assert wrong == []


@pytest.fixture
def valkey(bare_system: System) -> System:
    """Sockets need the channel layer."""
    bare_system.start("valkey")
    return bare_system


async def subscribe(user: User | None, topic: str, *, origin: str = "http://localhost") -> dict[str, Any]:
    """Open a socket as a browser would, subscribe, and return the first thing that comes after the acceptance."""
    headers = [(b"host", b"localhost"), (b"origin", origin.encode())]
    if user is not None:
        name = settings.SESSION_COOKIE_NAME
        client = await sync_to_async(client_of)(user)
        headers.append((b"cookie", f"{name}={client.cookies[name].value}".encode()))
    scope = {"type": "websocket", "path": "/ws/live/", "query_string": b"", "headers": headers, "subprotocols": []}
    socket: Any = ApplicationCommunicator
    socket = socket(application, scope)
    await socket.send_input({"type": "websocket.connect"})
    answer: dict[str, Any] = await socket.receive_output(5)
    if answer["type"] == "websocket.accept":
        await socket.send_input({"type": "websocket.receive", "text": json.dumps({"subscribe": {topic: {}}})})
        answer = await socket.receive_output(5)
    await socket.send_input({"type": "websocket.disconnect", "code": 1000})
    await socket.wait(5)
    return answer


@pytest.mark.slow
@pytest.mark.usefixtures("valkey")
async def test_socket_refuses_strangers_and_people_without_a_role() -> None:
    outsider = await sync_to_async(everybody_but)(LOOK)
    for topic in TOPICS_LOOKED_AT.values():
        assert (topic, (await subscribe(None, topic))["code"]) == (topic, 4401)
        assert (topic, (await subscribe(outsider, topic))["code"]) == (topic, 4403)


@pytest.mark.slow
@pytest.mark.usefixtures("valkey")
async def test_socket_lets_in_whoever_may_look_but_no_page_of_another_site() -> None:
    viewer = await sync_to_async(holder)(LOOK)
    assert json.loads((await subscribe(viewer, "engines"))["text"])["type"] == "snapshot"
    assert (await subscribe(viewer, "engines", origin="https://evil.example"))["type"] == "websocket.close"
