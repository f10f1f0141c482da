import json
import logging
import sys

from crawler.foundation import context
from crawler.foundation.logs import JsonLines


def test_a_log_line_is_one_json_object_with_the_request_and_the_extras() -> None:
    record = logging.makeLogRecord({"name": "x", "levelname": "INFO", "msg": "a %s", "args": ("b\nc",), "seconds": 1.5})
    reset = context.request_id.set("req_1")
    line = JsonLines().format(record)
    context.request_id.reset(reset)
    assert "\n" not in line
    found = json.loads(line)
    assert (found["message"], found["level"], found["request_id"], found["seconds"]) == ("a b\nc", "info", "req_1", 1.5)
    assert found["time"].endswith("+00:00")


def test_an_exception_stays_in_its_line() -> None:
    try:
        raise ValueError("no")
    except ValueError:
        record = logging.makeLogRecord({"msg": "failed", "exc_info": sys.exc_info()})
    line = JsonLines().format(record)
    assert "\n" not in line
    assert "ValueError: no" in json.loads(line)["exception"]
