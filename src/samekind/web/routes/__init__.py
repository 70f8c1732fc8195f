"""HTTP routes, one file per resource."""

from samekind.web.routes import (
    events,
    exports,
    groups,
    items,
    jobs,
    map,
    more,
    new_items,
    orientations,
    places,
    polish,
    posterior,
    progress,
    questions,
    review,
    start,
    uploads,
)

ROUTERS = (jobs.router, start.router, uploads.router)
"""Routers of what is not about one ledger, in the order in which their paths are tried."""
LEDGER_ROUTERS = (
    polish.router,
    exports.router,
    questions.router,
    items.router,
    groups.router,
    places.router,
    map.router,
    more.router,
    new_items.router,
    events.router,
    progress.router,
    review.router,
    posterior.router,
    orientations.router,
)
"""Routers of what is about one ledger, likewise."""
