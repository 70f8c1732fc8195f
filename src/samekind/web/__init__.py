"""The page and its JSON twin, served on this machine only.

``samekind.web.server.serve`` runs it; ``samekind.web.app.create_app`` builds it for tests and for
other servers. Nothing in the package imports this room except the command line.
"""
