"""What jobs need, in instances; forecasts; autoscalers."""
