"""One error shape for every refusal, from a mistyped address to a fault of our own."""

from __future__ import annotations

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from samekind import errors
from samekind.web.schemas.core import Failure, Trouble

log = logging.getLogger("samekind.web")


class ApiError(Exception):
    """A request that is refused, with its HTTP status and the words for the person."""

    def __init__(self, status: int, type: str, message: str, what_to_do: str | None = None) -> None:
        super().__init__(message)
        self.status, self.type, self.message = status, type, message
        self.what_to_do = what_to_do


REPLIES: dict[type[errors.SamekindError], tuple[int, str, str | None]] = {
    errors.UnknownOrientation: (
        404,
        "unknown-orientation",
        "Begin it with POST /api/orientations.",
    ),
    errors.UnknownQuestion: (
        404,
        "unknown-question",
        "Get the open question with GET /api/question.",
    ),
    errors.UnknownAnswer: (404, "unknown-answer", "GET /api/answers lists the answers in force."),
    errors.UnknownGroup: (404, "unknown-group", "GET /api/groups lists the groups."),
    errors.UnknownJob: (404, "unknown-job", "GET /api/jobs lists them."),
    errors.UnknownPile: (404, "unknown-pile", "Open it by its path; your answers are kept."),
    errors.OrientationExists: (409, "orientation-exists", "Switch to it, or choose another name."),
    errors.AlreadyAnswered: (
        409,
        "answered-already",
        "Change it with PUT /api/answers/{error.number}.",
    ),
    errors.JobRunning: (409, "busy", "Wait for it, or cancel it first."),
    errors.NotResumable: (409, "not-again", "Begin it anew."),
    errors.PileNotOpen: (409, "pile-not-open", "Open it first."),
    errors.GroupsChanged: (409, "groups-changed", "Look at the plan again."),
    errors.NoOrientationFile: (409, "no-orientation-file", None),
    errors.CannotPolish: (409, "cannot-be-polished", None),
    errors.NothingPolished: (409, "nothing-polished", "Polish first."),
    errors.PicturesChanged: (409, "collection-changed", "Polish again."),
    errors.TooManyListeners: (
        429,
        "too-many-pages",
        "Close some of them; the page works without, and asks now and then instead.",
    ),
}
"""Status, type and advice for errors of a workspace; the message is that of the error."""
STATUS: tuple[tuple[type[errors.SamekindError], int], ...] = (
    (errors.NoSpace, 507),
    (errors.MissingExtra, 501),
    (errors.StoreError, 500),
    (errors.ExportError, 409),
    (errors.ChangedCollection, 409),
    (errors.Infeasible, 409),
    (errors.AnswerError, 422),
    (errors.SourceError, 404),
    (errors.InputError, 422),
)
WHAT_TO_DO = {
    404: "Check the address. GET /api/openapi.json lists all of them.",
    405: "Check the method. GET /api/openapi.json lists what each address takes.",
}


def reply(
    status: int,
    type: str,
    message: str,
    what_to_do: str | None = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    """The error shape as a response."""
    shape = Failure(error=Trouble(type=type, message=message, what_to_do=what_to_do))
    return JSONResponse(shape.model_dump(exclude_none=True), status_code=status, headers=headers)


def our_fault() -> JSONResponse:
    """The reply to a fault of our own; the details are in the log, never in the reply."""
    return reply(
        500,
        "internal",
        "Something went wrong inside samekind. Your answers are safe.",
        "Try again. If it happens again, look at the terminal where samekind runs.",
    )


def install(app: FastAPI) -> None:
    """Make every error of the app leave in the one shape."""

    @app.exception_handler(ApiError)
    def refused(request: Request, fault: ApiError) -> JSONResponse:
        return reply(fault.status, fault.type, fault.message, fault.what_to_do)

    @app.exception_handler(errors.SamekindError)
    def on_purpose(request: Request, fault: errors.SamekindError) -> JSONResponse:
        if (known := REPLIES.get(type(fault))) is not None:
            status, name, advice = known
            return reply(status, name, str(fault), advice and advice.format(error=fault))
        status = next((code for kind, code in STATUS if isinstance(fault, kind)), 500)
        if status >= 500:
            log.error("%s %s: %s", request.method, request.url.path, fault)
        return reply(status, type(fault).__name__, str(fault))

    @app.exception_handler(RequestValidationError)
    def unfit(request: Request, fault: RequestValidationError) -> JSONResponse:
        parts = [
            f"{'.'.join(str(step) for step in entry['loc'])}: {entry['msg']}"
            for entry in fault.errors()[:5]
        ]
        return reply(
            422,
            "invalid-request",
            f"The request does not fit: {'; '.join(parts)}.",
            "Correct these fields. GET /api/openapi.json describes them.",
        )

    @app.exception_handler(HTTPException)
    def from_framework(request: Request, fault: HTTPException) -> JSONResponse:
        phrase = HTTPStatus(fault.status_code).phrase
        what = f"{request.method} {request.url.path}"
        messages = {
            404: f"There is nothing at {request.url.path}.",
            405: f"{what} is not possible.",
        }
        return reply(
            fault.status_code,
            phrase.lower().replace(" ", "-"),
            messages.get(fault.status_code, str(fault.detail)),
            WHAT_TO_DO.get(fault.status_code),
            dict(fault.headers) if fault.headers else None,
        )
