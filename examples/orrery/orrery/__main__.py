"""python3 -m orrery [YYYY-MM-DD]: the solar system on that day."""

import sys
from datetime import date

from orrery.almanac import meetings, table
from orrery.calendar import centuries
from orrery.chart import chart

LAUNCH = date(1977, 9, 5)
"""The day that Voyager 1 left, shown when no other is asked for."""


def main(arguments: list[str]) -> int:
    try:
        day = date.fromisoformat(arguments[0]) if arguments else LAUNCH
    except ValueError:
        print("Please give a day as YYYY-MM-DD.", file=sys.stderr)
        return 2
    when = centuries(day)
    print(chart(when))
    print()
    print(day.strftime("%d %B %Y"))
    print(table(when))
    for meeting in meetings(when):
        print(meeting)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
