"""The planner: mix kinds of question by expected gain per second."""
