"""What a step says of a value: a path into it, and what has to hold there."""

import re

MISSING = object()


class Failed(Exception):
    pass


def dig(value, path):
    """The value at a path such as a.b[0].c[id=x]; MISSING where there is none."""
    for key, index in re.findall(r"([A-Za-z_$][\w$]*)|\[([^\]]*)\]", path):
        if value is MISSING or value is None:
            return MISSING
        if key:
            value = value.get(key, MISSING) if isinstance(value, dict) else MISSING
        elif re.fullmatch(r"-?\d+", index):
            try:
                value = value[int(index)]
            except (IndexError, KeyError, TypeError):
                return MISSING
        else:
            name, _, wanted = index.partition("=")
            value = next((item for item in value if str(item.get(name)) == wanted), MISSING)
    return value


def contains(value, wanted):
    """wanted is a part of value: dicts by key, lists by some element for each, "~text" by substring, the rest by equality."""
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(
            k in value and contains(value[k], v) for k, v in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(value, list) and all(any(contains(item, w) for item in value) for w in wanted)
    if isinstance(wanted, str) and wanted.startswith("~"):
        return isinstance(value, str) and wanted[1:] in value
    return value == wanted


def holds(value, step):
    if "is" in step:
        return value is not MISSING and value == step["is"]
    if "has" in step:
        if isinstance(step["has"], str):
            return isinstance(value, str) and step["has"] in value
        return value is not MISSING and contains(value, step["has"])
    if "lacks" in step:
        return value is MISSING or not contains(value, step["lacks"])
    if "absent" in step:
        return (value is MISSING or value in (None, [], {}, "")) == step["absent"]
    if "size" in step:
        return value is not MISSING and value is not None and len(value) == step["size"]
    if "any_of" in step:
        return value in step["any_of"]
    raise Failed(f"no check in {step}")
