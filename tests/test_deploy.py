"""The image and what is started beside it (deploy/): what they name is there. No engine is needed for that."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml
from typer.main import get_command

from interlingua.cli import make_app
from interlingua.gateway.calls import Call
from interlingua.gateway.metrics import Metrics

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())


def instructions(word: str) -> list[str]:
    """What follows an instruction of the Dockerfile, its lines joined."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return re.findall(rf"^{word} +(.*)$", joined, re.MULTILINE)


def serve_commands() -> list[list[str]]:
    return [json.loads(instructions("CMD")[-1]), COMPOSE["services"]["gateway"]["command"]]


@pytest.mark.parametrize("command", serve_commands(), ids=["image", "compose"])
def test_the_command_is_one_of_the_command_line(command: list[str]) -> None:
    """Every option is there and takes what it is given."""
    name, *arguments = command
    group: Any = get_command(make_app())
    group.commands[name].make_context(name, list(arguments))
    assert "--no-grpc" in arguments  # gRPC asks for no keys


def test_the_image_runs_as_a_plain_user_and_is_safe_beyond_it() -> None:
    """The last user is not root; keys are asked for; what is copied is there, and nothing else is sent to the engine."""
    assert instructions("USER")[-1] == "10001"
    assert "--keys" in serve_commands()[0]
    assert "--open" not in serve_commands()[0]
    for copied in instructions("COPY"):
        words = [word for word in shlex.split(copied) if not word.startswith("--")]
        assert copied.startswith("--from=build") or (ROOT / words[0]).exists()
    assert (ROOT / ".dockerignore").read_text().splitlines()[:2] == ["*", "!python"]
    assert all("latest" not in image for image in instructions("FROM"))
    assert "rm -rf /var/lib/apt/lists/*" in DOCKERFILE


def test_compose_serves_this_machine_alone() -> None:
    """Ports are bound to loopback where nobody is asked for a key; files that are mounted are there."""
    for name, service in COMPOSE["services"].items():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in COMPOSE["volumes"] or (ROOT / source).is_file(), source
        assert "build" in service or re.search(r":v?\d", service["image"])
    prometheus = yaml.safe_load((ROOT / "deploy" / "prometheus.yml").read_text())
    (target,) = prometheus["scrape_configs"][0]["static_configs"][0]["targets"]
    host, port = target.split(":")
    command = COMPOSE["services"]["gateway"]["command"]
    assert command[command.index("--name") + 1] == host in COMPOSE["services"]
    assert command[command.index("--http-port") + 1] == port


def test_the_dashboard_and_the_alerts_ask_for_counters_that_there_are() -> None:
    """With labels that they have; what is to be done is told of each alert."""
    metrics = Metrics()
    metrics.begin()
    loss = [{"op": "drop", "path": "/a", "code": "x", "severity": "lost", "message": "m"}]
    usage = {"input_tokens": 1, "output_tokens": 1, "cost_usd": "0.1"}
    metrics.end(
        Call(
            "1",
            "t",
            "k",
            "openai_chat",
            "now",
            model="a:b",
            first_event_s=0.1,
            took_s=0.2,
            usage=usage,
            request_loss=loss,
        )
    )
    failed = Call("2", "t", "k", "openai_chat", "now", category="overloaded", usage={"input_tokens": 1})
    failed.attempts = [{"model": "a:b", "category": "overloaded"}]
    metrics.begin()
    metrics.end(failed)
    metrics.refused("openai_chat", "authentication")
    metrics.cooldown({"type": "unavailable", "name": "a:b", "reason": "failures"})
    text = metrics.text().decode()
    known = set(re.findall(r"^(interlingua_\w+)", text, re.MULTILINE))
    dashboard = json.loads((ROOT / "deploy" / "grafana" / "gateway.json").read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(expressions) >= 12
    alerts = yaml.safe_load((ROOT / "deploy" / "alerts.yml").read_text())
    (group,) = alerts["groups"]
    expressions += [rule["expr"] for rule in group["rules"]]
    guide = (ROOT / "deploy" / "operating.md").read_text()
    assert all(f"`{rule['alert']}`" in guide for rule in group["rules"])
    for expression in expressions:
        for name in re.findall(r"interlingua_\w+", expression):
            assert name in known, name
            labels = re.search(rf"^{name}\{{(.*?)\}}", text, re.MULTILINE)
            asked = re.findall(r"by \(([\w, ]+)\)", expression)
            chosen = re.findall(rf"{name}\{{(\w+)[=!]", expression)
            for label in [*(asked[0].split(", ") if asked else []), *chosen]:
                assert labels is not None
                assert f'{label}="' in labels[1], (name, label)


@pytest.mark.parametrize("encrypted", [False, True])
def test_the_health_check_asks_over_http_and_tls(encrypted: bool, tmp_path: Path) -> None:
    """The command of the image, with another port."""
    authority = trustme.CA()
    mine = authority.issue_cert("localhost")
    mine.private_key_and_cert_chain_pem.write_to_path(tmp_path / "both.pem")
    tls = ["--tls-cert", str(tmp_path / "both.pem"), "--tls-key", str(tmp_path / "both.pem")] if encrypted else []
    command = [
        sys.executable,
        "-m",
        "interlingua",
        "serve",
        "--replay",
        "--json",
        "--no-grpc",
        "--http-port",
        "0",
        *tls,
    ]
    check = json.loads(instructions("HEALTHCHECK")[-1].partition(" CMD ")[2])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        port = json.loads(server.stdout.readline())["http_port"]
        script = check[2].replace(":8080/", f":{port}/")
        assert subprocess.run([sys.executable, *check[1:2], script], check=False).returncode == 0
        server.terminate()
    assert subprocess.run([sys.executable, *check[1:2], script], capture_output=True, check=False).returncode != 0
