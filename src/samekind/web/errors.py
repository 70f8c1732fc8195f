"""Error responses: one body for every error, and one table from our errors to HTTP statuses."""

from __future__ import annotations

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from samekind import errors
from samekind.web.schemas.core import ErrorBody, ErrorResponse

log = logging.getLogger("samekind.web")


class ApiError(Exception):
    """A request that is refused, with its HTTP status and the words for the person."""

    def __init__(self, status: int, type: str, message: str, what_to_do: str | None = None) -> None:
        super().__init__(message)
        self.status, self.type, self.message = status, type, message
        self.what_to_do = what_to_do


OPEN_QUESTION = "Get the open question with GET /api/question."
RESPONSES: dict[type[errors.SamekindError], tuple[int, str | None, str | None]] = {
    errors.UnknownOrientation: (
        404,
        "unknown-orientation",
        "Start it under Groupings, or with POST /api/orientations.",
    ),
    errors.UnknownQuestion: (404, "unknown-question", OPEN_QUESTION),
    errors.UnknownAnswer: (404, "unknown-answer", "GET /api/answers lists the answers in force."),
    errors.UnknownGroup: (404, "unknown-group", "GET /api/groups lists the groups."),
    errors.UnknownJob: (404, "unknown-job", "GET /api/jobs lists the jobs."),
    errors.UnknownPile: (404, "unknown-pile", "Open it by its path; your answers are kept."),
    errors.UnknownUpload: (404, "unknown-upload", "Begin one with POST /api/uploads."),
    errors.OrientationExists: (409, "orientation-exists", "Switch to it, or choose another name."),
    errors.AlreadyAnswered: (
        409,
        "answered-already",
        "Change it with PUT /api/answers/{error.number}.",
    ),
    errors.AnsweredByOther: (409, "answered-by-other", None),
    errors.Reserved: (409, "reserved", None),
    errors.NotYourAnswer: (409, "not-your-answer", None),
    errors.SetsAside: (
        409,
        "sets-aside",
        "Send it again with set_aside. Undoing the change restores the answers.",
    ),
    errors.NameTaken: (409, "name-taken", "Merge the groups, or choose another name."),
    errors.JobRunning: (409, "busy", "Wait for it, or cancel it first."),
    errors.NotResumable: (409, "not-again", "Start it again."),
    errors.PileNotOpen: (409, "pile-not-open", "Open it first."),
    errors.GroupsChanged: (409, "groups-changed", "Look at the plan again."),
    errors.NoOrientationFile: (409, "no-orientation-file", None),
    errors.CannotPolish: (409, "cannot-be-polished", None),
    errors.NothingPolished: (409, "nothing-polished", "Polish first."),
    errors.PicturesChanged: (409, "collection-changed", "Polish again."),
    errors.TooManyListeners: (
        429,
        "too-many-pages",
        "Close some pages. The others keep working: they poll now and then instead.",
    ),
    # Programs know these by the name of their class.
    errors.NotFound: (404, None, None),
    errors.StateError: (409, None, None),
    errors.NoSpace: (507, None, None),
    errors.MissingExtra: (501, None, None),
    errors.StoreError: (500, None, None),
    errors.ExportError: (409, None, None),
    errors.ChangedCollection: (409, None, None),
    errors.Infeasible: (409, None, None),
    errors.AnswerError: (422, None, None),
    errors.NotAllowed: (403, "not-allowed", None),
    errors.SourceError: (404, None, None),
    errors.InputError: (422, None, None),
}
"""Status, type and advice for each class of error; the message is that of the error itself."""


def error_response(
    status: int,
    type: str,
    message: str,
    what_to_do: str | None = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    """Build a response with the body that all errors share."""
    body = ErrorResponse(error=ErrorBody(type=type, message=message, what_to_do=what_to_do))
    return JSONResponse(body.model_dump(exclude_none=True), status_code=status, headers=headers)


def internal_error() -> JSONResponse:
    """Respond to a bug of ours; the details are in the log, never in the response."""
    return error_response(
        500,
        "internal",
        "Something went wrong inside samekind. Your answers are safe.",
        "Try again. If it happens again, look at the terminal where samekind runs.",
    )


def install(app: FastAPI) -> None:
    """Give every error of the app the same body."""

    @app.exception_handler(ApiError)
    def on_api_error(request: Request, error: ApiError) -> JSONResponse:
        return error_response(error.status, error.type, error.message, error.what_to_do)

    @app.exception_handler(errors.SamekindError)
    def on_samekind_error(request: Request, error: errors.SamekindError) -> JSONResponse:
        classes = (kind for kind in type(error).__mro__ if kind in RESPONSES)
        status, name, advice = RESPONSES.get(next(classes, type(error)), (500, None, None))
        if status >= 500:
            log.error("%s %s: %s", request.method, request.url.path, error)
        what_to_do = advice.format(error=error) if advice else None
        return error_response(status, name or type(error).__name__, str(error), what_to_do)

    @app.exception_handler(RequestValidationError)
    def on_validation_error(request: Request, error: RequestValidationError) -> JSONResponse:
        parts = [
            f"{'.'.join(str(step) for step in entry['loc'])}: {entry['msg']}"
            for entry in error.errors()[:5]
        ]
        return error_response(
            422,
            "invalid-request",
            f"The request is not valid: {'; '.join(parts)}.",
            "Correct these fields. GET /api/openapi.json describes them.",
        )

    @app.exception_handler(HTTPException)
    def on_http_error(request: Request, error: HTTPException) -> JSONResponse:
        path, headers = request.url.path, dict(error.headers) if error.headers else None
        type = HTTPStatus(error.status_code).phrase.lower().replace(" ", "-")
        message, what_to_do = str(error.detail), None
        if error.status_code == 404:
            message = f"There is nothing at {path}."
            what_to_do = "Check the address. GET /api/openapi.json lists all of them."
        elif error.status_code == 405:
            message = f"{path} does not support {request.method}."
            what_to_do = "Check the method. GET /api/openapi.json lists those of each address."
        return error_response(error.status_code, type, message, what_to_do, headers)
