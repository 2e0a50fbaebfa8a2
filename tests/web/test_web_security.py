"""Who is refused: no token, another name, another site, a path outside, a script, an upload that is too large."""

from __future__ import annotations

import concurrent.futures
import os
import resource
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from serving import Served, enter, make_client, people, start_page

from betalike.errors import FileError
from betalike.web.folders import Folders
from patience import PATIENCE

pytestmark = pytest.mark.xdist_group("web-security")
SCRIPT = "<script>alert(1)</script>"
CANARY = "Zaphod-Beeblebrox"
LIMIT = 8  # megabytes


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with start_page(tmp_path_factory.mktemp("limited"), "--upload-limit", f"{LIMIT}MB") as page:
        yield enter(page)


def stranger(served: Served) -> httpx.Client:
    return make_client(served.base)


def test_nothing_is_shown_without_the_token(unopened: Served) -> None:
    with stranger(unopened) as client:
        for path in ("/", "/browse", "/static/page.css", "/p/demo/open", "/start", "/start?token=wrong", "/nothing"):
            answer = client.get(path)
            assert answer.status_code == 403, path
            assert "set-cookie" not in answer.headers
        assert client.post("/open/demo", headers={"origin": unopened.base}).status_code == 403


def test_the_token_works_once_and_its_cookie_is_strict(unopened: Served) -> None:
    page = unopened
    first = page.client.get(page.address)
    assert first.status_code == 200
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    token = page.address.split("token=")[1]
    assert token not in cookie
    assert page.get("/").status_code == 200
    with stranger(page) as client:
        assert client.get(page.address).status_code == 403
        client.cookies.set(f"betalike-{page.port}", token)
        assert client.get("/").status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", "0.0.0.0:{port}", ""])
def test_another_name_of_this_machine_is_refused(served: Served, host: str) -> None:
    answer = served.client.get("/", headers={"host": host.format(port=served.port)})
    assert answer.status_code in (400, 403)
    assert "Projects" not in answer.text


@pytest.mark.parametrize("other", ['prefs={"a": 1}', "a[b]=1", "alone", '"', "a=b c", "=", 'a="open'])
def test_cookies_of_other_programs_of_this_machine_do_not_matter(served: Served, other: str) -> None:
    """Browsers send those of every port, in any form."""
    name = f"betalike-{served.port}"
    headers = {"cookie": f"{other}; {name}={served.client.cookies[name]}; {other}"}
    with stranger(served) as client:
        assert client.get("/", headers=headers).status_code == 200
        assert client.get("/", headers={"cookie": f"{other}; {name}=x; {name}="}).status_code == 403


def test_its_own_names_are_answered(served: Served) -> None:
    for host in (f"127.0.0.1:{served.port}", f"localhost:{served.port}"):
        assert served.client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://localhost:1", None]
)
def test_a_form_of_another_site_is_refused(served: Served, origin: str | None) -> None:
    before = sorted(served.projects.iterdir())
    headers = {} if origin is None else {"origin": origin.format(port=served.port)}
    assert served.client.post("/open/demo", headers=headers).status_code == 403
    assert sorted(served.projects.iterdir()) == before


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_of_another_site_reads_nothing(served: Served, site: str) -> None:
    assert served.client.get("/", headers={"sec-fetch-site": site}).status_code == 403


def test_every_answer_has_the_headers_that_protect_it(served: Served) -> None:
    for path in ("/", "/static/page.js", "/nothing", "/p/nothing/open"):
        headers = served.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
        assert headers["cache-control"] == "no-store"


def test_only_this_machine_is_listened_to(served: Served) -> None:
    """Every address of 127.0.0.0/8 is this machine, but the server listens on one of them."""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", served.port), timeout=PATIENCE)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "{home}/../secret.csv", "../secret.csv", "link.csv", "sqlite:../secret.csv"]
)
def test_a_path_outside_is_refused(served: Served, path: str) -> None:
    secret = served.home.parent / "secret.csv"
    secret.write_text(people(name=CANARY))
    link = served.home / "link.csv"
    if not link.is_symlink():
        link.symlink_to(secret)
    answer = served.post("/open/path", path=path.format(home=served.home))
    assert answer.status_code == 422
    assert "outside the folders" in answer.text
    assert CANARY not in answer.text


def test_the_chooser_shows_no_hidden_file_and_no_way_out(served: Served) -> None:
    (served.home / ".hidden.csv").write_text(people())
    (served.home / "shown.csv").write_text(people())
    outside = served.home.parent / "outside"
    outside.mkdir(exist_ok=True)
    if not (served.home / "way-out").is_symlink():
        (served.home / "way-out").symlink_to(outside)
    text = served.get("/browse").text
    assert "shown.csv" in text
    assert "way-out" not in text
    assert ".hidden.csv" not in text
    answer = served.client.get("/browse", params={"folder": str(served.home.parent)})
    assert answer.status_code == 422
    assert "Up to" not in text


def test_the_chooser_shows_files_whatever_the_names_of_others_are(served: Served) -> None:
    folder = served.home / "many"
    folder.mkdir()
    os.close(os.open(os.fsencode(folder) + b"/\xff.csv", os.O_CREAT))
    for number in range(1001):
        (folder / f"{number}.csv").touch()
    (folder / "z").mkdir()
    shown = served.client.get("/browse", params={"folder": "many"})
    assert shown.status_code == 200
    assert "z/</a>" in shown.text
    assert "And 2 more" in shown.text


@pytest.mark.parametrize("project", ["..", "%2e%2e", "..%2f..%2fetc", ".hidden", "a%2f..%2fb"])
def test_a_project_is_no_path(served: Served, project: str) -> None:
    assert served.get(f"/p/{project}/open").status_code in (404, 422)


def test_scripts_in_names_and_cells_are_shown_as_text(served: Served) -> None:
    table = people(**{SCRIPT: f"{SCRIPT}!", "<img src=x onerror=alert(2)>": "a"})
    (served.home / "<b>bold.csv").write_text(table)
    answer = served.post("/open/path", path="<b>bold.csv")
    project = served.project(answer)
    assert served.wait(project, 1) == "done"
    for step in ("open", "columns", "hierarchies", "promise", "publish", "look", "take-away"):
        text = served.client.get(f"/p/{project}/{step}").text
        assert SCRIPT not in text
        assert "<img src=x" not in text
        assert "<b>bold" not in text
    assert "&lt;script&gt;" in served.get(f"/p/{project}/columns").text


def test_an_upload_is_private_and_gone_with_its_project(served: Served) -> None:
    project = served.project(served.upload("/open/upload", "../../people.csv", people().encode()))
    assert served.wait(project, 1) == "done"
    folder = served.projects / project
    file = folder / "uploads" / "people.csv"
    assert file.read_text() == people()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    served.post(f"/p/{project}/delete")
    assert not folder.exists()


def test_an_upload_beyond_the_limit_is_refused_before_it_is_read(limited: Served) -> None:
    """A request that declares 2 GB is answered although not one byte of them is sent."""
    cookie = limited.client.cookies[f"betalike-{limited.port}"]
    lines = [
        "POST /open/upload HTTP/1.1",
        f"Host: 127.0.0.1:{limited.port}",
        f"Origin: {limited.base}",
        f"Cookie: betalike-{limited.port}={cookie}",
        "Content-Type: multipart/form-data; boundary=b",
        f"Content-Length: {2 << 30}",
    ]
    with socket.create_connection(("127.0.0.1", limited.port), timeout=PATIENCE) as connection:
        connection.sendall("".join(f"{line}\r\n" for line in [*lines, ""]).encode())
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert b" 422 " in answer.splitlines()[0]
    assert f"larger than {LIMIT} MB".encode() in answer


def test_an_upload_that_hides_its_length_is_refused_while_it_streams(limited: Served) -> None:
    """It would be endless; the server stops it soon after the limit, keeps nothing, and goes on answering."""
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        while sent < (8 * LIMIT << 20):
            sent += 1 << 20
            yield b"1,2,3\n" * (1 << 20)

    headers = {"origin": limited.base, "content-type": "multipart/form-data; boundary=b"}
    try:
        answer = limited.client.post("/open/upload", content=endless(), headers=headers)
        assert answer.status_code == 422
    except httpx.TransportError:  # the server closes the connection
        pass
    assert sent < (4 * LIMIT << 20)
    assert [path.name for path in limited.projects.rglob("*") if path.is_file()] == [".lock"]
    assert limited.get("/").status_code == 200


def test_a_garbled_upload_is_refused(served: Served) -> None:
    headers = {"origin": served.base, "content-type": "multipart/form-data; boundary=b"}
    for body in (
        b"",
        b"nonsense",
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nage\n1',
    ):
        answer = served.client.post("/open/upload", content=body, headers=headers)
        assert answer.status_code == 422, body


def test_a_form_that_is_too_long_is_refused(served: Served) -> None:
    assert served.post("/open/path", path="x" * (2 << 20)).status_code == 413


def test_five_hundred_requests_at_once_are_answered(served: Served) -> None:
    paths = ["/", "/browse", "/static/page.js", "/nothing", "/p/none/open"] * 100
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        statuses = list(pool.map(lambda path: served.ask("GET", path), paths))
    assert statuses == [200, 200, 200, 404, 422] * 100
    assert served.get("/").status_code == 200


def test_more_connections_than_files_that_may_be_open(limited: Served) -> None:
    """Once they are gone, the server answers; it does not wait for somebody who reads what it prints."""
    if not hasattr(resource, "prlimit"):
        pytest.skip("this system does not change the limits of a process that runs")
    before = resource.prlimit(limited.process.pid, resource.RLIMIT_NOFILE)
    files, most = Path(f"/proc/{limited.process.pid}/fd"), 50
    resource.prlimit(limited.process.pid, resource.RLIMIT_NOFILE, (most, before[1]))
    try:
        waiting = [socket.create_connection(("127.0.0.1", limited.port), timeout=PATIENCE) for _ in range(100)]
        limited.until(lambda: len(os.listdir(files)) >= most)  # so that it cannot accept the others
        for connection in waiting:
            connection.close()
    finally:
        resource.prlimit(limited.process.pid, resource.RLIMIT_NOFILE, before)
    assert limited.get("/").status_code == 200


def test_what_is_printed_what_is_deleted_at_the_end_and_reading_only(tmp_path: Path) -> None:
    """No cell is printed; uploads are deleted unless they are kept; a page that only reads changes nothing."""
    with start_page(tmp_path) as page:
        enter(page)
        table = people(name=CANARY).encode()
        gone = page.project(page.upload("/open/upload", "gone.csv", table))
        kept = page.project(page.upload("/open/upload", "kept.csv", table))
        assert page.wait(gone, 1) == page.wait(kept, 1) == "done"
        page.post(f"/p/{kept}/keep", version=page.version(kept), kept="yes")
        broken = page.project(page.upload("/open/upload", "broken.csv", f'age,name\n1,"{CANARY}\n'.encode()))
        page.wait(broken, 1)
        page.process.terminate()
        printed = "".join(page.process.communicate(timeout=PATIENCE))
    assert CANARY not in printed
    assert (page.projects / kept / "uploads" / "kept.csv").is_file()
    left = b"".join(path.read_bytes() for path in (page.projects / gone).rglob("*") if path.is_file())
    assert CANARY.encode() not in left
    assert (page.projects / gone / "project.json").is_file()
    (page.projects / kept / "counts.json").unlink()  # which the step Hierarchies would count again
    before = {path: path.read_bytes() for path in page.projects.rglob("*") if path.is_file()}
    with start_page(tmp_path, "--read-only") as page:
        enter(page)
        for step in ("open", "columns", "hierarchies", "promise", "publish", "look", "take-away"):
            assert page.get(f"/p/{kept}/{step}").status_code == 200
        for path in ("/open/demo", f"/p/{kept}/delete", f"/p/{kept}/publish", f"/p/{kept}/undo"):
            assert page.post(path).status_code == 403
    assert {path: path.read_bytes() for path in page.projects.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(("name", "reason"), [("missing", "there is no such file or folder"), ("file", "not a folder")])
def test_a_folder_that_cannot_be_read_from_is_named(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match=f"'{tmp_path / name}': .*{reason}"):
        Folders([tmp_path / name])
