"""Demand in instances, forecasts, and autoscalers."""
