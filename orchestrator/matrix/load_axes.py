"""The axes of the load of an entry of a matrix."""

from dataclasses import dataclass

from orchestrator.modes.parts.load import REQUESTS, Load, Scenario


@dataclass(frozen=True, slots=True)
class LoadAxes:
    """The axes of the load of an entry, or those that a rule names. An empty one is at its default, or matches all."""

    scenarios: tuple[Scenario, ...] = ()
    concurrencies: tuple[int, ...] = ()
    """Of the scenario `closed` alone."""
    rates: tuple[float, ...] = ()
    """Of the scenario `server` alone."""
    latency_limits_s: tuple[float, ...] = ()
    first_token_limits_s: tuple[float, ...] = ()
    """Of requests for tokens alone, as the next one."""
    per_token_limits_s: tuple[float, ...] = ()
    requests: tuple[int, ...] = ()

    @property
    def loads(self) -> tuple[Load, ...]:
        """Return every load, each scenario with those of the other axes that it has."""
        return tuple(
            Load(scenario, requests, concurrency, rate, limit_s, first_s, per_token_s)
            for scenario in self.scenarios or (Scenario.SINGLE_STREAM,)
            for concurrency in (self.concurrencies if scenario is Scenario.CLOSED else (None,))
            for rate in (self.rates if scenario is Scenario.SERVER else (None,))
            for limit_s in self.latency_limits_s or (None,)
            for first_s in self.first_token_limits_s or (None,)
            for per_token_s in self.per_token_limits_s or (None,)
            for requests in self.requests or (REQUESTS,)
        )

    def hold(self, load: Load | None) -> bool:
        """Return true if a load, or none, has a value of every axis that is not empty."""
        if load is None:
            return self == LoadAxes()
        pairs: tuple[tuple[tuple[object, ...], object], ...] = (
            (self.scenarios, load.scenario), (self.concurrencies, load.concurrency), (self.rates, load.rate),
            (self.latency_limits_s, load.latency_limit_s), (self.first_token_limits_s, load.first_token_limit_s),
            (self.per_token_limits_s, load.per_token_limit_s), (self.requests, load.requests),
        )  # fmt: skip
        return all(not values or value in values for values, value in pairs)

    def over(self, other: "LoadAxes") -> "LoadAxes":
        """Return these axes, with those of `other` where these are empty."""
        return LoadAxes(
            self.scenarios or other.scenarios,
            self.concurrencies or other.concurrencies,
            self.rates or other.rates,
            self.latency_limits_s or other.latency_limits_s,
            self.first_token_limits_s or other.first_token_limits_s,
            self.per_token_limits_s or other.per_token_limits_s,
            self.requests or other.requests,
        )
