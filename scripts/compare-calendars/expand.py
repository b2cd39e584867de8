"""Expands calendars with python3-dateutil, libical or given starts, as the RFC composes a series from its parts.

Reads one JSON document a line from stdin, {"text", "to", "starts"}, and writes for each a line with its occurrences as
[start, end, title], or a text with the reason why there are none. Neither this file nor its libraries have anything
of Mantel's own code: icalendar reads the properties, and dateutil, libical or a day-by-day search (starts) gives the starts of a rule.
"""

import json
import re
import sys
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from icalendar import Calendar

UTC = timezone.utc


class Start:
    """A start on a clock: `wall` has no zone, and `zone` is None for a whole day."""

    def __init__(self, wall, zone):
        self.wall = wall
        self.zone = zone

    def key(self):
        if self.zone is None:
            return self.wall
        # fold=0: the first of two, and in a gap the offset from before it (RFC 5545, 3.3.5)
        return self.wall.replace(tzinfo=self.zone, fold=0).astimezone(UTC)

    def at(self, wall):
        return Start(wall, self.zone)


def start_of(prop):
    value = prop.dt
    return start_from(value, prop.params.get("TZID"))


def start_from(value, tzid):
    if not isinstance(value, datetime):
        return Start(datetime(value.year, value.month, value.day), None)
    zone = ZoneInfo(str(tzid)) if tzid else UTC
    return Start(value.replace(tzinfo=None), zone)


def dates_in(event, name):
    found = event.get(name, [])
    for each in found if isinstance(found, list) else [found]:
        for value in each.dts:
            yield start_from(value.dt, each.params.get("TZID"))


def end_for(event, start):
    """The end of an occurrence: DTEND gives an exact, DURATION a nominal length (RFC 5545, 3.8.5.3)."""
    first = start_of(event["DTSTART"])
    if "DTEND" in event:
        last = start_of(event["DTEND"])
        if start.zone is None:
            return start.wall + (last.wall - first.wall)
        return start.key() + (last.key() - first.key())
    length = event["DURATION"].dt
    moved = start.at(start.wall + timedelta(days=length.days))
    if start.zone is None:
        return moved.wall
    return moved.key() + timedelta(seconds=length.seconds)


def rule_text(text, zone):
    """The text of the rule, with UNTIL on the clock of the start. icalendar reads no day as 53TU."""
    rule = re.search(r"^RRULE:(.*?)\r?$", text, re.MULTILINE).group(1)
    parts = []
    for part in rule.split(";"):
        name, value = part.split("=", 1)
        if name == "UNTIL" and value.endswith("Z"):
            instant = datetime.strptime(value, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
            value = instant.astimezone(zone).strftime("%Y%m%dT%H%M%S")
        elif name == "UNTIL":
            value = value[:8] + "T000000"
        parts.append(f"{name}={value}")
    return ";".join(parts)


def by_dateutil(text, first, end):
    from dateutil.rrule import rrulestr

    for wall in rrulestr(text, dtstart=first):
        if wall > end:
            return
        yield wall


def by_libical(text, first, end):
    import gi

    gi.require_version("ICalGLib", "3.0")
    from gi.repository import ICalGLib

    rule = ICalGLib.Recurrence.new_from_string(text)
    start = ICalGLib.Time.new_from_string(first.strftime("%Y%m%dT%H%M%S"))
    found = ICalGLib.RecurIterator.new(rule, start)
    while True:
        each = found.next()
        if each is None or each.is_null_time():
            return
        wall = datetime(
            each.get_year(), each.get_month(), each.get_day(), each.get_hour(), each.get_minute()
        )
        if wall > end:
            return
        yield wall


ENGINES = {"dateutil": by_dateutil, "libical": by_libical}


def occurrences(text, rule_starts):
    events = list(Calendar.from_ical(text).walk("VEVENT"))
    master = next(each for each in events if "RECURRENCE-ID" not in each)
    first = start_of(master["DTSTART"])
    starts = [first, *dates_in(master, "RDATE")]
    starts += [first.at(wall) for wall in rule_starts(rule_text(text, first.zone), first.wall)]
    removed = {each.key() for each in dates_in(master, "EXDATE")}
    single = {}
    following = []
    for each in events:
        if "RECURRENCE-ID" not in each:
            continue
        origin = start_of(each["RECURRENCE-ID"])
        single[origin.key()] = each
        if each["RECURRENCE-ID"].params.get("RANGE") == "THISANDFUTURE":
            following.append((origin, each))
    following.sort(key=lambda pair: pair[0].key())
    done = set()
    for start in starts:
        key = start.key()
        if key in removed or key in done:
            continue
        done.add(key)
        event, shown = master, start
        if key in single:
            event = single[key]
            shown = start_of(event["DTSTART"])
        else:
            for origin, change in following:
                if origin.key() < key:
                    event = change
                    moved = start_of(change["DTSTART"]).wall - origin.wall
                    shown = start.at(start.wall + moved)
        if str(event.get("STATUS", "")) != "CANCELLED":
            yield shown, end_for(event, shown), str(event["SUMMARY"])


def text_of(value):
    if value.tzinfo is None:
        return value.strftime("%Y-%m-%d")
    return value.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def rule_starts_of(asked):
    """A function that gives the starts of a rule, on its clock."""
    if sys.argv[1] == "search":
        return lambda _text, _first: map(datetime.fromisoformat, asked["starts"])
    end = datetime.fromisoformat(asked["to"][:19]) + timedelta(days=60)
    return lambda text, first: ENGINES[sys.argv[1]](text, first, end)


def main():
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            found = [
                [text_of(start.key()), text_of(last), title]
                for start, last, title in occurrences(asked["text"], rule_starts_of(asked))
            ]
        except Exception as error:  # the comparison counts it
            found = f"{type(error).__name__}: {error}"
        print(json.dumps(found), flush=True)


main()
