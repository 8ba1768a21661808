"""This host's pip configuration as build settings."""

from pathlib import Path

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.errors import InputError
from orchestrator.images.settings import (
    build_arguments,
    build_network,
    overlay,
    pip_files,
    redacted,
    secrets,
    settings_from_pip,
)


def conf(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_pip_variables_win_over_pip_files(tmp_path: Path) -> None:
    """The environment wins over the files of pip, and later files win over earlier ones."""
    files = (
        conf(tmp_path, "a", "[global]\nindex-url = https://a/simple\nfind-links = /a\ncert = /a.pem\n"),
        conf(tmp_path, "b", "[global]\nfind_links =\n    /b\n    /c\n[install]\ntrusted-host = b\n"),
        tmp_path / "absent",
    )

    assert settings_from_pip({"PIP_CERT": "/env.pem"}, files) == BuildSettings(
        pip_index="https://a/simple", find_links=("/b", "/c"), trusted_hosts=("b",), ca_bundle="/env.pem"
    )


def test_the_command_section_wins_over_the_global_one(tmp_path: Path) -> None:
    """The section of the command (install) wins over the global one, whatever their order."""
    path = conf(tmp_path, "a", "[install]\nindex-url = https://install\n[global]\nindex-url = https://global\n")

    assert settings_from_pip({}, (path,)).pip_index == "https://install"


def test_a_percent_sign_in_passwords_is_taken_literally(tmp_path: Path) -> None:
    """A percent sign in a password is taken literally and starts no interpolation."""
    path = conf(tmp_path, "a", "[global]\nindex-url = https://me:a%40b@host/simple\n")

    assert settings_from_pip({}, (path,)).pip_index == "https://me:a%40b@host/simple"


def test_a_broken_file_is_one_clear_error(tmp_path: Path) -> None:
    path = conf(tmp_path, "pip.conf", "index-url = https://a\n")

    with pytest.raises(InputError, match=r"pip\.conf: not a pip configuration: .*PIP_CONFIG_FILE=/dev/null"):
        settings_from_pip({}, (path,))


@pytest.mark.parametrize(
    ("environment", "bundle"),
    [
        ({"PIP_CERT": "/pip", "REQUESTS_CA_BUNDLE": "/requests", "SSL_CERT_FILE": "/ssl"}, "/pip"),
        ({"REQUESTS_CA_BUNDLE": "/requests", "SSL_CERT_FILE": "/ssl"}, "/requests"),
        ({"SSL_CERT_FILE": "/ssl", "REQUESTS_CA_BUNDLE": ""}, "/ssl"),
        ({}, None),
    ],
)
def test_the_first_ca_bundle_that_is_named_counts(environment: dict[str, str], bundle: str | None) -> None:
    assert settings_from_pip(environment, ()).ca_bundle == bundle


def test_lists_are_split_and_switches_understood() -> None:
    settings = settings_from_pip(
        {"PIP_EXTRA_INDEX_URL": "https://a https://b", "PIP_NO_INDEX": "true", "PIP_FIND_LINKS": "/w"}, ()
    )

    assert settings == BuildSettings(extra_indexes=("https://a", "https://b"), no_index=True, find_links=("/w",))


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY"])
def test_proxy_variables_count_in_either_letter_case(name: str) -> None:
    """Proxy variables count in upper and in lower case, and reach the build in both."""
    settings = settings_from_pip({name: "http://p:3128", "no_proxy": "localhost"}, ())

    assert settings.proxies == (("http_proxy", "http://p:3128"), ("no_proxy", "localhost"))
    assert build_arguments(settings) == {
        "http_proxy": "http://p:3128", "HTTP_PROXY": "http://p:3128", "no_proxy": "localhost", "NO_PROXY": "localhost",
    }  # fmt: skip


def test_pips_own_proxy_covers_both_protocols() -> None:
    """The proxy of pip itself is used for http and https, in place of that of http_proxy."""
    settings = settings_from_pip({"PIP_PROXY": "me:pw@p:3128", "http_proxy": "http://other"}, ())

    assert dict(settings.proxies) == {"http_proxy": "http://me:pw@p:3128", "https_proxy": "http://me:pw@p:3128"}


def test_pip_files_are_read_weakest_first() -> None:
    """The files of pip are those in the places that its manual names, the weakest first."""
    environment = {"XDG_CONFIG_HOME": "/x", "PIP_CONFIG_FILE": "/own.conf"}

    assert pip_files(environment, Path("/home/me"), Path("/venv")) == tuple(
        Path(name)
        for name in (
            "/etc/xdg/pip/pip.conf",
            "/etc/pip.conf",
            "/home/me/.pip/pip.conf",
            "/x/pip/pip.conf",
            "/venv/pip.conf",
            "/own.conf",
        )
    )


def test_pip_can_be_told_to_read_no_file() -> None:
    assert pip_files({"PIP_CONFIG_FILE": "/dev/null"}, Path("/home/me"), Path("/venv")) == ()


def test_matrix_settings_win_over_those_of_the_host() -> None:
    """A setting that the matrix gives wins, and one that it leaves unsaid comes from the host."""
    host = BuildSettings(ca_bundle="/host.pem", find_links=("/host",), base_image="ignored")
    explicit = BuildSettings(base_image="mine:{python}", find_links=("/mine",))

    assert overlay(explicit, host) == BuildSettings(
        base_image="mine:{python}", find_links=("/mine",), ca_bundle="/host.pem"
    )


def test_a_matrix_index_excludes_the_hosts_extra_indexes() -> None:
    """An index of the matrix does not mix with extra indexes of the host."""
    host = BuildSettings(extra_indexes=("https://host",), no_index=True)

    assert overlay(BuildSettings(pip_index="https://mine"), host) == BuildSettings(pip_index="https://mine")


def test_passwords_are_secret_as_written_and_as_decoded() -> None:
    """Every password in an address is a secret, both as it is written and as it is decoded."""
    settings = BuildSettings(
        pip_index="https://me:p%40ss@host/simple",
        extra_indexes=("https://token@host/simple", "https://host/simple"),
        proxies=(("http_proxy", "http://me:hunter2@proxy"),),
    )

    assert set(secrets(settings)) == {"p%40ss", "p@ss", "token", "hunter2"}
    assert redacted("at https://me:p%40ss@host, p@ss", secrets(settings)) == "at https://me:****@host, ****"


def test_settings_do_not_show_their_proxies() -> None:
    assert "hunter2" not in repr(BuildSettings(proxies=(("http_proxy", "http://me:hunter2@proxy"),)))


@pytest.mark.parametrize(
    ("settings", "network"),
    [
        (BuildSettings(), None),
        (BuildSettings(pip_index="https://pypi.corp/simple"), None),
        (BuildSettings(pip_index="http://localhost:8080/simple"), "host"),
        (BuildSettings(proxies=(("https_proxy", "http://127.0.0.1:3128"),)), "host"),
        (BuildSettings(proxies=(("no_proxy", "localhost"),)), None),
    ],
)
def test_builds_share_the_hosts_network_only_if_needed(settings: BuildSettings, network: str | None) -> None:
    """A build shares the host's network only if its index or proxy is on the host itself."""
    assert build_network(settings) == network
