"""The planner: mixes kinds of question by expected gain per second."""
