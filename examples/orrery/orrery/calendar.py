"""Days as astronomers count them."""

from datetime import date

J2000 = 2451545.0
"""Noon of 1 January 2000: the moment that all orbits here start from."""

CENTURY = 36525.0
"""Days in a Julian century."""


def julian_date(day: date) -> float:
    """The Julian date of a day's noon; astronomers' days begin when the Sun is highest."""
    return day.toordinal() + 1721425.0


def centuries(day: date) -> float:
    """Centuries since J2000, negative before it."""
    return (julian_date(day) - J2000) / CENTURY
