"""The first minute's temperatures: the predicted final value, its uncertainty, and when there is none."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.parse.burnin.thermal import Refused, TemperatureSample, ThermalFit, fit

POWER = 700.0
INLET = 25.0


def warmed(
    seed: int = 1, span: float = 60, resistance: float = 0.06, tau: float = 20, slow: float = 0.0, rate: int = 10
) -> list[TemperatureSample]:
    """A GPU that jumps on its heatsink, which warms; `slow` degrees come with 150 s. Sensors return whole degrees."""
    rng = random.Random(seed)
    end, jump = INLET + resistance * POWER, 8.0
    samples = []
    for k in range(int(span * rate)):
        t = k / rate
        cold = (resistance * POWER - jump - 8 - slow) * math.exp(-t / tau)
        temp = end - jump * math.exp(-t / 0.5) - cold - slow * math.exp(-t / 150) + rng.gauss(0, 0.3)
        samples.append(TemperatureSample(t, round(temp), POWER * (1 + rng.gauss(0, 0.015))))
    return samples


def fitted(samples: Sequence[TemperatureSample], inlet: float | None = INLET) -> ThermalFit:
    found = fit(samples, inlet)
    assert isinstance(found, ThermalFit), found
    return found


def refused(samples: Sequence[TemperatureSample]) -> str:
    found = fit(samples, INLET)
    assert isinstance(found, Refused), found
    return found.why


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("tau", [10, 15, 20, 25, 30])
def test_a_minute_predicts_ten_within_two_degrees_and_its_stated_error(tau: float, seed: int) -> None:
    found = fitted(warmed(seed, tau=tau))
    end = INLET + 0.06 * POWER
    assert abs(found.ahead - end) < 2
    assert abs(found.ahead - end) <= found.give < 2
    assert found.tau == pytest.approx(tau, rel=0.15)
    assert found.resistance == pytest.approx(0.06, rel=0.02)
    assert found.power == pytest.approx(POWER, rel=0.01)


@pytest.mark.parametrize("seed", range(10))
def test_slow_warming_is_underestimated_by_no_more_than_the_bound(seed: int) -> None:
    found = fitted(warmed(seed, slow=4.0))
    end = INLET + 0.06 * POWER - 4 * math.exp(-600 / 150)
    assert -3 < found.ahead - end < 0.5


def test_a_worse_interface_has_a_larger_resistance_whatever_the_power() -> None:
    whole, worse = fitted(warmed()), fitted(warmed(resistance=0.072))
    assert whole.resistance is not None
    assert worse.resistance is not None
    assert worse.resistance / whole.resistance == pytest.approx(1.2, rel=0.03)


def test_half_a_minute_is_less_sure_than_a_minute() -> None:
    assert fitted(warmed(span=35)).give > fitted(warmed(span=60)).give


def test_without_an_inlet_there_is_a_prediction_but_no_resistance() -> None:
    assert fitted(warmed(), None).resistance is None
    assert fitted(warmed(), math.nan).resistance is None


def test_each_reason_for_refusing_a_fit_is_named() -> None:
    whole = warmed()
    assert refused([]) == "0 samples: at least 20 are needed"
    assert refused(whole[:200]) == "20 s of samples: at least 25 s are needed"
    assert refused(whole[:300] + whole[550:]).startswith("a gap of 25 s")
    assert refused([replace(s, power=None) for s in whole]) == "power is reported by 0 of 600 samples"
    assert refused([replace(s, power=500.0 if s.t > 30 else 700.0) for s in whole]).startswith("power is not steady")
    assert refused([replace(s, temp=60.0) for s in whole]).startswith("it warmed by 0.0 degrees")
    assert refused(warmed(tau=200)).startswith("its final temperature is not determined")
    assert refused(warmed(tau=100)).endswith("60% are needed")
    bent = [replace(s, temp=s.temp + 12 * math.sin(s.t / 4)) for s in whole]
    assert refused(bent).startswith("the fit is poor")


def test_the_order_of_the_samples_changes_nothing_and_nonsense_among_them_is_left_out() -> None:
    whole = warmed()
    turned = [*whole, TemperatureSample(math.nan, 50.0, 700.0), TemperatureSample(10.0, math.inf, 700.0)]
    random.Random(1).shuffle(turned)
    assert fit(turned, INLET) == fit(whole, INLET)


ANY = st.floats() | st.floats(-1e3, 1e3)


@given(st.lists(st.builds(TemperatureSample, ANY, ANY, st.none() | ANY), max_size=60), st.none() | ANY)
def test_whatever_the_samples_are_there_is_a_fit_of_numbers_or_a_reason(
    samples: list[TemperatureSample], inlet: float | None
) -> None:
    found = fit(samples, inlet)
    if isinstance(found, Refused):
        assert found.why
    else:
        assert all(math.isfinite(v) for v in (found.end, found.tau, found.ahead, found.give, found.power, found.rms))


@given(st.sampled_from([1e3, 1e9, 1e155, 1e308]), st.integers(0, 100))
def test_huge_numbers_give_a_reason_or_a_fit_of_numbers(size: float, seed: int) -> None:
    rng = random.Random(seed)
    samples = [TemperatureSample(n * 1.5 + rng.random(), rng.random() * size, 700.0) for n in range(40)]
    found = fit(samples, size)
    assert isinstance(found, Refused) or math.isfinite(found.ahead)


@given(st.integers(0, 50), st.floats(30, 120), st.floats(5, 60), st.floats(-1e9, 1e9))
def test_when_a_clock_began_does_not_matter(seed: int, span: float, tau: float, begun: float) -> None:
    whole = warmed(seed, span=span, tau=tau, rate=4)
    here, there = fit(whole, INLET), fit([replace(s, t=s.t + round(begun)) for s in whole], INLET)
    assert isinstance(here, ThermalFit) == isinstance(there, ThermalFit)
    if isinstance(here, ThermalFit) and isinstance(there, ThermalFit):
        assert there.ahead == pytest.approx(here.ahead, abs=0.05)
