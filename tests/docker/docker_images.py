"""Images of a few lines, built straight on the engine."""

import io

import docker


def built(client: docker.DockerClient, dockerfile: str, label: str) -> str:
    """Build a Dockerfile without a context, under a label, and return the image's id."""
    image, _ = client.images.build(fileobj=io.BytesIO(dockerfile.encode()), labels={label: "1"}, rm=True)
    return str(image.id)
