"""Defaults and bounds of options, tokens, names and envelopes."""

import pytest

pytest.importorskip("uvicorn", reason="the extra `agent` is not installed")
pytest.importorskip("prometheus_client", reason="the extra `agent` is not installed")

from tests.engines.linux.agent.conftest import SECRET
from windlass.agent.check import line_of
from windlass.agent.envelope import Envelope, EnvelopePart, digest, is_agent_file, opened
from windlass.agent.options import Above, Address, AgentOptions, AggregatorOptions, check_name
from windlass.agent.signal_board import AdmissionAnswer
from windlass.agent.token import Token, read_token
from windlass.model import InputError


def test_options_have_the_documented_defaults_and_bounds():
    agent, aggregator, above = AgentOptions(), AggregatorOptions(), Above("http://a:1", "n")
    assert (agent.listen, agent.check, agent.policy) == (Address("127.0.0.1", 9090), None, "rising")
    assert (agent.downtime, agent.guard, agent.every, agent.state) == (None, 0.5, 1.0, None)
    assert (agent.save_every, agent.drain, agent.mark, agent.above) == (60.0, "state", "off", None)
    assert (aggregator.listen, aggregator.rank) == (Address("127.0.0.1", 9092), 4)
    assert (aggregator.forget_after, aggregator.save_every) == (3600.0, 10.0)
    assert (above.every, above.epsilon) == (30.0, 0.02)
    for every, stale in ((0.05, 5.0), (1.0, 5.0), (2.0, 10.0), (3600.0, 18_000.0)):
        assert AgentOptions(every=every).stale == stale
    for given in (
        {"every": 0.04}, {"every": 3600.5}, {"guard": -0.1}, {"save_every": 0.0}, {"drain": "up"}, {"mark": "on"},
        {"mark": "label", "node": ""},
    ):  # fmt: skip
        with pytest.raises(InputError):
            AgentOptions(**given)
    AgentOptions(mark="label", node="n1", guard=0.0)
    for given in ({"forget_after": 0.0}, {"save_every": 0.0}):
        with pytest.raises(InputError):
            AggregatorOptions(**given)
    for given in (("nowhere", "n"), ("http://a:1", "-n"), ("http://a:1", "n", 0.0)):
        with pytest.raises(InputError):
            Above(*given)
    check_name("--name", "a" * 64)
    for name in ("a" * 65, "", ".a", "a b", "a/b"):
        with pytest.raises(InputError, match="expected up to 64"):
            check_name("--name", name)
    assert Address.of("--listen", "127.0.0.1:0").port == 0
    assert Address("::1", 5).url == "http://[::1]:5"
    assert Address("10.0.0.1", 5).url == "http://10.0.0.1:5"
    for text in ("localhost:80", "127.0.0.1:65536", "127.0.0.1:", ":80", "::1:80"):
        try:
            found = Address.of("--listen", text)
        except InputError:
            continue
        assert text == "::1:80", found


def test_a_token_is_long_plain_text_in_its_own_file(tmp_path):
    Token("!" * 16)
    Token("~" * 16)
    for secret in ("x" * 15, "x" * 15 + " ", "x" * 15 + "\x7f", "x" * 15 + "é"):
        with pytest.raises(InputError):
            Token(secret)
    assert not Token(SECRET).is_in(SECRET.encode())
    assert Token(SECRET).header == f"Bearer {SECRET}"
    path = tmp_path / "token"
    path.write_text(f" {SECRET}\n")
    for mode, fine in ((0o600, True), (0o640, True), (0o604, False), (0o602, True)):
        path.chmod(mode)
        if fine:
            assert read_token(path, {"WINDLASS_TOKEN": "another-token-of-all"}).header == f"Bearer {SECRET}"
        else:
            with pytest.raises(InputError, match=r"readable by every user \(mode 604\)"):
                read_token(path)
    assert read_token(None, {"WINDLASS_TOKEN": SECRET}).header == f"Bearer {SECRET}"
    with pytest.raises(InputError, match="not a regular file"):
        read_token(tmp_path)


def test_envelopes_are_recognised_and_their_parts_are_found_by_name():
    envelope = Envelope(
        "agent", "p", "m", (EnvelopePart("a", b"1"), EnvelopePart("b", b"2"), EnvelopePart("a", b"3"))
    )
    assert (envelope.part("a"), envelope.part("b"), envelope.part("c")) == (b"1", b"2", None)
    assert [is_agent_file(each) for each in (b"", b"windlass-agent 9", b"windlass", b"\0")] == [
        True,
        True,
        False,
        False,
    ]
    assert len(digest(("a",))) == 16
    sealed = envelope.seal()
    assert sealed.startswith(b"windlass-agent 1 ")
    with pytest.raises(InputError, match="do not begin with 'windlass-agent 1'"):
        opened(b" " + sealed)
    envelope.check("agent", "m")
    with pytest.raises(InputError, match="has metrics with digest 'm', expected 'n'"):
        envelope.check("agent", "n")


@pytest.mark.parametrize(("accept", "percent"), [(True, 100), (True, 1), (False, 0)])
def test_haproxy_receives_the_state_or_the_weight(accept, percent):
    answer = AdmissionAnswer(accept, "why", percent)
    assert line_of(answer, "weight") == f"up {percent}%"
    assert line_of(answer, "state") == (f"ready up {percent}%" if accept else "drain")
