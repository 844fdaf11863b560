"""Helm: the templates of charts, rendered as far as the chart's own values go."""
