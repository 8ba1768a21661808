"""The transfer of images to an engine, each while the engine unpacks the one before."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

from orchestrator import processes
from orchestrator.bundles.format.streams import STOPPED, TransferStoppedError
from orchestrator.bundles.read import archives
from orchestrator.bundles.read.deliveries import Delivery, base_is_missing
from orchestrator.bundles.read.receiver import Receiver
from orchestrator.bundles.read.verify import OpenedBundle
from orchestrator.engine import transfer
from orchestrator.engine.transfer import TransferError
from orchestrator.errors import HostError, InputError
from orchestrator.processes import Stop


def send_all(bundle: OpenedBundle, deliveries: Sequence[Delivery], receiver: Receiver, begun: list[Delivery]) -> None:
    """Send images in order. Each one is added to `begun` before it is sent."""
    under_way: list[_Sending] = []
    try:
        for delivery in deliveries:
            before = under_way[-1] if under_way else None
            if before is not None:
                before.wait_until_sent(receiver.stop)
            receiver.say(f"loading {delivery.image.name}")
            begun.append(delivery)
            under_way.append(_Sending(bundle, delivery, receiver, before))
        if under_way:
            under_way[-1].wait_until_loaded(receiver.stop)
    except (InputError, HostError):
        # The engine finishes first, because the caller removes what it has.
        for sending in under_way:
            sending.join()
        raise


class _Sending:
    """One image that a thread sends."""

    def __init__(self, bundle: OpenedBundle, delivery: Delivery, receiver: Receiver, before: "_Sending | None") -> None:
        self._bundle = bundle
        self._delivery = delivery
        self._receiver = receiver
        self._before = before
        self._sent = threading.Event()
        self._ended = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait_until_sent(self, stop: Stop) -> None:
        """Wait until the image is sent except for its end. Raises the error of the thread."""
        self._wait(self._sent, stop)

    def wait_until_loaded(self, stop: Stop) -> None:
        """Wait until the engine has the image. Raises the error of the thread."""
        self._wait(self._ended, stop)

    def join(self) -> None:
        """Wait until the thread ends, with or without an error."""
        self._thread.join()

    def _wait(self, event: threading.Event, stop: Stop) -> None:
        while not event.wait(processes.TICK_S):
            if stop.is_set():
                raise TransferStoppedError(STOPPED)
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            image = self._delivery.image
            self._load(self._delivery)
            if not self._receiver.has(image):
                raise HostError(
                    f"the engine took {image.name} and does not know it by its id {self._receiver.identity(image)}"
                )
            if self._receiver.id_of(image.reference) is None:
                # Before the other tags, so that an interrupted load leaves no image without one.
                self._receiver.tag(image, image.reference)
        except Exception as error:
            self._error = error
        finally:
            self._sent.set()
            self._ended.set()

    def _load(self, delivery: Delivery) -> None:
        try:
            transfer.load(self._receiver.client, self._pieces(delivery))
        except TransferError as error:
            if self._receiver.by_manifest:
                # Such an engine keeps the name of an image that it could not unpack.
                self._receiver.remove(self._receiver.identity(delivery.image))
            whole = replace(delivery, layers=delivery.image.layers)
            if whole != delivery and whole.unavailable and self._receiver.by_manifest:
                raise base_is_missing(self._bundle, delivery.image) from error
            if whole != delivery and not whole.unavailable:
                # The engine may have lost layers since it was asked, so it gets all of them.
                self._load(whole)
                return
            raise HostError(f"the engine did not take {delivery.image.name}: {error}") from error

    def _pieces(self, delivery: Delivery) -> Iterator[bytes]:
        archive = archives.oci_archive if self._receiver.by_manifest else archives.docker_archive
        for piece in archive(self._bundle, delivery, self._receiver.progress, self._before_end):
            if self._receiver.stop.is_set():
                raise TransferStoppedError(STOPPED)
            yield piece

    def _before_end(self) -> None:
        """Wait for the image before, whose layers this one may need."""
        self._sent.set()
        if self._before is not None:
            self._before.wait_until_loaded(self._receiver.stop)
