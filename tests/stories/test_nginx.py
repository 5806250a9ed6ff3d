"""nginx as docs/deploy.md sets it up, before a real site: TLS, pages, uploads, sockets, and who is held for whom."""

import json
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from axes.models import AccessAttempt
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from websockets import Origin
from websockets.sync.client import connect

from eagle3web.enums import Role
from eagle3web.models import DatasetRevision
from eagle3web.system.processes import free_port
from tests.support import factories
from tests.support.servers import wait_until
from tests.support.system import ROOT, System

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed; `make test` installs it"),
]
MAIN = """
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{servers}
}}
"""


@dataclass
class Site:
    url: str
    """https://localhost:PORT, by way of nginx."""
    trust: ssl.SSLContext

    def browser(self, *, address: str = "127.0.0.1") -> httpx.Client:
        """A client that comes from an address of the loopback range."""
        transport = httpx.HTTPTransport(verify=self.trust, local_address=address)
        return httpx.Client(base_url=self.url, transport=transport, headers={"referer": f"{self.url}/"}, timeout=30)


def documented() -> str:
    """The block of docs/deploy.md."""
    text = (ROOT / "docs" / "deploy.md").read_text()
    block = re.search(r"^## nginx in front\n\n((?:    .*\n|\n)+)", text, re.MULTILINE)
    assert block is not None
    return block.group(1)


@pytest.fixture
def site(bare_system: System, tmp_path: Path) -> Iterator[Site]:
    port, plain = free_port(), free_port()
    url = f"https://localhost:{port}"
    bare_system.env |= {"EAGLE3_HTTPS": "true", "EAGLE3_ALLOWED_HOSTS": "localhost", "EAGLE3_ORIGINS": url}
    bare_system.start("valkey", "web")
    subprocess.run(
        ["/usr/bin/openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", tmp_path / "eagle3.key", "-out", tmp_path / "eagle3.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    servers = documented().replace("/etc/ssl/", f"{tmp_path}/").replace("eagle3.example", "localhost")
    servers = servers.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl").replace(
        "listen 80", f"listen 127.0.0.1:{plain}"
    )
    servers = servers.replace("127.0.0.1:8000", f"127.0.0.1:{bare_system.port}")
    conf = tmp_path / "nginx.conf"
    conf.write_text(MAIN.format(folder=tmp_path, servers=servers))
    assert NGINX is not None
    command = [NGINX, "-p", str(tmp_path), "-e", str(tmp_path / "error.log"), "-c", str(conf), "-g", "daemon off; user root;"]
    with (tmp_path / "nginx.out").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        found = Site(url, ssl.create_default_context(cafile=str(tmp_path / "eagle3.pem")))

        def answers() -> bool:
            assert process.poll() is None, (tmp_path / "nginx.out").read_text()
            try:
                with found.browser() as browser:
                    return browser.get("/healthz").status_code in (200, 503)
            except httpx.TransportError:
                return False

        wait_until(answers, "nginx answers")
        yield found
    finally:
        process.terminate()
        process.wait(20)


def sign_in(browser: httpx.Client, *, password: str = factories.PASSWORD) -> httpx.Response:
    token = _token(browser.get("/sign-in/").text)
    return browser.post("/sign-in/", data={"username": "ada", "password": password, "csrfmiddlewaretoken": token})


def _token(html: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', html)
    assert found is not None
    return found.group(1)


def person() -> None:
    """ada, whose password the real site can read: tests use a faster hash than it knows."""
    ada = factories.user("ada", groups=(Role.OPERATOR,))
    ada.password = PBKDF2PasswordHasher().encode(factories.PASSWORD, "salt")
    ada.save(update_fields=["password"])


def test_site_works_behind_nginx_as_the_documentation_sets_it_up(site: Site) -> None:
    person()
    with site.browser() as browser:
        signed = sign_in(browser)
        assert (signed.status_code, signed.headers["location"]) == (302, "/")
        assert "max-age=31536000" in signed.headers["strict-transport-security"]
        assert all("Secure" in cookie for cookie in signed.headers.get_list("set-cookie"))
        assert browser.get("/engines/").status_code == 200
        style = re.search(r'href="(/static/css/app[^"]*)"', browser.get("/engines/").text)
        assert style is not None
        assert browser.get(style.group(1)).status_code == 200

        big = "".join(json.dumps({"prompt": f"Question {n}? {'x' * 1000}"}) + "\n" for n in range(5000))
        form = {"slug": "B1", "csrfmiddlewaretoken": _token(browser.get("/datasets/import/").text)}
        sent = browser.post("/datasets/import/", data=form, files={"upload": ("prompts.jsonl", big.encode())})
        assert (sent.status_code, sent.headers["location"]) == (302, "/datasets/B1/")
        wait_until(lambda: DatasetRevision.objects.get().state == "ready", "the upload is imported", 60)
        assert DatasetRevision.objects.get().accepted == 5000

        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        address = site.url.replace("https", "wss") + "/ws/live/"
        with connect(address, ssl=site.trust, origin=Origin(site.url), additional_headers={"cookie": cookies}) as socket:
            socket.send(json.dumps({"subscribe": {"engines": {}}}))
            assert json.loads(socket.recv(timeout=20))["type"] == "snapshot"


def test_wrong_passwords_count_against_the_address_they_came_from(site: Site) -> None:
    person()
    with site.browser(address="127.0.0.7") as browser:
        # What a client says of its own address is not believed.
        browser.headers["x-forwarded-for"] = "10.1.2.3"
        assert sign_in(browser, password="wrong").status_code == 200
    assert [attempt.ip_address for attempt in AccessAttempt.objects.all()] == ["127.0.0.7"]
