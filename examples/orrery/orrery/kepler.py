"""Where on its orbit a body is: Kepler's equation, solved the way Newton would."""

from dataclasses import dataclass
from math import atan2, cos, degrees, hypot, radians, sin, sqrt

from orrery.bodies import Body


@dataclass(frozen=True)
class Place:
    """A place seen from the Sun, in astronomical units; x points to the spring equinox."""

    x: float
    y: float

    @property
    def distance(self) -> float:
        return hypot(self.x, self.y)

    @property
    def longitude(self) -> float:
        """Degrees from 0 to 360, counted the way that the planets go."""
        return degrees(atan2(self.y, self.x)) % 360

    def seen_from(self, other: "Place") -> "Place":
        """The same place with another one as the centre."""
        return Place(self.x - other.x, self.y - other.y)


def eccentric_anomaly(mean: float, eccentricity: float) -> float:
    """Solves mean = E - e sin E for E; angles in radians.

    Planets are round enough that a few steps of Newton's method suffice.
    """
    # FIXME: starts badly for comets, whose eccentricity is close to 1
    anomaly = mean
    for _ in range(8):
        error = anomaly - eccentricity * sin(anomaly) - mean
        anomaly -= error / (1 - eccentricity * cos(anomaly))
    return anomaly


def place(body: Body, centuries: float) -> Place:
    """Where the body is, that many centuries after J2000."""
    perihelion = body.perihelion + body.perihelion_drift * centuries
    longitude = body.longitude + body.longitude_drift * centuries
    mean = radians((longitude - perihelion) % 360)
    anomaly = eccentric_anomaly(mean, body.eccentricity)

    # On the ellipse first, its long axis along x ...
    along = body.axis * (cos(anomaly) - body.eccentricity)
    across = body.axis * sqrt(1 - body.eccentricity**2) * sin(anomaly)

    # ... then turned to where its perihelion points.
    turn = radians(perihelion)
    return Place(
        along * cos(turn) - across * sin(turn),
        along * sin(turn) + across * cos(turn),
    )
