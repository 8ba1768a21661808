"""The reason that an engine gives for refusing an ONNX file, without the places in its own sources around it.

ONNX Runtime puts a code, the path of the file and the signature of a function in C++ before the reason. OpenVINO puts
lines before it that name only files of its sources. A reason has room for one line.
"""

import re

_MOST_CHARACTERS = 300
_REMOVED = (
    r"\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : ",
    r"^Load model from .*? failed:\s*",
    r"/\S+\.(?:h|cc|cpp):\d+ [^()]*\([^()]*\)(?: const)?(?: \[with [^\]]*\])? ",
    r"Exception from \S+:\d+:\s*",
    r"Check '.*?' failed at \S+:\d+:\s*",
    r"FrontEnd API failed with \w+:\s*",
    r"The operator schemas and or other functionality may change .*? backward compatibility\. ",
)
_OF_MEMORY = ("bad_alloc", "bad allocation", "allocate memory", "out of memory", "not enough memory")


def reason(error):
    """Return the type of an error and its reason in one line, of its whole message if that names nothing but places."""
    text = whole = " ".join(str(error).split())
    for pattern in _REMOVED:
        text = re.sub(pattern, "", text)
    text = (text or whole)[:_MOST_CHARACTERS].rstrip()
    return "%s: %s" % (type(error).__name__, text) if text else type(error).__name__


def is_of_memory(error):
    """Return whether memory ran out, which says nothing of the file."""
    return any(words in str(error).lower() for words in _OF_MEMORY)
