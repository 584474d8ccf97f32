"""Numbers as sentences show them, and whether a number of the results rounds to what is shown."""

import math
import re

DECIMAL = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e-?\d+)?)"
PATTERNS = {
    "time": rf"(?:\d+ min \d+ s|\d+ h \d+ min|\d+ d \d+ h|{DECIMAL} (?:ns|µs|ms|s|d))(?![A-Za-z])",
    "percent": rf"(?:under 0\.1 %|nearly 100 %|-?{DECIMAL} %)",
    "times": rf"(?:{DECIMAL}x)",
    "speed": rf"(?:{DECIMAL}x)",  # three digits, or two decimals
    "count": rf"(?:{DECIMAL}(?: [kMGT])?)(?![A-Za-z0-9])",
    "bytes": rf"(?:{DECIMAL} (?:B|kB|MB|GB|TB|PB|EB))",
    "dollars": rf"(?:\${DECIMAL})",
    "joules": rf"(?:{DECIMAL} (?:mJ|J|kJ|MJ|GJ|TJ))",
    "whole": r"(?:\d+)",
    "three": rf"(?:-?{DECIMAL})",  # three significant digits, zeros at the end left out
    "four": rf"(?:-?{DECIMAL})",
    "fixed": rf"(?:-?{DECIMAL})",  # as many decimals as are shown
}
UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "d": 86400.0, "min": 60.0, "h": 3600.0,
         "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "": 1.0,
         "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15, "EB": 1e18,
         "mJ": 1e-3, "J": 1.0, "kJ": 1e3, "MJ": 1e6, "GJ": 1e9, "TJ": 1e12}


def number_of(text):
    """The number of "1,234.5"."""
    return float(text.replace(",", ""))


def half_of_digits(value, digits):
    """Half a unit of the last of so many significant digits."""
    return 0.5 * 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1) if value else 0.0


def half_of_decimals(text):
    mantissa, _, exponent = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or 0) - decimals)


def split_time(text):
    """Returns seconds, and half a unit of the last digit."""
    parts = re.findall(rf"({DECIMAL}) (ns|µs|ms|s|d|min|h)", text)
    value = sum(number_of(number) * UNITS[unit] for number, unit in parts)
    number, unit = parts[-1]
    if value == 0.0:
        return 0.0, 0.0
    half = half_of_digits(number_of(number), 3) if "e" in number else half_of_decimals(number)
    return value, half * UNITS[unit]


def interval_of(kind, text):
    """Returns the least and the largest number that are shown as this text."""
    if kind == "percent":
        if text == "under 0.1 %":
            return 0.0, 0.0005
        if text == "nearly 100 %":
            return 0.9995, 1.0
        number = text[:-2]
        value = number_of(number)
        half = half_of_decimals(number) if value != 0.0 else 0.0
        return (value - half) / 100, (value + half) / 100
    if kind == "time":
        value, half = split_time(text)
    elif kind in ("times", "speed", "dollars"):
        number = text.strip("$x")
        value = number_of(number)
        small = value < 0.995 if kind == "dollars" else value < 0.0995
        half = half_of_digits(value, 3) if small or "e" in number else half_of_decimals(number)
    elif kind in ("three", "four"):
        value = number_of(text)
        half = half_of_digits(value, 3 if kind == "three" else 4)
    elif kind in ("whole", "fixed"):
        value, half = number_of(text), 0.0 if kind == "whole" else half_of_decimals(text)
    else:
        number, _, unit = text.partition(" ")
        value, half = number_of(number) * UNITS[unit], half_of_decimals(number) * UNITS[unit]
    return value - half, value + half


def agrees(kind, text, truth):
    """Whether the number rounds to what is shown."""
    if truth is None or not math.isfinite(truth):
        return False
    low, high = interval_of(kind, text)
    slack = 1e-6 * (high - low) + 1e-9 * abs(truth)
    return low - slack <= truth <= high + slack


def at_most(kind, text, truth):
    """Whether the number is no more than what is shown, which is rounded."""
    return truth is not None and truth <= interval_of(kind, text)[1] * (1 + 1e-9)


def margin_agrees(mean_kind, mean_text, margin_text, margin, mean):
    """Whether the margin rounds to what is shown: in the unit of its mean or its own, with two digits or more."""
    if margin is None:
        return False
    if abs(margin) <= 1e-9 * abs(mean):
        return False  # of rounding
    if re.search("[^0-9.,e-]", margin_text):
        return agrees(mean_kind, margin_text, margin)
    unit = mean_text.split(" ")[1] if " " in mean_text else ""
    scaled = margin / UNITS[unit]
    value = number_of(margin_text)
    half = half_of_digits(value, 2) if value < 10 else 0.5
    return abs(scaled - value) <= half * (1 + 1e-6) + 1e-9 * abs(scaled)
