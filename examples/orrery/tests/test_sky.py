"""The sky as it was."""

# ruff: noqa: PT009

import unittest
from datetime import date
from math import pi, sin

from orrery.almanac import gap, meetings
from orrery.bodies import BODIES, find
from orrery.calendar import J2000, centuries, julian_date
from orrery.chart import chart
from orrery.kepler import eccentric_anomaly, place


class Sky(unittest.TestCase):
    def test_days_are_counted_as_astronomers_do(self):
        self.assertEqual(julian_date(date(2000, 1, 1)), J2000)
        self.assertEqual(julian_date(date(1858, 11, 17)), 2400001.0)

    def test_keplers_equation_is_solved(self):
        for mean in (0.0, 0.5, pi / 2, 3.0):
            anomaly = eccentric_anomaly(mean, 0.2)
            self.assertAlmostEqual(anomaly - 0.2 * sin(anomaly), mean)

    def test_earth_is_nearest_to_the_sun_in_january(self):
        january = place(find("earth"), centuries(date(2020, 1, 5))).distance
        july = place(find("earth"), centuries(date(2020, 7, 4))).distance
        self.assertAlmostEqual(january, 0.983, places=2)
        self.assertAlmostEqual(july, 1.017, places=2)

    def test_the_great_conjunction(self):
        day = centuries(date(2020, 12, 21))
        self.assertLess(gap("Jupiter", "Saturn", day), 0.2)
        self.assertIn("Jupiter meets Saturn", meetings(day))

    def test_the_chart_shows_every_planet(self):
        drawn = chart(0.0)
        for body in BODIES:
            self.assertIn(body.symbol, drawn)


if __name__ == "__main__":
    unittest.main()
