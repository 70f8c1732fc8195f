"""The page and its JSON API, served on this machine only.

``samekind.web.server.serve`` runs it; ``samekind.web.app.create_app`` builds it for tests and for
other servers. Nothing else in the package imports this room, except ``samekind serve``.
"""
