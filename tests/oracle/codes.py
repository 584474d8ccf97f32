"""What travels instead of a vector, as its receiver has it: rounded numbers, the largest ones, or signs.

Written without reading src/. The kinds that draw numbers are here only where nothing depends on what they draw: qsgd
with one number a bucket, whose level is always the highest, and power_sgd of full rank, which loses nothing.
"""

import numpy as np

def rounded(vector, kind):
    """The nearest numbers of a format; halves go to the even one (IEEE 754)."""
    if kind == "float64":
        return vector
    if kind == "bfloat16":  # 8 significant digits, and the exponents of float32, which are not met here
        part, exponent = np.frexp(vector)
        return np.ldexp(np.rint(part * 2 ** 8), exponent - 8)
    with np.errstate(over="ignore"):
        return vector.astype({"float32": np.float32, "float16": np.float16}[kind]).astype(float)


def rounded_up(number):
    """The next number in single precision that is not smaller, so that the largest number of a bucket fits."""
    near = np.float32(number)
    return float(near if near >= number else np.nextafter(near, np.float32(np.inf)))


def by_units(vector, bucket):
    """S. Gupta et al., Deep Learning with Limited Numerical Precision, 2015: multiples -127 ... 127 of a unit, to the
    nearest one; the unit of each bucket, in single precision, brings its largest number to 127."""
    result = np.zeros_like(vector)
    for first in range(0, len(vector), bucket):
        part = vector[first:first + bucket]
        unit = rounded_up(np.abs(part).max() / 127)
        if unit > 0:
            result[first:first + bucket] = unit * np.clip(np.rint(part / unit), -127, 127)
    return result


def encode(vector, code):
    """The numbers that a receiver has; what travels of a number is in single precision, unless its kind is a format."""
    kind = code["kind"]
    if kind in ("none", "power_sgd"):
        return vector
    if kind == "qsgd":
        return np.sign(vector) * [rounded_up(size) for size in np.abs(vector)]
    if kind == "int8":
        return by_units(vector, code.get("bucket", 1024))
    if kind == "sign":
        size = 1.0 if code.get("scale") == "majority" else float(np.float32(np.abs(vector).mean()))
        return size * np.where(vector < 0, -1.0, 1.0)
    if kind == "top_k":
        result = np.zeros_like(vector)
        largest = np.argsort(-np.abs(vector), kind="stable")[:code["k"]]
        result[largest] = vector[largest].astype(np.float32)
        return result
    return rounded(vector, kind)


class Sender:
    """Encodes one vector after the other, and adds to each what the codes so far have left out (error feedback):
    S. U. Stich, J.-B. Cordonnier, M. Jaggi, Sparsified SGD with Memory, 2018; S. P. Karimireddy et al., Error Feedback
    Fixes SignSGD, 2019."""

    def __init__(self, code):
        self.code, self.left = code, 0.0

    def __call__(self, vector):
        if self.code is None:
            return vector
        whole = vector + self.left
        sent = encode(whole, self.code)
        if self.code.get("error_feedback"):
            self.left = whole - sent
        return sent


def code_of(option):
    """An option's value: a kind alone, or a table with it."""
    return {"kind": option} if isinstance(option, str) else option
