"""Passwords among the arguments of a process, in every place where an address may have one."""

from __future__ import annotations

import pytest

from betalike.cli.process_arguments import find_passwords

SECRETS = ["s3cret", "s3%40cret", "s3@cret", "s3/cret", "s3?cr#et", "s3:cret"]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("form", ["://ann:{}@host:1/db", "--table=postgresql://ann:{}@host/db/t?connect_timeout=3"])
def test_passwords_before_the_host(form: str, secret: str) -> None:
    shown = b"betalike\0publish\0postgresql" + form.format(secret).encode() + b"\0--beta\0004"
    assert [shown[begin:end] for begin, end in find_passwords(shown)] == [secret.encode()]


@pytest.mark.parametrize("name", ["password", "sslpassword", "PASSWORD"])
def test_passwords_among_parameters(name: str) -> None:
    shown = f"postgresql://ann@host:1/db?a=b&{name}=s3@cr/et&c=d\0--beta\0004".encode()
    assert b"s3@cr/et" in [shown[begin:end] for begin, end in find_passwords(shown)]


def test_other_arguments_are_left_alone() -> None:
    assert find_passwords(b"publish\0postgresql://ann@host:1/db\0--query\0SELECT a FROM t WHERE b = 'x:y'\0") == []
