"""The benchmark of anonymous networks finds what is left in a file, whatever role its tensors were given."""

from bench.networks.anonymised import left
from orchestrator.networks import anonymise
from orchestrator.networks.refusals import Choices
from tests import exported

NETWORK = exported.image_network()
NAMES = {"acme classifier", "stem.weight", "stem.bias", "active", "pooled", "features", "head.weight", "head.bias"}


def test_nothing_is_left_in_an_anonymous_network() -> None:
    made = anonymise.anonymised(anonymise.prepared(NETWORK), Choices(), 0)

    found, names, learned = left(NETWORK, made.model.SerializeToString())

    assert (found, learned) == ([], 2)
    assert names >= len(NAMES)


def test_all_of_it_is_found_in_the_original() -> None:
    found, names, learned = left(NETWORK, NETWORK.SerializeToString())

    assert len(found) == names + learned
    assert {"the numbers of stem.weight", "the numbers of head.weight", *NAMES} <= set(found)


def test_one_tensor_that_was_kept_is_found() -> None:
    made = anonymise.anonymised(anonymise.prepared(NETWORK), Choices(kept=frozenset({"head.weight"})), 0)

    assert left(NETWORK, made.model.SerializeToString())[0] == ["the numbers of head.weight"]
