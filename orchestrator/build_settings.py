"""The settings of a site for making environments, which never change what is measured."""

from dataclasses import dataclass, field


def is_base_image(template: str) -> bool:
    """Return true if `python` is the only word in braces of a template."""
    return not set("{}") & set(template.replace("{python}", ""))


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """The settings of this site for making environments. They never change what is measured."""

    base_image: str | None = None
    """Template for which `is_base_image` holds; None takes the catalog's image for each Python."""
    base_images: tuple[tuple[str, str], ...] = ()
    """Pythons with templates of their own, such as `3.6`."""
    cuda_images: tuple[tuple[str, str], ...] = ()
    """Releases of CUDA, such as `10.1`, with the images that their libraries are copied from."""
    pip_index: str | None = None
    extra_indexes: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    no_index: bool = False
    """Take packages from find-links alone, as behind an air gap."""
    ca_bundle: str | None = None
    proxies: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Environment-style names (`http_proxy`, `https_proxy`, `no_proxy`) and values; may hold credentials."""
    apt_mirror: str | None = None
    registry: str | None = None
    """Prefix for base images and for the images we build: `registry.corp/mirror`."""
