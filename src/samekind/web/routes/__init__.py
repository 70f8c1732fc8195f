"""HTTP routes, one file per resource."""

from samekind.web.routes import (
    events,
    exports,
    groups,
    items,
    jobs,
    map,
    orientations,
    polish,
    progress,
    questions,
    start,
)

ROUTERS = (
    jobs.router,
    start.router,
    polish.router,
    exports.router,
    questions.router,
    groups.router,
    items.router,
    map.router,
    events.router,
    progress.router,
    orientations.router,
)
"""All routers, in the order in which their paths are tried."""
