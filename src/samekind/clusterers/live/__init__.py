"""The live learner and the parts it is composed of."""
