"""The interval of a share of independent draws."""


def clopper_pearson(hits: int, draws: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a share, `hits` of `draws`, from the binomial distribution.

    It holds the truth with at least the stated confidence, whatever the share and the number of draws. Without draws it
    is 0 to 1. Raises `ValueError` if the hits are not between 0 and the draws.
    Source: Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
    Biometrika 26 (1934).
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - half a second, as in estimates.quantile

    if not 0 <= hits <= draws:
        raise ValueError(f"hits are from 0 to the number of draws, {draws}, not {hits}")
    tail = (1 - confidence) / 2
    low = float(betaincinv(hits, draws - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, draws - hits, 1 - tail)) if hits < draws else 1.0
    return low, high
