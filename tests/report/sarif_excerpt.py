"""The part of the SARIF 2.1.0 schema that gpusafe's logs use, written from the standard: nothing else is allowed in."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def obj(required: str, optional: str = "", **kinds: Any) -> Schema:
    """An object with exactly these properties; ``kinds`` gives their schemas (default: a string)."""
    names = [*required.split(), *optional.split()]
    return {
        "type": "object",
        "required": required.split(),
        "properties": {name: kinds.get(name, STRING) for name in names},
        "additionalProperties": False,
    }


def array(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, **more}


STRING: Schema = {"type": "string", "minLength": 1}
BAG: Schema = {"type": "object"}
LEVEL: Schema = {"enum": ["none", "note", "warning", "error"]}
LINE: Schema = {"type": "integer", "minimum": 1}
TEXT = obj("text", "markdown")
URI: Schema = {"type": "string", "pattern": r"^[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+$"}
ARTIFACT = obj("uri", "uriBaseId", uri=URI)
REGION = obj(
    "startLine",
    "startColumn endLine endColumn snippet",
    **dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), LINE),
    snippet=obj("text"),
)
PHYSICAL = obj("artifactLocation", "region", artifactLocation=ARTIFACT, region=REGION)
LOCATION = obj(
    "physicalLocation", "id message", physicalLocation=PHYSICAL, id={"type": "integer", "minimum": 0}, message=TEXT
)
STEP = obj(
    "location",
    "importance nestingLevel executionOrder",
    location=LOCATION,
    importance={"enum": ["important", "essential", "unimportant"]},
    nestingLevel={"type": "integer", "minimum": 0},
    executionOrder={"type": "integer", "minimum": 0},
)
FIX = obj(
    "artifactChanges",
    "description",
    description=TEXT,
    artifactChanges=array(
        obj(
            "artifactLocation replacements",
            artifactLocation=ARTIFACT,
            replacements=array(
                obj(
                    "deletedRegion",
                    "insertedContent",
                    deletedRegion=REGION,
                    insertedContent=obj("", "text", text={"type": "string"}),
                ),
                minItems=1,
            ),
        ),
        minItems=1,
    ),
)
CODE_FLOW = obj(
    "threadFlows",
    "message",
    message=TEXT,
    threadFlows=array(obj("locations", locations=array(STEP, minItems=1)), minItems=1),
)
SUPPRESSION = obj(
    "kind",
    "status justification location",
    kind={"enum": ["inSource", "external"]},
    status={"enum": ["accepted", "underReview", "rejected"]},
    location=LOCATION,
)
RESULT = obj(
    "message",
    "ruleId ruleIndex kind level locations relatedLocations codeFlows partialFingerprints suppressions fixes "
    "baselineState properties",
    message=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    kind={"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
    level=LEVEL,
    locations=array(LOCATION),
    relatedLocations=array(LOCATION, uniqueItems=True),
    codeFlows=array(CODE_FLOW),
    partialFingerprints={"type": "object", "additionalProperties": STRING},
    suppressions=array(SUPPRESSION, minItems=1, uniqueItems=True),
    fixes=array(FIX, uniqueItems=True),
    baselineState={"enum": ["new", "unchanged", "updated", "absent"]},
    properties=BAG,
)
DESCRIPTOR = obj(
    "id",
    "name shortDescription fullDescription help defaultConfiguration properties",
    shortDescription=TEXT,
    fullDescription=TEXT,
    help=TEXT,
    defaultConfiguration=obj("", "enabled level", enabled={"type": "boolean"}, level=LEVEL),
    properties=BAG,
)
DRIVER = obj(
    "name",
    "version semanticVersion rules notifications",
    rules=array(DESCRIPTOR, uniqueItems=True),
    notifications=array(DESCRIPTOR, uniqueItems=True),
)
NOTIFICATION = obj(
    "message", "descriptor level locations", message=TEXT, descriptor=obj("id"), level=LEVEL, locations=array(LOCATION)
)
RUN = obj(
    "tool",
    "automationDetails columnKind originalUriBaseIds invocations results properties",
    tool=obj("driver", driver=DRIVER),
    automationDetails=obj("id"),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    originalUriBaseIds={"type": "object", "additionalProperties": obj("", "uri description", description=TEXT)},
    invocations=array(
        obj(
            "executionSuccessful",
            "toolExecutionNotifications",
            executionSuccessful={"type": "boolean"},
            toolExecutionNotifications=array(NOTIFICATION),
        )
    ),
    results=array(RESULT),
    properties=BAG,
)
LOG = obj("version runs", "$schema", version={"enum": ["2.1.0"]}, runs=array(RUN))
