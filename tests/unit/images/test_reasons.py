"""The one line that tells why a build failed, from output that real builds gave."""

import pytest

from orchestrator.images.reasons import is_of_surroundings, telling_line

ENGINE = "The command '/bin/sh -c set -e; …' returned a non-zero code: 1"
RETRY = "WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by "
STAND_IN = "; a folder in build.find_links can stand in for it"
SAID = {
    "version": """
        Looking in links: /opt/build/wheels
        ERROR: Could not find a version that satisfies the requirement numpy==99.1 (from versions: 1.3.0, 2.4.6)
        ERROR: No matching distribution found for numpy==99.1
    """,
    "old pip": """
        Collecting numpy<99
        No matching distribution found for numpy<99
        You are using pip version 18.1, however version 21.3.1 is available.
    """,
    "resolver": f"""
        Looking in indexes: https://download.pytorch.org/whl/cpu
        {RETRY}'NewConnectionError('[Errno -2] Name or service not known')': /whl/cpu/torch/
        ERROR: Could not find a version that satisfies the requirement torch==2.13.0 (from versions: none)
    """,
    "certificate": """
        Could not fetch URL https://pypi.org/simple/numpy/: SSLError('certificate verify failed') - skipping
        ERROR: No matching distribution found for numpy
    """,
    "proxy": f"""
        {RETRY}'ProxyError('Cannot connect to proxy.', ConnectionRefusedError(111, 'Connection refused'))': /simple/
        ERROR: No matching distribution found for numpy
    """,
    "apt": """
        Reading package lists...
        E: Unable to locate package no-such-package
    """,
    "credentials": """
        Looking in indexes: https://me:****@pypi.corp/simple
        WARNING: 401 Error, Credentials not correct for https://pypi.corp/simple/numpy/
        ERROR: No matching distribution found for numpy
    """,
    "credentials, old pip": """
        Looking in indexes: https://me:****@pypi.corp/simple
        User for pypi.corp:
        EOFError: EOF when reading a line
    """,
    "full disk": """
        /tmp/x.c:1: fatal error: error writing to /tmp/x.s: No space left on device
        ERROR: Failed building wheel for horovod
    """,
    "engine alone": """
        Step 1/3 : FROM x
         ---> 0123
    """,
}
REASONS = {
    "version": "Could not find a version that satisfies the requirement numpy==99.1 (from versions: 1.3.0, 2.4.6)",
    "old pip": "No matching distribution found for numpy<99",
    "resolver": "Could not find a version that satisfies the requirement torch==2.13.0: "
    f"https://download.pytorch.org/whl/cpu cannot be reached: its name is not known to the resolver{STAND_IN}",
    "certificate": "No matching distribution found for numpy: https://pypi.org/simple/numpy/ cannot be reached: "
    f"its certificate is not trusted; set build.ca_bundle (or PIP_CERT){STAND_IN}",
    "proxy": "No matching distribution found for numpy: https://pypi.org/simple cannot be reached: "
    f"the proxy does not answer or does not let it through; see build.proxy{STAND_IN}",
    "apt": "E: Unable to locate package no-such-package",
    "credentials": "https://pypi.corp/simple/numpy/ refuses the credentials",
    "credentials, old pip": "https://me:****@pypi.corp/simple refuses the credentials",
    "full disk": "/tmp/x.c:1: fatal error: error writing to /tmp/x.s: No space left on device",
    "engine alone": ENGINE,
}


@pytest.mark.parametrize("name", SAID)
def test_the_reason_is_the_line_that_matters(name: str) -> None:
    assert telling_line(SAID[name].splitlines(), ENGINE) == REASONS[name]


def test_reasons_outside_the_build_are_known() -> None:
    """Reasons that say nothing of what was to be built are known."""
    assert {name for name, reason in REASONS.items() if is_of_surroundings(reason)} == {
        "resolver", "certificate", "proxy", "credentials", "credentials, old pip", "full disk",
    }  # fmt: skip


def test_a_long_version_list_loses_its_middle() -> None:
    """A list of versions that would fill pages is cut in its middle and keeps both ends."""
    versions = ", ".join(f"1.{minor}.0" for minor in range(400))
    said = f"ERROR: Could not find a version that satisfies the requirement numpy==9 (from versions: {versions})"

    reason = telling_line([said], ENGINE)

    assert len(reason) < 410
    assert reason.startswith("Could not find a version that satisfies the requirement numpy==9 (from versions: 1.0.0")
    assert reason.endswith("1.399.0)")
