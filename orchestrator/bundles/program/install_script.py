"""The script `install.sh`, which installs the orchestrator from a bundle."""

from orchestrator import __version__
from orchestrator.bundles.format.manifest import Base
from orchestrator.bundles.format.signature import NAMESPACE
from orchestrator.bundles.program.wheels import GLIBC_MINOR, TargetPlatform
from orchestrator.images import Built
from orchestrator.resources import IMAGES


def install_script(bundle: str, base: Base | None, target: TargetPlatform, image: Built) -> str:
    """Return the text of `install.sh` for a bundle that may build on a base.

    `target` may name several Pythons, separated by spaces. `image` is the orchestrator's own.
    """
    folder = IMAGES / "orchestrator"
    command = (folder / "orchestrator.sh").read_text(encoding="utf-8").replace("@IMAGE@", image.reference)
    values = {
        "BUNDLE": bundle,
        "VERSION": __version__,
        "IMAGE": image.reference,
        "IMAGE_ID": image.image_id,
        "PYTHONS": target.python,
        "MACHINE": target.machine,
        "BASE_NAME": base.name if base else "",
        "BASE_SHA256": base.manifest_sha256 if base else "",
        "NAMESPACE": NAMESPACE,
        "GLIBC_MINOR": str(GLIBC_MINOR),
        "COMMAND": command.rstrip("\n"),
    }
    text = (folder / "install.sh").read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text
