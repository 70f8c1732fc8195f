"""The neural clustering process as an estimator."""
