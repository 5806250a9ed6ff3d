"""Starting the processes of the Procfile and asking the site how it is."""

import json
import socket
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from eagle3web.system.processes import Processes, SystemNotReadyError, free_port, port_is_free
from tests.support.servers import serving


def site(status: int) -> Starlette:
    async def healthz(_: Request) -> JSONResponse:
        return JSONResponse({"workers": []}, status_code=status)

    return Starlette(routes=[Route("/healthz", healthz)])


def test_port_is_free_knows_a_listener() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert not port_is_free(listener.getsockname()[1])
    assert port_is_free(free_port())


@pytest.mark.parametrize("status", [200, 503])
def test_health_reads_the_answer_of_a_site_that_is_well_or_not(status: int, tmp_path: Path) -> None:
    with serving(site(status)) as url:
        system = Processes([], port=int(url.rsplit(":", 1)[1]), log=tmp_path / "log")
        assert system.health() == {"workers": []}


def test_health_of_a_silent_site_is_empty(tmp_path: Path) -> None:
    assert Processes([], port=free_port(), log=tmp_path / "log").health() == {}


def test_wait_names_what_did_not_come(tmp_path: Path) -> None:
    system = Processes([], port=free_port(), log=tmp_path / "log")
    with pytest.raises(SystemNotReadyError, match=r"the site did not come within 0 s; see .*log"):
        system.wait(needs=bool, what="the site", timeout_s=0)


@pytest.mark.slow
def test_check_shows_the_end_of_the_log_when_a_process_has_ended(tmp_path: Path) -> None:
    log = tmp_path / "system.log"
    env = {"EAGLE3_ENGINE_MODEL": json.dumps("no such folder"), "EAGLE3_ENGINE_PORT": "1"}
    with (
        Processes(["engine"], port=free_port(), log=log, env=env) as system,
        pytest.raises(SystemNotReadyError, match="a process ended; the end of"),
    ):
        system.wait(needs=bool, what="the site", timeout_s=60)
