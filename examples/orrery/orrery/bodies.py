"""The eight planets and their orbits.

Each orbit is given at J2000, with its drift per century (E. M. Standish's approximate
elements, good to about an arc minute for the inner planets between 1800 and 2050).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Body:
    """A planet: lengths in astronomical units, angles in degrees."""

    name: str
    symbol: str
    axis: float
    eccentricity: float
    longitude: float
    perihelion: float
    longitude_drift: float
    perihelion_drift: float


# TODO: the orbits lie flat here; give each its inclination and its ascending node
BODIES = (
    Body("Mercury", "☿", 0.387099, 0.205636, 252.250324, 77.457796, 149472.674112, 0.160477),
    Body("Venus", "♀", 0.723336, 0.006777, 181.979100, 131.602467, 58517.815387, 0.002683),
    Body("Earth", "♁", 1.000003, 0.016711, 100.464572, 102.937682, 35999.372450, 0.323274),
    Body("Mars", "♂", 1.523710, 0.093394, -4.553432, -23.943630, 19140.302685, 0.444411),
    Body("Jupiter", "♃", 5.202887, 0.048386, 34.396441, 14.728480, 3034.746128, 0.212527),
    Body("Saturn", "♄", 9.536676, 0.053862, 49.954244, 92.598878, 1222.493622, -0.418972),
    Body("Uranus", "♅", 19.189165, 0.047257, 313.238105, 170.954276, 428.482028, 0.408053),
    Body("Neptune", "♆", 30.069923, 0.008590, -55.120030, 44.964762, 218.459453, -0.322415),
)


def find(name: str) -> Body:
    """The body of that name, whatever its case."""
    for body in BODIES:
        if body.name.lower() == name.lower():
            return body
    raise LookupError("no planet is called " + name)
